#include "engine/attention/block_attention.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/kernels/block_softmax.h"

namespace ringmaster {

namespace {

// A block of scores, kRows × kKeys floats, stays in a core's second-level cache.
constexpr int64_t kRows = 256;
constexpr int64_t kKeys = 512;

/// The query heads of one key/value head, and whose turn their blocks of queries are: where there are fewer
/// key/value heads than threads, several parts share one.
struct Task {
    int64_t b, key_head, group, part, parts;

    /// Of [B, H, T, ...], this row's and these heads': [group, T, ...].
    at::Tensor of_queries(const at::Tensor& x) const {
        return x.select(0, b).narrow(0, key_head * group, group);
    }
    at::Tensor of_keys(const at::Tensor& x_bksd) const { return x_bksd.select(0, b).select(0, key_head); }
};

std::vector<Task> tasks_of(const at::Tensor& q_bhtd, const at::Tensor& k_bksd) {
    const int64_t rows = k_bksd.size(0), heads = k_bksd.size(1), group = q_bhtd.size(1) / heads;
    const int64_t parts = std::max<int64_t>(1, at::get_num_threads() / (rows * heads));
    std::vector<Task> tasks;
    for (int64_t i = 0; i < rows * heads * parts; ++i)
        tasks.push_back({i / parts / heads, i / parts % heads, group, i % parts, parts});
    return tasks;
}

template <typename Body>
void in_parallel(const std::vector<Task>& tasks, const Body& body) {
    at::parallel_for(0, static_cast<int64_t>(tasks.size()), 1, [&](int64_t first, int64_t last) {
        for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i) body(i);
    });
}

/// The keys that the slices read.
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

/// Keys and values of one head, or their gradients, float32, rows side by side as the matrix products want
/// them.
struct HeadKeys {
    at::Tensor k_sd, v_sd;
    int64_t begin = 0;  ///< the first row's key

    at::Tensor k(int64_t key, int64_t keys) const { return k_sd.narrow(0, key - begin, keys); }
    at::Tensor v(int64_t key, int64_t keys) const { return v_sd.narrow(0, key - begin, keys); }
};

HeadKeys keys_of(const Task& task, const at::Tensor& k_bksd, const at::Tensor& v_bksd, const Reach& reach) {
    const auto rows = [&](const at::Tensor& x) {
        return reach.of(task.of_keys(x)).to(at::kFloat).contiguous();
    };
    return {rows(k_bksd), rows(v_bksd), reach.begin};
}

/// Queries [begin, end) of a slice against the keys that any of them sees.
struct QueryBlock {
    const Slice& slice;
    int64_t begin, end;          ///< of the rank's queries
    int64_t key_begin, key_end;  ///< of the stage's keys

    int64_t queries() const { return end - begin; }

    BlockMask mask(int64_t key, int64_t keys) const {
        const int64_t corner =
            begin - slice.query_begin + slice.key_begin - key;  // the first query's own key
        if (slice.mask == SliceMask::Causal && corner + 1 < keys)
            return {BlockMask::Below, queries(), corner + 1};
        if (slice.mask == SliceMask::InverseCausal && corner + queries() > 1)
            return {BlockMask::From, queries(), corner};
        return {};
    }
};

/// The blocks of queries whose turn it is, in order.
template <typename Body>
void for_each_block(const Task& task, const std::vector<Slice>& slices, const Body& body) {
    const int64_t step = std::max<int64_t>(16, kRows / task.group);
    int64_t turn = 0;
    for (const Slice& slice : slices) {
        for (int64_t begin = slice.query_begin; begin < slice.query_end; begin += step, ++turn) {
            if (turn % task.parts != task.part) continue;
            const int64_t end = std::min(begin + step, slice.query_end);
            const bool below = slice.mask == SliceMask::Causal, from = slice.mask == SliceMask::InverseCausal;
            body(QueryBlock{slice, begin, end, slice.key_begin + (from ? begin - slice.query_begin : 0),
                            below ? slice.key_begin + end - slice.query_begin : slice.key_end});
        }
    }
}

/// Scratch for blocks of scores, [rows, keys] of it at a time.
at::Tensor scratch(const Task& task, const at::Tensor& like) {
    const int64_t rows = task.group * std::max<int64_t>(16, kRows / task.group);
    return at::empty({rows * kKeys}, like.options().dtype(at::kFloat));
}
at::Tensor block_of(const at::Tensor& scratch, int64_t rows, int64_t keys) {
    return scratch.narrow(0, 0, rows * keys).view({rows, keys});
}

/// A block's rows, head behind head, in float32: [group · queries, ...].
at::Tensor gathered(const at::Tensor& x_gt, const QueryBlock& block) {
    const at::Tensor part = x_gt.narrow(1, block.begin, block.queries());
    at::Tensor rows = at::empty(part.sizes(), part.options().dtype(at::kFloat));
    rows.copy_(part);
    return rows.flatten(0, 1);
}
void scatter(const at::Tensor& rows, const at::Tensor& x_gt, const QueryBlock& block) {
    const at::Tensor part = x_gt.narrow(1, block.begin, block.queries());
    part.copy_(rows.view(part.sizes()));
}

double scale_of(const at::Tensor& q_bhtd) {
    return 1 / std::sqrt(static_cast<double>(q_bhtd.size(3)));
}

void forward_block(const Task& task, SoftmaxSums& sums, const at::Tensor& q_bhtd, const HeadKeys& head,
                   const at::Tensor& scores, const QueryBlock& block, double scale) {
    const BlockSoftmax& softmax = block_softmax();
    const at::Tensor q_rd = gathered(task.of_queries(q_bhtd), block).mul_(scale);
    const at::Tensor top_r = gathered(task.of_queries(sums.top_bht), block);
    const at::Tensor total_r = gathered(task.of_queries(sums.total_bht), block);
    at::Tensor values_rd = gathered(task.of_queries(sums.values_bhtd), block);
    const int64_t rows = q_rd.size(0);
    const at::Tensor shrink_r = at::empty_like(top_r);
    for (int64_t key = block.key_begin; key < block.key_end; key += kKeys) {
        const int64_t keys = std::min(kKeys, block.key_end - key);
        at::Tensor scores_rk = block_of(scores, rows, keys);
        at::mm_out(scores_rk, q_rd, head.k(key, keys).t());
        softmax.forward(scores_rk.data_ptr<float>(), rows, keys, block.mask(key, keys),
                        top_r.data_ptr<float>(), total_r.data_ptr<float>(), shrink_r.data_ptr<float>());
        softmax.rescale(values_rd.data_ptr<float>(), shrink_r.data_ptr<float>(), rows, values_rd.size(1));
        at::addmm_out(values_rd, values_rd, scores_rk, head.v(key, keys));
    }
    scatter(top_r, task.of_queries(sums.top_bht), block);
    scatter(total_r, task.of_queries(sums.total_bht), block);
    scatter(values_rd, task.of_queries(sums.values_bhtd), block);
}

void backward_block(const Task& task, const at::Tensor& dq_bhtd, const HeadKeys& d,
                    const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd, const HeadKeys& head,
                    const at::Tensor& lse_bht, const at::Tensor& delta_bht, const at::Tensor& scores,
                    const at::Tensor& dscores, const QueryBlock& block, double scale) {
    const at::Tensor q_rd = gathered(task.of_queries(q_bhtd), block).mul_(scale);
    const at::Tensor dout_rd = gathered(task.of_queries(dout_bhtd), block);
    const at::Tensor lse_r = gathered(task.of_queries(lse_bht), block);
    const at::Tensor delta_r = gathered(task.of_queries(delta_bht), block);
    at::Tensor dq_rd = gathered(task.of_queries(dq_bhtd), block);
    const int64_t rows = q_rd.size(0);
    for (int64_t key = block.key_begin; key < block.key_end; key += kKeys) {
        const int64_t keys = std::min(kKeys, block.key_end - key);
        const at::Tensor k_kd = head.k(key, keys);
        at::Tensor scores_rk = block_of(scores, rows, keys), dscores_rk = block_of(dscores, rows, keys);
        at::mm_out(scores_rk, q_rd, k_kd.t());
        at::mm_out(dscores_rk, dout_rd, head.v(key, keys).t());
        block_softmax().backward(scores_rk.data_ptr<float>(), dscores_rk.data_ptr<float>(), rows, keys,
                                 block.mask(key, keys), lse_r.data_ptr<float>(), delta_r.data_ptr<float>());
        at::Tensor dk_kd = d.k(key, keys);
        at::Tensor dv_kd = d.v(key, keys);
        at::addmm_out(dv_kd, dv_kd, scores_rk.t(), dout_rd);
        at::addmm_out(dk_kd, dk_kd, dscores_rk.t(), q_rd);
        at::addmm_out(dq_rd, dq_rd, dscores_rk, k_kd, 1, scale);
    }
    scatter(dq_rd, task.of_queries(dq_bhtd), block);
}

}  // namespace

SoftmaxSums no_keys_seen(const at::Tensor& q_bhtd) {
    const int64_t B = q_bhtd.size(0), H = q_bhtd.size(1), T = q_bhtd.size(2), D = q_bhtd.size(3);
    const auto options = q_bhtd.options().dtype(at::kFloat);
    return {at::zeros({B, T, H, D}, options).transpose(1, 2),
            at::full({B, H, T}, -std::numeric_limits<float>::infinity(), options),
            at::zeros({B, H, T}, options)};
}

void block_attention_forward(SoftmaxSums& sums, const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                             const at::Tensor& v_bksd, const std::vector<Slice>& slices) {
    if (slices.empty()) return;
    const Reach reach(slices);
    const std::vector<Task> tasks = tasks_of(q_bhtd, k_bksd);
    in_parallel(tasks, [&](size_t i) {
        const HeadKeys head = keys_of(tasks[i], k_bksd, v_bksd, reach);
        const at::Tensor scores = scratch(tasks[i], q_bhtd);
        for_each_block(tasks[i], slices, [&](const QueryBlock& block) {
            forward_block(tasks[i], sums, q_bhtd, head, scores, block, scale_of(q_bhtd));
        });
    });
}

void block_attention_backward(at::Tensor dq_bhtd, at::Tensor dk_bksd, at::Tensor dv_bksd,
                              const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                              const at::Tensor& v_bksd, const at::Tensor& lse_bht,
                              const at::Tensor& delta_bht, const std::vector<Slice>& slices) {
    if (slices.empty()) return;
    const Reach reach(slices);
    const std::vector<Task> tasks = tasks_of(q_bhtd, k_bksd);
    std::vector<HeadKeys> waiting(tasks.size());
    const auto add = [&](const Task& task, HeadKeys& d) {
        reach.of(task.of_keys(dk_bksd)).add_(d.k_sd);
        reach.of(task.of_keys(dv_bksd)).add_(d.v_sd);
        d = {};
    };
    in_parallel(tasks, [&](size_t i) {
        const HeadKeys head = keys_of(tasks[i], k_bksd, v_bksd, reach);
        const at::Tensor scores = scratch(tasks[i], q_bhtd), dscores = scratch(tasks[i], q_bhtd);
        waiting[i] = {at::zeros_like(head.k_sd), at::zeros_like(head.v_sd), reach.begin};
        for_each_block(tasks[i], slices, [&](const QueryBlock& block) {
            backward_block(tasks[i], dq_bhtd, waiting[i], dout_bhtd, q_bhtd, head, lse_bht, delta_bht, scores,
                           dscores, block, scale_of(q_bhtd));
        });
        if (tasks[i].parts == 1) add(tasks[i], waiting[i]);
    });
    for (size_t i = 0; i < tasks.size() && tasks[i].parts > 1; ++i) add(tasks[i], waiting[i]);
}

}  // namespace ringmaster
