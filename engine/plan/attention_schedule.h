/// What each rank of a ring computes and exchanges, from integers alone: all ranks derive the same.
///
/// Two transports. Round the ring: at stage h rank r sends rank r + h those of its keys that rank reads, and
/// computes with what came from rank r − h; a pair that shares no visible cell exchanges nothing. Gathered:
/// all the keys that a rank reads in one stage, a few heads at a time. Source: Liu et al. 2023, "Ring
/// Attention with Blockwise Transformers", section 3; Llama 3 (arXiv 2407.21783), section 3.3.2.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/plan/attention_mask.h"
#include "engine/plan/slices.h"

namespace ringmaster {

/// Local keys [begin, end) of one rank.
struct KeyRange {
    int64_t begin = 0;
    int64_t end = 0;

    int64_t size() const { return end - begin; }
    bool operator==(const KeyRange&) const = default;
};
using KeyRanges = std::vector<KeyRange>;  ///< ascending, apart

int64_t count_keys(const KeyRanges& ranges);

/// Own keys go to one rank while another's come.
struct KeyExchange {
    int to = 0;
    KeyRanges sent;  ///< of the own keys
    int from = 0;
    int64_t received = 0;
    int64_t at = 0;  ///< where they lie among the stage's keys
};

struct Stage {
    bool is_own = false;  ///< its keys are the rank's own, as they lie
    int64_t keys = 0;     ///< of the stage
    KeyRanges own;        ///< own keys among them, where it is not
    int64_t own_at = 0;   ///< where those lie
    std::vector<KeyExchange> exchanges;
    std::vector<Slice> slices;  ///< of this rank's queries against the stage's keys
};

struct AttentionSchedule {
    std::vector<Stage> stages;
    int64_t heads_at_once = 0;  ///< key/value heads that go through the stages together; 0: all

    /// Keys of other ranks that come, and own keys that go, counted once for every rank that they go to.
    int64_t received_keys() const;
    int64_t sent_keys() const;
};

/// `spans` are the positions of each ring rank, sorted. One stage for each distance, on every rank: their
/// messages are posted in the same order everywhere.
AttentionSchedule make_ring_schedule(const std::vector<Spans>& spans, int rank,
                                     const AttentionMask& mask = {});

/// Ranks hold ascending positions, one behind the other; `heads_k_stride` heads at once.
AttentionSchedule make_gather_schedule(const std::vector<Spans>& spans, int rank, const AttentionMask& mask,
                                       int64_t heads_k_stride);

}  // namespace ringmaster
