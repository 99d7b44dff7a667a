/// How FlashAttention-2's backward fills a GPU if it has to repeat to the last bit. Pure integers, shared by
/// the engine that computes so and the planner that counts its memory.
///
/// Its thread blocks then take turns by blocks of keys: each (segment, head) gets
/// ceil(multiprocessors ÷ (segments · heads)) of them, and each of those adds to a float32 copy of dq of its
/// own. Two things follow. 32 heads on 132 multiprocessors make 160 thread blocks, which take two rounds and
/// leave half of the second one idle: 12 + 12 + 4 + 4 heads, a launch each, fill every round. And a long
/// document packed with many short ones gets one thread block a head: it is faster in a launch of its own.
///
/// Source: Dao 2023, "FlashAttention-2", and the launch rules of its deterministic backward.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/plan/flash_calls.h"

namespace ringmaster {

struct FlashBlocks {
    int64_t copies = 1;           ///< of dq
    int64_t queries_at_once = 0;  ///< tokens: blocks of queries keep the copies small
};

/// An upper bound for any GPU. `heads` of all rows of a batch together.
FlashBlocks flash_blocks(int64_t heads, int64_t head_dim);

/// The heads of a backward.
struct FlashHeads {
    int64_t rows = 1, key_heads = 1, group = 1;  ///< group: query heads to a key/value head
    int64_t head_dim = 0;
};

/// One launch: some neighbouring segments of a call, for some key/value heads.
struct FlashShare {
    int64_t first_segment = 0, segments = 0;
    int64_t first_head = 0, heads = 0;

    bool operator==(const FlashShare&) const = default;
};

/// Key/value heads of a backward that need not repeat, in one launch. It holds gradients of every query head
/// in float32, 8 bytes a number; the heads of 524,288 tokens fill any GPU, and more only take more memory.
/// `tokens` are of all rows of a batch together, `group` query heads share a key/value head.
int64_t key_heads_at_once(int64_t tokens, int64_t key_heads, int64_t group);

/// All segments of a call, `at_once` key/value heads a launch.
std::vector<FlashShare> shares_of_heads(int64_t segments, int64_t key_heads, int64_t at_once);

/// The launches that compute a call's backward in the least time, by an estimate of their rounds, of the
/// traffic of dq's copies and of a launch itself: all segments and heads once each. None needs more copies
/// of dq than flash_blocks() says.
std::vector<FlashShare> flash_shares(const FlashCall& call, const FlashHeads& heads, int64_t multiprocessors);

}  // namespace ringmaster
