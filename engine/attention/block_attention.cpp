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

/// The task's blocks of queries, in order. Parts of one head take turns by the queries' place, so that no two
/// touch the same ones.
template <typename Body>
void for_each_block(const Task& task, const std::vector<Slice>& slices, const Body& body) {
    const int64_t step = std::max<int64_t>(16, kRows / task.group);
    for (const Slice& slice : slices) {
        for (int64_t begin = slice.query_begin, end = 0; begin < slice.query_end; begin = end) {
            end = std::min(task.parts == 1 ? begin + step : (begin / step + 1) * step, slice.query_end);
            if (begin / step % task.parts != task.part) continue;
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

/// A block's rows, head behind head, in float32: [group · queries, D].
at::Tensor gathered(const at::Tensor& x_gtd, const QueryBlock& block) {
    const at::Tensor part = x_gtd.narrow(1, block.begin, block.queries());
    at::Tensor rows = at::empty(part.sizes(), part.options().dtype(at::kFloat));
    rows.copy_(part);
    return rows.flatten(0, 1);
}
void scatter(const at::Tensor& rows, const at::Tensor& x_gtd, const QueryBlock& block) {
    const at::Tensor part = x_gtd.narrow(1, block.begin, block.queries());
    part.copy_(rows.view(part.sizes()));
}

/// One float to a row, likewise.
std::vector<float> gathered_scalars(const at::Tensor& x_gt, const QueryBlock& block) {
    std::vector<float> rows;
    for (int64_t g = 0; g < x_gt.size(0); ++g) {
        const float* head = x_gt.data_ptr<float>() + g * x_gt.stride(0);
        rows.insert(rows.end(), head + block.begin, head + block.end);
    }
    return rows;
}
void scatter_scalars(const std::vector<float>& rows, const at::Tensor& x_gt, const QueryBlock& block) {
    for (int64_t g = 0; g < x_gt.size(0); ++g)
        std::copy_n(rows.data() + g * block.queries(), block.queries(),
                    x_gt.data_ptr<float>() + g * x_gt.stride(0) + block.begin);
}

double scale_of(const at::Tensor& q) {
    return 1 / std::sqrt(static_cast<double>(q.size(-1)));
}

/// A task's tensors: heads of one group, [group, T, ...], and their keys.
struct ForwardTask {
    at::Tensor q_gtd;
    HeadKeys keys;
    at::Tensor values_gtd, top_gt, total_gt;  ///< added to
    at::Tensor scores;

    void run(const QueryBlock& block) {
        const at::Tensor q_rd = gathered(q_gtd, block).mul_(scale_of(q_gtd));
        at::Tensor values_rd = gathered(values_gtd, block);
        std::vector<float> top = gathered_scalars(top_gt, block), total = gathered_scalars(total_gt, block);
        std::vector<float> shrink(top.size());
        const int64_t rows = q_rd.size(0);
        for (int64_t key = block.key_begin; key < block.key_end; key += kKeys) {
            const int64_t count = std::min(kKeys, block.key_end - key);
            at::Tensor scores_rk = block_of(scores, rows, count);
            at::mm_out(scores_rk, q_rd, keys.k(key, count).t());
            block_softmax().forward(scores_rk.data_ptr<float>(), rows, count, block.mask(key, count),
                                    top.data(), total.data(), shrink.data());
            block_softmax().rescale(values_rd.data_ptr<float>(), shrink.data(), rows, values_rd.size(1));
            at::addmm_out(values_rd, values_rd, scores_rk, keys.v(key, count));
        }
        scatter_scalars(top, top_gt, block);
        scatter_scalars(total, total_gt, block);
        scatter(values_rd, values_gtd, block);
    }
};

struct BackwardTask {
    at::Tensor dout_gtd, q_gtd;
    HeadKeys keys;
    at::Tensor lse_gt, delta_gt;
    at::Tensor dq_gtd;  ///< added to
    HeadKeys d_keys;    ///< added to
    at::Tensor scores, dscores;

    void run(const QueryBlock& block) {
        const double scale = scale_of(q_gtd);
        const at::Tensor q_rd = gathered(q_gtd, block).mul_(scale), dout_rd = gathered(dout_gtd, block);
        const std::vector<float> lse = gathered_scalars(lse_gt, block);
        const std::vector<float> delta = gathered_scalars(delta_gt, block);
        at::Tensor dq_rd = gathered(dq_gtd, block);
        const int64_t rows = q_rd.size(0);
        for (int64_t key = block.key_begin; key < block.key_end; key += kKeys) {
            const int64_t count = std::min(kKeys, block.key_end - key);
            const at::Tensor k_kd = keys.k(key, count);
            at::Tensor scores_rk = block_of(scores, rows, count), dscores_rk = block_of(dscores, rows, count);
            at::mm_out(scores_rk, q_rd, k_kd.t());
            at::mm_out(dscores_rk, dout_rd, keys.v(key, count).t());
            block_softmax().backward(scores_rk.data_ptr<float>(), dscores_rk.data_ptr<float>(), rows, count,
                                     block.mask(key, count), lse.data(), delta.data());
            at::Tensor dk_kd = d_keys.k(key, count), dv_kd = d_keys.v(key, count);
            at::addmm_out(dv_kd, dv_kd, scores_rk.t(), dout_rd);
            at::addmm_out(dk_kd, dk_kd, dscores_rk.t(), q_rd);
            at::addmm_out(dq_rd, dq_rd, dscores_rk, k_kd, 1, scale);
        }
        scatter(dq_rd, dq_gtd, block);
    }
};

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
        const Task& task = tasks[i];
        ForwardTask forward{task.of_queries(q_bhtd),           keys_of(task, k_bksd, v_bksd, reach),
                            task.of_queries(sums.values_bhtd), task.of_queries(sums.top_bht),
                            task.of_queries(sums.total_bht),   scratch(task, q_bhtd)};
        for_each_block(task, slices, [&](const QueryBlock& block) { forward.run(block); });
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
    const auto add = [&](const Task& task, const HeadKeys& d) {
        reach.of(task.of_keys(dk_bksd)).add_(d.k_sd);
        reach.of(task.of_keys(dv_bksd)).add_(d.v_sd);
    };
    in_parallel(tasks, [&](size_t i) {
        const Task& task = tasks[i];
        const HeadKeys keys = keys_of(task, k_bksd, v_bksd, reach);
        const HeadKeys d_keys{at::zeros_like(keys.k_sd), at::zeros_like(keys.v_sd), reach.begin};
        BackwardTask backward{
            task.of_queries(dout_bhtd), task.of_queries(q_bhtd),  keys,   task.of_queries(lse_bht),
            task.of_queries(delta_bht), task.of_queries(dq_bhtd), d_keys, scratch(task, q_bhtd),
            scratch(task, q_bhtd)};
        for_each_block(task, slices, [&](const QueryBlock& block) { backward.run(block); });
        if (task.parts == 1)
            add(task, d_keys);
        else
            waiting[i] = d_keys;  // others add to the same head: in order, behind all
    });
    for (size_t i = 0; i < tasks.size() && tasks[i].parts > 1; ++i) add(tasks[i], waiting[i]);
}

}  // namespace ringmaster
