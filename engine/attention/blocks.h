/// Cuts an attention on the CPU into tasks, at least one per key/value head of a row. Cuts each task into
/// blocks of queries whose scores fit in a core's cache. The CPU kernels of this folder use the same tasks
/// and blocks, and each computes a block in its own way. score_block_attention.cpp differs: its blocks hold
/// all heads at once.
///
/// Letters: B rows, H query heads, K key/value heads, T queries, S keys, D head_dim; group = H / K.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/attention/block_attention.h"
#include "engine/kernels/block_softmax.h"
#include "engine/layout/slices.h"

namespace ringmaster {

/// Describes the query heads of one key/value head of a row. With at least two threads per head of a row,
/// several tasks (parts) share a head and take its blocks of queries in turn.
struct Task {
    int64_t b, key_head, group, part, parts;

    /// Returns the task's row and query heads of a [B, H, T, ...] tensor: [group, T, ...].
    at::Tensor of_queries(const at::Tensor& x) const {
        return x.select(0, b).narrow(0, key_head * group, group);
    }
    at::Tensor of_keys(const at::Tensor& x_bksd) const { return x_bksd.select(0, b).select(0, key_head); }
};

inline std::vector<Task> tasks_of(const at::Tensor& q_bhtd, const at::Tensor& k_bksd) {
    const int64_t rows = k_bksd.size(0), heads = k_bksd.size(1), group = q_bhtd.size(1) / heads;
    const int64_t parts = std::max<int64_t>(1, at::get_num_threads() / (rows * heads));
    std::vector<Task> tasks;
    for (int64_t i = 0; i < rows * heads * parts; ++i)
        tasks.push_back({i / parts / heads, i / parts % heads, group, i % parts, parts});
    return tasks;
}

/// Returns how many queries of a head a block holds.
inline int64_t block_rows(int64_t group) {
    return std::max<int64_t>(16, block_sizes().rows / group);
}

template <typename Body>
void in_parallel(const std::vector<Task>& tasks, const Body& body) {
    at::parallel_for(0, static_cast<int64_t>(tasks.size()), 1, [&](int64_t first, int64_t last) {
        for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i) body(i);
    });
}

/// Holds the range from the first key to the last key that any slice reads.
struct Reach {
    int64_t begin = std::numeric_limits<int64_t>::max();
    int64_t end = 0;

    explicit Reach(const std::vector<Slice>& slices) {
        for (const Slice& slice : slices) {
            begin = std::min(begin, slice.key_begin);
            end = std::max(end, slice.key_end);
        }
    }
    at::Tensor of(const at::Tensor& x_sd) const { return x_sd.narrow(0, begin, end - begin); }
};

/// Holds keys and values of one head, or their gradients, in float32, with rows contiguous for the matrix
/// products.
struct HeadKeys {
    at::Tensor k_sd, v_sd;
    int64_t begin = 0;  ///< index of the key in the first row

    at::Tensor k(int64_t key, int64_t keys) const { return k_sd.narrow(0, key - begin, keys); }
    at::Tensor v(int64_t key, int64_t keys) const { return v_sd.narrow(0, key - begin, keys); }
};

/// Pairs queries [begin, end) of a slice with the keys that any of them sees.
struct QueryBlock {
    const Slice& slice;
    int64_t begin, end;          ///< indices into the rank's queries
    int64_t key_begin, key_end;  ///< indices into the stage's keys

    /// Returns the block of a slice's queries [begin, end).
    static QueryBlock of(const Slice& slice, int64_t begin, int64_t end) {
        const bool below = slice.mask == SliceMask::Causal, from = slice.mask == SliceMask::InverseCausal;
        return {slice, begin, end, slice.key_begin + (from ? begin - slice.query_begin : 0),
                below ? slice.key_begin + end - slice.query_begin : slice.key_end};
    }

    int64_t queries() const { return end - begin; }

    BlockMask mask(int64_t key, int64_t keys) const {
        // Index, in the block of keys, of the key at the first query's position.
        const int64_t corner = begin - slice.query_begin + slice.key_begin - key;
        if (slice.mask == SliceMask::Causal && corner + 1 < keys)
            return {BlockMask::Below, queries(), corner + 1};
        if (slice.mask == SliceMask::InverseCausal && corner + queries() > 1)
            return {BlockMask::From, queries(), corner};
        return {};
    }
};

/// Calls `body` with the task's blocks of queries, in order. Parts of one head take blocks in turn by query
/// position, so that no two parts touch the same queries.
template <typename Body>
void for_each_block(const Task& task, const std::vector<Slice>& slices, const Body& body) {
    const int64_t step = block_rows(task.group);
    for (const Slice& slice : slices) {
        for (int64_t begin = slice.query_begin, end = 0; begin < slice.query_end; begin = end) {
            end = std::min(task.parts == 1 ? begin + step : (begin / step + 1) * step, slice.query_end);
            if (begin / step % task.parts != task.part) continue;
            body(QueryBlock::of(slice, begin, end));
        }
    }
}

/// Gathers one float for each head and row of the block, head by head.
inline std::vector<float> gathered_scalars(const at::Tensor& x_gt, const QueryBlock& block) {
    std::vector<float> rows;
    for (int64_t g = 0; g < x_gt.size(0); ++g) {
        const float* head = x_gt.data_ptr<float>() + g * x_gt.stride(0);
        rows.insert(rows.end(), head + block.begin, head + block.end);
    }
    return rows;
}
inline void scatter_scalars(const std::vector<float>& rows, const at::Tensor& x_gt, const QueryBlock& block) {
    for (int64_t g = 0; g < x_gt.size(0); ++g)
        std::copy_n(rows.data() + g * block.queries(), block.queries(),
                    x_gt.data_ptr<float>() + g * x_gt.stride(0) + block.begin);
}

/// Calls `body` with each task and zeros of the reach's size [S, D], to which `body` adds the gradients of
/// the task's keys. Then adds these gradients to dk and dv, in the order of the tasks if several share a
/// head.
template <typename Body>
void with_key_gradients(const std::vector<Task>& tasks, const Reach& reach, const at::Tensor& dk_bksd,
                        const at::Tensor& dv_bksd, const Body& body) {
    std::vector<HeadKeys> waiting(tasks.size());
    const auto add = [&](const Task& task, const HeadKeys& d) {
        reach.of(task.of_keys(dk_bksd)).add_(d.k_sd);
        reach.of(task.of_keys(dv_bksd)).add_(d.v_sd);
    };
    in_parallel(tasks, [&](size_t i) {
        const at::Tensor like = reach.of(tasks[i].of_keys(dk_bksd));
        const auto zeros = [&] { return at::zeros(like.sizes(), like.options().dtype(at::kFloat)); };
        const HeadKeys d_keys{zeros(), zeros(), reach.begin};
        body(tasks[i], d_keys);
        if (tasks[i].parts == 1)
            add(tasks[i], d_keys);
        else
            waiting[i] = d_keys;
    });
    for (size_t i = 0; i < tasks.size() && tasks[i].parts > 1; ++i) add(tasks[i], waiting[i]);
}

}  // namespace ringmaster
