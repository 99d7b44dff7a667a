/// Plans what each rank of a ring computes and exchanges. All ranks derive the same plan from integers alone.
///
/// There are two transports. In a ring, at stage h, rank r sends rank r + h the keys that rank r + h reads,
/// and computes with the keys received from rank r − h; pairs without a visible cell exchange nothing. In a
/// gather, one stage brings all keys that a rank reads, a few heads at a time. Sources: Liu et al. 2023,
/// "Ring Attention with Blockwise Transformers", section 3; Llama 3 (arXiv 2407.21783), section 3.3.2.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/layout/attention_mask.h"
#include "engine/layout/slices.h"

namespace ringmaster {

/// Local keys [begin, end) of one rank.
struct KeyRange {
    int64_t begin = 0;
    int64_t end = 0;

    int64_t size() const { return end - begin; }
    bool operator==(const KeyRange&) const = default;
};
using KeyRanges = std::vector<KeyRange>;  ///< ascending, not adjacent

int64_t count_keys(const KeyRanges& ranges);  ///< returns the number of keys in all ranges

/// A message that sends this rank's keys to one rank and receives those of another.
struct KeyExchange {
    int to = 0;
    KeyRanges sent;  ///< ranges of this rank's keys
    int from = 0;
    int64_t received = 0;
    int64_t at = 0;                 ///< index of the received keys among the stage's keys
    bool sent_to_one_call = false;  ///< the value of `one_call` on rank `to` for the sent keys
};

struct Stage {
    bool is_own = false;  ///< true: the stage reads this rank's keys in place
    int64_t keys = 0;     ///< number of keys in the stage
    KeyRanges own;        ///< this rank's keys among the stage's keys, if is_own is false
    int64_t own_at = 0;   ///< index of `own` among the stage's keys
    std::vector<KeyExchange> exchanges;
    std::vector<Slice> slices;  ///< slices of this rank's queries and the stage's keys
    /// True if one call of a flash kernel computes all gradients of the keys, so that nothing needs to be
    /// summed. Both ranks of an exchange derive the same value.
    bool one_call = false;
};

struct AttentionSchedule {
    std::vector<Stage> stages;
    int64_t heads_at_once = 0;  ///< key/value heads that pass through the stages together; 0: all
};

/// Returns a schedule with one stage per distance h in the ring. Every rank has these stages, so that all
/// ranks post their messages in the same order. `spans` are the sorted positions of each ring rank.
AttentionSchedule make_ring_schedule(const std::vector<Spans>& spans, int rank,
                                     const AttentionMask& mask = {});

/// Returns a ring schedule for queries that lie at other positions than the keys.
AttentionSchedule make_ring_schedule(const std::vector<Spans>& queries, const std::vector<Spans>& keys,
                                     int rank, const AttentionMask& mask);

/// Returns one schedule for each chunk of keys 0, 1, …, `chunk`: how this rank's queries in `chunk` read that
/// chunk of all ranks' keys. Each schedule is that of a ring, and a rank runs them one after the other.
/// `spans` are the sorted positions of each ring rank, chunk by chunk.
std::vector<AttentionSchedule> make_chunk_schedules(const std::vector<std::vector<Spans>>& spans, int rank,
                                                    const AttentionMask& mask, size_t chunk);

/// Returns whether a schedule computes and exchanges nothing.
bool is_idle(const AttentionSchedule& schedule);

/// Returns a schedule that gathers `heads_k_stride` heads at a time. Ranks hold ascending positions in order.
AttentionSchedule make_gather_schedule(const std::vector<Spans>& spans, int rank, const AttentionMask& mask,
                                       int64_t heads_k_stride);

}  // namespace ringmaster
