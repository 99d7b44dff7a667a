/// States the rules of FlashAttention-2's launches in LibTorch, in integers: which rows a launch writes,
/// which keys a query sees, which arguments CUDA refuses. A row that no launch writes keeps whatever its
/// memory held before.
///
/// Block sizes differ between devices. These rules assume the smallest block size of any device, with which a
/// launch writes the fewest rows. Sources: mha_varlen_fwd and mha_varlen_bwd of PyTorch's flash_api.cpp, and
/// flash_fwd_launch_template.h, flash_bwd_launch_template.h, block_info.h and mask.h of
/// Dao-AILab/flash-attention, version 2.7.4.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace ringmaster::flash2 {

inline void require(bool holds, const std::string& what) {
    if (!holds) throw std::runtime_error("FlashAttention-2: " + what);
}

inline int64_t rounded_up(int64_t count, int64_t block) {
    return (count + block - 1) / block * block;
}

/// Holds the arguments of one launch, forward or backward.
struct Launch {
    std::vector<int32_t> query_ends, key_ends;  ///< cu_seqlens
    int64_t max_queries = 0, max_keys = 0;      ///< max_seqlen_q, max_seqlen_k
    bool causal = false;
    int64_t left = -1, right = -1;
    int64_t heads = 1, key_heads = 1, head_dim = 8;

    int64_t segments() const { return static_cast<int64_t>(query_ends.size()) - 1; }
    int64_t query_begin(int64_t i) const { return query_ends[static_cast<size_t>(i)]; }
    int64_t key_begin(int64_t i) const { return key_ends[static_cast<size_t>(i)]; }
    int64_t queries(int64_t i) const { return query_begin(i + 1) - query_begin(i); }
    int64_t keys(int64_t i) const { return key_begin(i + 1) - key_begin(i); }
};

inline void check_limits(const Launch& it) {
    constexpr int64_t kMostBlocks = 65535;  // limit of a grid's y and z
    require(it.query_ends.size() == it.key_ends.size() && it.segments() > 0, "no batch");
    require(it.segments() <= kMostBlocks, "invalid configuration: grid.y " + std::to_string(it.segments()));
    require(it.heads <= kMostBlocks, "invalid configuration: grid.z");
    require(it.max_queries > 0 && it.max_keys > 0, "invalid configuration: grid.x is 0");
    require(it.heads % it.key_heads == 0, "query heads are no multiple of key/value heads");
    require(it.head_dim % 8 == 0 && it.head_dim <= 256, "head_dim");
    require(std::is_sorted(it.query_ends.begin(), it.query_ends.end()) && it.query_ends[0] == 0,
            "cu_seqlens_q");
    require(std::is_sorted(it.key_ends.begin(), it.key_ends.end()) && it.key_ends[0] == 0, "cu_seqlens_k");
}

/// Holds the window as LibTorch's host code passes it to the kernel.
struct Sight {
    bool causal = false;
    int64_t left = -1, right = -1;

    /// Returns the first key that query `i` of a segment sees. last() returns the end of the range, which is
    /// exclusive.
    int64_t first(int64_t i, int64_t queries, int64_t keys) const {
        return causal || left < 0 ? 0 : std::clamp<int64_t>(i + keys - queries - left, 0, keys);
    }
    int64_t last(int64_t i, int64_t queries, int64_t keys) const {
        if (causal) return std::clamp<int64_t>(i + 1 + keys - queries, 0, keys);
        return right < 0 ? keys : std::clamp<int64_t>(i + 1 + keys - queries + right, 0, keys);
    }
};

inline Sight sight_of(const Launch& it, bool forward) {
    int64_t left = it.left, right = it.right;
    if (it.causal && !(forward && it.max_queries == 1)) right = 0;
    // If max_queries is 1, the forward pass takes another path, which assumes that each segment has exactly
    // one query.
    if (forward && it.max_queries == 1 && it.heads > it.key_heads && left < 0 && right < 0)
        require(it.query_ends.back() == it.segments(), "single queries with gaps");
    if (left >= it.max_keys) left = -1;
    if (right >= it.max_keys) right = -1;
    Sight sight{left < 0 && right == 0, left, right};
    if (left < 0 && right >= 0) sight.left = it.max_keys;
    if (left >= 0 && right < 0) sight.right = it.max_keys;
    return sight;
}

/// Returns how many rows of a segment, counted from its first, the forward pass writes in out and lse.
inline int64_t forward_rows(const Launch& it, int64_t segment) {
    const int64_t block = it.head_dim <= 64 ? 128 : 64;
    return std::min(it.queries(segment), rounded_up(it.max_queries, block));
}
/// Returns for how many rows the backward pass computes dout · out and writes dq.
inline int64_t backward_rows(const Launch& it, int64_t segment) {
    const int64_t block = it.head_dim <= 32 ? 128 : 64;
    return std::min(it.queries(segment), rounded_up(it.max_queries, block));
}
/// Returns how many rows of dk and dv the backward pass writes.
inline int64_t backward_keys(const Launch& it, int64_t segment) {
    const int64_t block = it.head_dim <= 96 ? 128 : it.head_dim <= 224 ? 64 : 32;
    return std::min(it.keys(segment), rounded_up(it.max_keys, block));
}

}  // namespace ringmaster::flash2
