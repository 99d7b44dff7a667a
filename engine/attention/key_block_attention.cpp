#include "engine/attention/key_block_attention.h"

#include <ATen/ATen.h>

#include "engine/attention/blocks.h"

namespace ringmaster {

namespace {

Bf16* bits(const at::Tensor& x) {
    return static_cast<Bf16*>(x.data_ptr());
}

/// Holds a head's rows [S, D], contiguous, from the first key of the reach on.
struct Rows {
    at::Tensor x_sd;
    int64_t begin;

    Rows(const Reach& reach, const at::Tensor& head_sd)
        : x_sd(reach.of(head_sd).contiguous()), begin(reach.begin) {}
    const Bf16* from(int64_t key) const { return bits(x_sd) + (key - begin) * x_sd.size(1); }
};

/// Holds a head's columns [D, S], padded with a zero: blocks of an odd number of keys read one key more.
struct Columns {
    at::Tensor x_ds;
    int64_t begin;

    explicit Columns(const Rows& rows)
        : x_ds(at::zeros({rows.x_sd.size(1), even(rows.x_sd.size(0) + 1)}, rows.x_sd.options())),
          begin(rows.begin) {
        x_ds.narrow(1, 0, rows.x_sd.size(0)).copy_(rows.x_sd.t());
    }
    const Bf16* from(int64_t key) const { return bits(x_ds) + key - begin; }
    int64_t stride() const { return x_ds.size(1); }
};

/// Holds a block's queries, one head after the other, laid out as right-hand operands of the products.
struct BlockRows {
    at::Tensor rows, panels, transposed;  ///< [queries, D], its panels, and those of its transpose

    BlockRows(const at::Tensor& x_gtd, const QueryBlock& block)
        : rows(x_gtd.narrow(1, block.begin, block.queries()).contiguous().flatten(0, 1)),
          panels(at::empty({even(rows.size(0)) * panel_columns(rows.size(1))}, rows.options())),
          transposed(at::empty({rows.size(1) * panel_columns(rows.size(0))}, rows.options())) {
        const int64_t queries = rows.size(0), head_dim = rows.size(1);
        pack_rows(bits(rows), head_dim, queries, head_dim, bits(panels));
        pack_transposed(bits(rows), head_dim, head_dim, queries, bits(transposed));
    }
};

/// Holds the scratch memory for a task's blocks, as large as the widest block needs.
struct Scratch {
    at::Tensor scores, dprobability;         ///< float32 [keys, columns]
    at::Tensor probability, dscores, pairs;  ///< bfloat16 [keys, columns]; pairs in panels
    std::vector<float> shrink;

    Scratch(const Task& task, const at::Tensor& q, bool backward) {
        const int64_t columns = panel_columns(task.group * block_rows(task.group));
        const int64_t cells = even(block_sizes().keys) * columns;
        const auto cells_of = [&](at::ScalarType dtype) {
            return at::empty({cells}, q.options().dtype(dtype));
        };
        scores = cells_of(at::kFloat);
        pairs = cells_of(at::kBFloat16);
        if (!backward) {
            shrink.resize(static_cast<size_t>(columns));
            return;
        }
        dprobability = cells_of(at::kFloat);
        probability = cells_of(at::kBFloat16);
        dscores = cells_of(at::kBFloat16);
    }
};

KeyBlock key_block(const QueryBlock& block, int64_t key, const at::Tensor& q_gtd, double scale) {
    const int64_t keys = std::min(block_sizes().keys, block.key_end - key);
    const int64_t queries = q_gtd.size(0) * block.queries();
    return {keys, panel_columns(queries), queries, block.mask(key, keys), static_cast<float>(scale)};
}

/// Returns gathered_scalars, padded with zeros to the end of the last panel.
std::vector<float> column_scalars(const at::Tensor& x_gt, const QueryBlock& block) {
    std::vector<float> columns = gathered_scalars(x_gt, block);
    columns.resize(static_cast<size_t>(panel_columns(static_cast<int64_t>(columns.size()))));
    return columns;
}

/// Returns the block's rows of a [D, columns] tensor: [group, queries, D].
at::Tensor rows_of(const at::Tensor& x_dc, int64_t group, const QueryBlock& block) {
    const at::Tensor queries = x_dc.narrow(1, 0, group * block.queries());
    return queries.unflatten(1, {group, block.queries()}).permute({1, 2, 0});
}

struct ForwardTask {
    const PanelProducts& products;
    at::Tensor q_gtd;
    Rows k;
    Columns v;
    at::Tensor values_gtd, top_gt, total_gt;  ///< run() adds to these
    Scratch scratch;
    double scale;

    void run(const QueryBlock& block) {
        const BlockRows q(q_gtd, block);
        const int64_t D = q_gtd.size(2), columns = panel_columns(q.rows.size(0));
        const at::Tensor values_dc = at::zeros({D, columns}, values_gtd.options());
        const at::Tensor values = values_gtd.narrow(1, block.begin, block.queries());
        rows_of(values_dc, q_gtd.size(0), block).copy_(values);
        std::vector<float> top = column_scalars(top_gt, block), total = column_scalars(total_gt, block);
        for (int64_t key = block.key_begin; key < block.key_end; key += block_sizes().keys) {
            const KeyBlock now = key_block(block, key, q_gtd, scale);
            auto* scores = scratch.scores.data_ptr<float>();
            products.product(now.keys, columns, D, k.from(key), D, bits(q.transposed), scores, columns,
                             false);
            key_softmax().forward(scores, now, top.data(), total.data(), scratch.shrink.data(),
                                  bits(scratch.pairs));
            key_softmax().rescale(values_dc.data_ptr<float>(), scratch.shrink.data(), D, columns);
            products.product(D, columns, even(now.keys), v.from(key), v.stride(), bits(scratch.pairs),
                             values_dc.data_ptr<float>(), columns, true);
        }
        scatter_scalars(top, top_gt, block);
        scatter_scalars(total, total_gt, block);
        values.copy_(rows_of(values_dc, q_gtd.size(0), block));
    }
};

struct BackwardTask {
    const PanelProducts& products;
    at::Tensor dout_gtd, q_gtd;
    Rows k, v;
    Columns k_columns;
    at::Tensor lse_gt, delta_gt;
    at::Tensor dq_gtd;  ///< run() adds to this
    HeadKeys d_keys;    ///< run() adds to these; the caller applies the softmax scale to d_keys.k
    Scratch scratch;
    double scale;

    void run(const QueryBlock& block) {
        const BlockRows q(q_gtd, block), dout(dout_gtd, block);
        const std::vector<float> lse = column_scalars(lse_gt, block), delta = column_scalars(delta_gt, block);
        const at::Tensor dq_dc = at::zeros({q_gtd.size(2), panel_columns(q.rows.size(0))}, dq_gtd.options());
        for (int64_t key = block.key_begin; key < block.key_end; key += block_sizes().keys)
            run_keys(key, key_block(block, key, q_gtd, scale), q, dout, lse, delta, dq_dc);
        dq_gtd.narrow(1, block.begin, block.queries()).add_(rows_of(dq_dc, q_gtd.size(0), block), scale);
    }

    void run_keys(int64_t key, const KeyBlock& now, const BlockRows& q, const BlockRows& dout,
                  const std::vector<float>& lse, const std::vector<float>& delta, const at::Tensor& dq_dc) {
        const int64_t D = q_gtd.size(2), columns = now.columns, queries = even(now.queries);
        auto* scores = scratch.scores.data_ptr<float>();
        auto* dprobability = scratch.dprobability.data_ptr<float>();
        products.product(now.keys, columns, D, k.from(key), D, bits(q.transposed), scores, columns, false);
        products.product(now.keys, columns, D, v.from(key), D, bits(dout.transposed), dprobability, columns,
                         false);
        key_softmax().backward(scores, dprobability, now, lse.data(), delta.data(), bits(scratch.probability),
                               bits(scratch.dscores), bits(scratch.pairs));
        products.product(now.keys, D, queries, bits(scratch.probability), columns, bits(dout.panels),
                         d_keys.v(key, now.keys).data_ptr<float>(), D, true);
        products.product(now.keys, D, queries, bits(scratch.dscores), columns, bits(q.panels),
                         d_keys.k(key, now.keys).data_ptr<float>(), D, true);
        products.product(D, columns, even(now.keys), k_columns.from(key), k_columns.stride(),
                         bits(scratch.pairs), dq_dc.data_ptr<float>(), columns, true);
    }
};

}  // namespace

void key_block_attention_forward(const PanelProducts& products, SoftmaxSums& sums, const at::Tensor& q_bhtd,
                                 const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                                 const std::vector<Slice>& slices, const ScoreRule& rule) {
    const Reach reach(slices);
    const std::vector<Task> tasks = tasks_of(q_bhtd, k_bksd);
    in_parallel(tasks, [&](size_t i) {
        const Task& task = tasks[i];
        ForwardTask forward{products,
                            task.of_queries(q_bhtd),
                            Rows(reach, task.of_keys(k_bksd)),
                            Columns(Rows(reach, task.of_keys(v_bksd))),
                            task.of_queries(sums.values_bhtd),
                            task.of_queries(sums.top_bht),
                            task.of_queries(sums.total_bht),
                            Scratch(task, q_bhtd, false),
                            rule.scale_of(q_bhtd)};
        for_each_block(task, slices, [&](const QueryBlock& block) { forward.run(block); });
        products.release();
    });
}

void key_block_attention_backward(const PanelProducts& products, const at::Tensor& dq_bhtd,
                                  const at::Tensor& dk_bksd, const at::Tensor& dv_bksd,
                                  const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd,
                                  const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                                  const at::Tensor& lse_bht, const at::Tensor& delta_bht,
                                  const std::vector<Slice>& slices, const ScoreRule& rule) {
    const Reach reach(slices);
    const std::vector<Task> tasks = tasks_of(q_bhtd, k_bksd);
    with_key_gradients(tasks, reach, dk_bksd, dv_bksd, [&](const Task& task, const HeadKeys& d_keys) {
        const Rows k(reach, task.of_keys(k_bksd));
        BackwardTask backward{products,
                              task.of_queries(dout_bhtd),
                              task.of_queries(q_bhtd),
                              k,
                              Rows(reach, task.of_keys(v_bksd)),
                              Columns(k),
                              task.of_queries(lse_bht),
                              task.of_queries(delta_bht),
                              task.of_queries(dq_bhtd),
                              d_keys,
                              Scratch(task, q_bhtd, true),
                              rule.scale_of(q_bhtd)};
        for_each_block(task, slices, [&](const QueryBlock& block) { backward.run(block); });
        at::Tensor dk_sd = d_keys.k_sd;
        dk_sd.mul_(rule.scale_of(q_bhtd));
        products.release();
    });
}

}  // namespace ringmaster
