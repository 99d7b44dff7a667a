/// How FlashAttention-2's backward goes over long queries on a GPU: in an order that repeats to the last bit
/// it keeps one float32 copy of dq for each group of blocks of keys that is at work at once, and fills the
/// multiprocessors with such groups. Blocks of queries keep those copies small. Said once, for the engine
/// that computes so and the planner that counts its memory.
///
/// Source: Dao 2023, "FlashAttention-2", its deterministic backward.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ringmaster {

struct FlashBlocks {
    int64_t copies = 1;           ///< of dq
    int64_t queries_at_once = 0;  ///< tokens
};

/// `heads` of all rows of a batch together.
inline FlashBlocks flash_blocks(int64_t heads, int64_t head_dim) {
    constexpr int64_t kMostBytes = int64_t{2} << 30, kBlock = 128;
    constexpr int64_t kMultiprocessors = 160;  // no GPU so far has more
    FlashBlocks blocks;
    blocks.copies = (kMultiprocessors + heads - 1) / heads;
    const int64_t bytes_per_query = blocks.copies * heads * head_dim * 4;
    blocks.queries_at_once = std::max(kBlock, kMostBytes / bytes_per_query / kBlock * kBlock);
    return blocks;
}

}  // namespace ringmaster
