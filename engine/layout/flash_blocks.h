/// Plans the launches and the memory of a GPU's attention, in integers. Shared by the engine, which runs the
/// launches, and the planner, which counts their memory.
///
/// In the deterministic mode, the thread blocks divide the blocks of keys in turns: each
/// (segment, head) gets ceil(multiprocessors ÷ (segments · heads)) thread blocks, each of which adds to its
/// own float32 copy of dq. This has two consequences. First, 32 heads on 132 multiprocessors make 160 thread
/// blocks, which take two rounds and leave most of the second idle; launches of 12, 12, 4 and 4 heads fill
/// every round. Second, a long document packed with many short ones gets one thread block per head, so its
/// own launch is faster.
///
/// Source: Dao 2023, "FlashAttention-2", and the launch rules of its deterministic backward pass.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/layout/flash_calls.h"

namespace ringmaster {

struct FlashBlocks {
    int64_t copies = 1;           ///< float32 copies of dq
    int64_t queries_at_once = 0;  ///< tokens; dividing queries into blocks keeps the copies small
};

/// Returns the copies that the largest GPU needs, an upper bound for any GPU. `heads` counts the heads of all
/// rows of a batch together.
FlashBlocks flash_blocks(int64_t heads, int64_t head_dim);

/// The heads of a backward pass.
struct FlashHeads {
    int64_t rows = 1, key_heads = 1, group = 1;  ///< group: query heads per key/value head
    int64_t head_dim = 0;
};

/// One launch computes some neighbouring segments of a call for some key/value heads.
struct FlashShare {
    int64_t first_segment = 0, segments = 0;
    int64_t first_head = 0, heads = 0;

    bool operator==(const FlashShare&) const = default;
};

/// Returns the key/value heads per launch of a backward pass that may be nondeterministic. A launch holds
/// float32 gradients of its query heads, 8 bytes per number. 524,288 tokens × query heads are enough to fill
/// any GPU; more would only take memory. `tokens` counts all rows of a batch together; `group` query heads
/// share a key/value head.
int64_t key_heads_at_once(int64_t tokens, int64_t key_heads, int64_t group);

/// Returns the query heads per launch: whole groups, or a part of a group if one group alone is already more
/// than enough.
int64_t query_heads_at_once(int64_t tokens, int64_t query_heads, int64_t group);

/// Returns launches that cover all segments of a call, with `at_once` key/value heads per launch.
std::vector<FlashShare> shares_of_heads(int64_t segments, int64_t key_heads, int64_t at_once);

/// Returns the launches that compute a call's backward in the least estimated time (rounds, traffic of dq's
/// copies, launch overhead). Together they cover every segment and head once; none needs more copies of dq
/// than flash_blocks() returns.
std::vector<FlashShare> flash_shares(const FlashCall& call, const FlashHeads& heads, int64_t multiprocessors);

}  // namespace ringmaster
