#include "engine/attention/block_attention.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

#include "engine/attention/blocks.h"
#include "engine/attention/key_block_attention.h"
#include "engine/attention/panel_products.h"

namespace ringmaster {

namespace {

HeadKeys keys_of(const Task& task, const at::Tensor& k_bksd, const at::Tensor& v_bksd, const Reach& reach) {
    const auto rows = [&](const at::Tensor& x) {
        return reach.of(task.of_keys(x)).to(at::kFloat).contiguous();
    };
    return {rows(k_bksd), rows(v_bksd), reach.begin};
}

/// Allocates scratch memory for a block of scores, [rows, keys].
at::Tensor scratch(const Task& task, const at::Tensor& like) {
    const int64_t rows = task.group * block_rows(task.group);
    return at::empty({rows * block_sizes().keys}, like.options().dtype(at::kFloat));
}
at::Tensor block_of(const at::Tensor& scratch, int64_t rows, int64_t keys) {
    return scratch.narrow(0, 0, rows * keys).view({rows, keys});
}

/// Gathers a block's rows, one head after the other, in float32: [group · queries, D].
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

/// Replaces each score s by c · tanh(s / c), where c is the softcap. `cap_with_slope` also writes the cap's
/// slope, 1 − tanh², to `slopes`.
void cap(at::Tensor scores, double softcap) {
    if (softcap != 0) scores.div_(softcap).tanh_().mul_(softcap);
}
void cap_with_slope(at::Tensor scores, at::Tensor slopes, double softcap) {
    if (softcap == 0) return;
    at::tanh_out(slopes, scores.div_(softcap));
    at::mul_out(scores, slopes, at::scalar_tensor(softcap, scores.options()));
    slopes.square_().neg_().add_(1);
}

/// Holds the tensors of one task: its query heads, [group, T, ...], and the keys that they share.
struct ForwardTask {
    at::Tensor q_gtd;
    HeadKeys keys;
    at::Tensor values_gtd, top_gt, total_gt;  ///< run() adds to these
    at::Tensor scores;
    ScoreRule rule;

    void run(const QueryBlock& block) {
        const at::Tensor q_rd = gathered(q_gtd, block).mul_(rule.scale_of(q_gtd));
        at::Tensor values_rd = gathered(values_gtd, block);
        std::vector<float> top = gathered_scalars(top_gt, block), total = gathered_scalars(total_gt, block);
        std::vector<float> shrink(top.size());
        const int64_t rows = q_rd.size(0);
        for (int64_t key = block.key_begin; key < block.key_end; key += block_sizes().keys) {
            const int64_t count = std::min(block_sizes().keys, block.key_end - key);
            at::Tensor scores_rk = block_of(scores, rows, count);
            at::mm_out(scores_rk, q_rd, keys.k(key, count).t());
            cap(scores_rk, rule.softcap);
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
    at::Tensor dq_gtd;                   ///< run() adds to this
    HeadKeys d_keys;                     ///< run() adds to this
    at::Tensor scores, dscores, slopes;  ///< slopes is used only with a softcap
    ScoreRule rule;

    void run(const QueryBlock& block) {
        const double scale = rule.scale_of(q_gtd);
        const at::Tensor q_rd = gathered(q_gtd, block).mul_(scale), dout_rd = gathered(dout_gtd, block);
        const std::vector<float> lse = gathered_scalars(lse_gt, block);
        const std::vector<float> delta = gathered_scalars(delta_gt, block);
        at::Tensor dq_rd = gathered(dq_gtd, block);
        const int64_t rows = q_rd.size(0);
        for (int64_t key = block.key_begin; key < block.key_end; key += block_sizes().keys) {
            const int64_t count = std::min(block_sizes().keys, block.key_end - key);
            const at::Tensor k_kd = keys.k(key, count);
            at::Tensor scores_rk = block_of(scores, rows, count), dscores_rk = block_of(dscores, rows, count);
            const at::Tensor slopes_rk = slopes.defined() ? block_of(slopes, rows, count) : slopes;
            at::mm_out(scores_rk, q_rd, k_kd.t());
            cap_with_slope(scores_rk, slopes_rk, rule.softcap);
            at::mm_out(dscores_rk, dout_rd, keys.v(key, count).t());
            block_softmax().backward(scores_rk.data_ptr<float>(), dscores_rk.data_ptr<float>(), rows, count,
                                     block.mask(key, count), lse.data(), delta.data());
            if (slopes_rk.defined()) dscores_rk.mul_(slopes_rk);
            at::Tensor dk_kd = d_keys.k(key, count), dv_kd = d_keys.v(key, count);
            at::addmm_out(dv_kd, dv_kd, scores_rk.t(), dout_rd);
            at::addmm_out(dk_kd, dk_kd, dscores_rk.t(), q_rd);
            at::addmm_out(dq_rd, dq_rd, dscores_rk, k_kd, 1, scale);
        }
        scatter(dq_rd, dq_gtd, block);
    }
};

}  // namespace

namespace {

BlockSizes& sizes_in_use() {
    static BlockSizes sizes;
    return sizes;
}

}  // namespace

BlockSizes block_sizes() {
    return sizes_in_use();
}

ScopedBlockSizes::ScopedBlockSizes(const BlockSizes& sizes) {
    sizes_in_use() = sizes;
}

ScopedBlockSizes::~ScopedBlockSizes() {
    sizes_in_use() = {};
}

SoftmaxSums no_keys_seen(const at::Tensor& q_bhtd) {
    const int64_t B = q_bhtd.size(0), H = q_bhtd.size(1), T = q_bhtd.size(2), D = q_bhtd.size(3);
    const auto options = q_bhtd.options().dtype(at::kFloat);
    return {at::zeros({B, T, H, D}, options).transpose(1, 2),
            at::full({B, H, T}, -std::numeric_limits<float>::infinity(), options),
            at::zeros({B, H, T}, options)};
}

void block_attention_forward(SoftmaxSums& sums, const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                             const at::Tensor& v_bksd, const std::vector<Slice>& slices,
                             const ScoreRule& rule) {
    if (slices.empty()) return;
    if (const PanelProducts* products = rule.softcap == 0 ? products_for(q_bhtd) : nullptr)
        return key_block_attention_forward(*products, sums, q_bhtd, k_bksd, v_bksd, slices, rule);
    const Reach reach(slices);
    const std::vector<Task> tasks = tasks_of(q_bhtd, k_bksd);
    in_parallel(tasks, [&](size_t i) {
        const Task& task = tasks[i];
        ForwardTask forward{task.of_queries(q_bhtd),
                            keys_of(task, k_bksd, v_bksd, reach),
                            task.of_queries(sums.values_bhtd),
                            task.of_queries(sums.top_bht),
                            task.of_queries(sums.total_bht),
                            scratch(task, q_bhtd),
                            rule};
        for_each_block(task, slices, [&](const QueryBlock& block) { forward.run(block); });
    });
}

void block_attention_backward(at::Tensor dq_bhtd, at::Tensor dk_bksd, at::Tensor dv_bksd,
                              const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                              const at::Tensor& v_bksd, const at::Tensor& lse_bht,
                              const at::Tensor& delta_bht, const std::vector<Slice>& slices,
                              const ScoreRule& rule) {
    if (slices.empty()) return;
    if (const PanelProducts* products = rule.softcap == 0 ? products_for(q_bhtd) : nullptr)
        return key_block_attention_backward(*products, dq_bhtd, dk_bksd, dv_bksd, dout_bhtd, q_bhtd, k_bksd,
                                            v_bksd, lse_bht, delta_bht, slices, rule);
    const Reach reach(slices);
    const std::vector<Task> tasks = tasks_of(q_bhtd, k_bksd);
    with_key_gradients(tasks, reach, dk_bksd, dv_bksd, [&](const Task& task, const HeadKeys& d_keys) {
        BackwardTask backward{task.of_queries(dout_bhtd),
                              task.of_queries(q_bhtd),
                              keys_of(task, k_bksd, v_bksd, reach),
                              task.of_queries(lse_bht),
                              task.of_queries(delta_bht),
                              task.of_queries(dq_bhtd),
                              d_keys,
                              scratch(task, q_bhtd),
                              scratch(task, q_bhtd),
                              rule.softcap != 0 ? scratch(task, q_bhtd) : at::Tensor(),
                              rule};
        for_each_block(task, slices, [&](const QueryBlock& block) { backward.run(block); });
    });
}

}  // namespace ringmaster
