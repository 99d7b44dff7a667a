#include "engine/attention/score_block_attention.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "engine/attention/blocks.h"
#include "engine/layout/score_blocks.h"

// Letters of a block: b key heads of all rows (B · K), r queries of the heads that share a key head (group ·
// queries), k keys.

namespace ringmaster {

namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

/// Computes out = beta · out + alpha · x · y in float32. If beta is 0, `out` may hold anything.
void product(at::Tensor out, const at::Tensor& x, const at::Tensor& y, double beta, double alpha) {
    if (x.scalar_type() == at::kFloat) {
        at::baddbmm_out(out, out, x, y, beta, alpha);
    } else if (x.is_cpu()) {  // LibTorch has no such product on the CPU
        at::baddbmm_out(out, out, x.to(at::kFloat), y.to(at::kFloat), beta, alpha);
    } else {
        at::baddbmm_out(out, out, x, y, at::kFloat, beta, alpha);
    }
}

/// Views [B, H, T, ...] by key heads: [B, K, group, T, ...].
at::Tensor by_key_heads(const at::Tensor& x_bht, int64_t key_heads) {
    return x_bht.unflatten(1, {key_heads, x_bht.size(1) / key_heads});
}

at::Tensor part_of(const at::Tensor& x_bkgt, const QueryBlock& block) {
    return x_bkgt.narrow(3, block.begin, block.queries());
}

/// Copies a block's rows: [b, r, ...].
at::Tensor gathered(const at::Tensor& x_bkgt, const QueryBlock& block) {
    return part_of(x_bkgt, block).clone(at::MemoryFormat::Contiguous).flatten(0, 1).flatten(1, 2);
}

void scatter(const at::Tensor& rows, const at::Tensor& x_bkgt, const QueryBlock& block) {
    const at::Tensor part = part_of(x_bkgt, block);
    part.copy_(rows.view(part.sizes()));
}

/// Returns the rows of `count` keys from `key` on: [b, k, D]. Copies them if there are several rows of a
/// batch and several key heads.
at::Tensor keys_of(const at::Tensor& x_bksd, int64_t key, int64_t count) {
    return x_bksd.narrow(2, key, count).flatten(0, 1);
}

/// Holds memory for the largest block of scores; block() returns a view of its first part.
class BlockMemory {
  public:
    BlockMemory(const at::Tensor& q_bhtd, const ScoreBlocks& largest, at::ScalarType dtype)
        : memory_(at::empty({q_bhtd.size(0) * q_bhtd.size(1) * largest.queries * largest.keys},
                            q_bhtd.options().dtype(dtype))) {}

    at::Tensor block(at::IntArrayRef sizes) const {
        return memory_.narrow(0, 0, sizes[0] * sizes[1] * sizes[2]).view(sizes);
    }

  private:
    at::Tensor memory_;
};

/// Rounds blocks to the inputs' dtype for the products that they enter.
class Rounding {
  public:
    Rounding(const at::Tensor& q_bhtd, const ScoreBlocks& largest) {
        if (q_bhtd.scalar_type() != at::kFloat) memory_.emplace(q_bhtd, largest, q_bhtd.scalar_type());
    }
    /// Returns the block itself if inputs are float32, else a rounded copy, valid until the next call.
    at::Tensor of(const at::Tensor& x_brk) const {
        return memory_ ? memory_->block(x_brk.sizes()).copy_(x_brk) : x_brk;
    }

  private:
    std::optional<BlockMemory> memory_;
};

/// Sets the scores of keys that a query does not see to `with`.
void hide(const at::Tensor& scores_brk, const BlockMask& mask, double with) {
    if (mask.sees == BlockMask::All) return;
    const auto options = scores_brk.options().dtype(at::kInt);
    const at::Tensor key_k = at::arange(scores_brk.size(2), options);
    const at::Tensor edge_q1 = at::arange(mask.edge, mask.edge + mask.queries, options).unsqueeze(1);
    const at::Tensor hidden_qk =
        mask.sees == BlockMask::Below ? at::ge(key_k, edge_q1) : at::lt(key_k, edge_q1);
    scores_brk.unflatten(1, {-1, mask.queries}).masked_fill_(hidden_qk, with);
}

/// Turns products of queries and keys into scores ÷ unit(). The division by unit() saves one pass over
/// memory.
struct Scores {
    ScoreRule rule;
    double scale;

    Scores(const ScoreRule& of, const at::Tensor& q_bhtd) : rule(of), scale(of.scale_of(q_bhtd)) {}
    double unit() const { return rule.softcap != 0 ? rule.softcap : 1; }

    void compute(at::Tensor scores_brk, const at::Tensor& q_brd, const at::Tensor& k_bkd) const {
        product(scores_brk, q_brd, k_bkd.transpose(1, 2), 0, scale / unit());
        if (rule.softcap != 0) scores_brk.tanh_();
    }
    /// Writes exp(score − from).
    void exponentiate(at::Tensor to_brk, const at::Tensor& scores_brk, const at::Tensor& from_br) const {
        at::add_out(to_brk, from_br.neg().unsqueeze(2), scores_brk, unit());
        to_brk.exp_();
    }
    /// Multiplies gradients of scores by the cap's slope, 1 − tanh².
    void pull(at::Tensor dscores_brk, const at::Tensor& scores_brk) const {
        if (rule.softcap != 0) at::tanh_backward_out(dscores_brk, dscores_brk, scores_brk);
    }
};

/// Holds the inputs that all blocks of a call share, and the sizes of the blocks.
struct Call {
    at::Tensor q_bhtd, k_bksd, v_bksd;
    const std::vector<Slice>& slices;
    ScoreBlocks blocks, largest;
    Scores scores;

    Call(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const std::vector<Slice>& of,
         const ScoreRule& rule, int64_t most_scores)
        : q_bhtd(q),
          k_bksd(k),
          v_bksd(v),
          slices(of),
          blocks(score_blocks(q.size(0) * q.size(1), most_scores)),
          largest(largest_block(blocks, of)),
          scores(rule, q) {}

    int64_t key_heads() const { return k_bksd.size(1); }
    at::Tensor by_heads(const at::Tensor& x_bht) const { return by_key_heads(x_bht, key_heads()); }

    template <typename Body>
    void for_each_block(const Body& body) const {
        for (const Slice& slice : slices) {
            for (int64_t begin = slice.query_begin; begin < slice.query_end; begin += blocks.queries)
                body(QueryBlock::of(slice, begin, std::min(begin + blocks.queries, slice.query_end)));
        }
    }
    /// Calls `body` with the first key and the number of keys of each block.
    template <typename Body>
    void for_keys(const QueryBlock& block, const Body& body) const {
        for (int64_t key = block.key_begin; key < block.key_end; key += blocks.keys)
            body(key, std::min(blocks.keys, block.key_end - key));
    }
};

/// Holds the softmax state of a block's queries over the keys seen so far.
struct BlockSums {
    at::Tensor values_brd, top_br, total_br;

    /// Replaces scores ÷ unit() by exp(score − top), and adds the exponentials to the sums. Each query sees a
    /// key of its first block (score_blocks.h), so the top is finite from then on.
    void see(const Scores& scores, const at::Tensor& scores_brk) {
        const at::Tensor before_br = top_br;
        top_br = at::maximum(before_br, scores_brk.amax(2).mul_(scores.unit()));
        scores.exponentiate(scores_brk, scores_brk, top_br);
        const at::Tensor shrink_br = at::exp(before_br - top_br);
        total_br.mul_(shrink_br).add_(scores_brk.sum(2));
        values_brd.mul_(shrink_br.unsqueeze(2));
    }
};

struct ForwardCall : Call {
    at::Tensor values, top, total;  ///< run() adds to these
    BlockMemory memory;
    Rounding rounded;

    ForwardCall(const Call& call, const SoftmaxSums& sums)
        : Call(call),
          values(by_heads(sums.values_bhtd)),
          top(by_heads(sums.top_bht)),
          total(by_heads(sums.total_bht)),
          memory(q_bhtd, largest, at::kFloat),
          rounded(q_bhtd, largest) {}

    void run(const QueryBlock& block) {
        const at::Tensor q_brd = gathered(by_heads(q_bhtd), block);
        BlockSums seen{gathered(values, block), gathered(top, block), gathered(total, block)};
        for_keys(block, [&](int64_t key, int64_t count) {
            const at::Tensor scores_brk = memory.block({q_brd.size(0), q_brd.size(1), count});
            scores.compute(scores_brk, q_brd, keys_of(k_bksd, key, count));
            hide(scores_brk, block.mask(key, count), kHidden);
            seen.see(scores, scores_brk);
            product(seen.values_brd, rounded.of(scores_brk), keys_of(v_bksd, key, count), 1, 1);
        });
        scatter(seen.values_brd, values, block);
        scatter(seen.top_br, top, block);
        scatter(seen.total_br, total, block);
    }
};

struct BackwardCall : Call {
    at::Tensor dout, lse, delta;
    at::Tensor dq, dk_bksd, dv_bksd;  ///< run() adds to these
    BlockMemory scores_memory, probabilities_memory, dscores_memory;
    Rounding rounded;
    at::Tensor dkeys;  ///< memory for the gradients of a block's keys

    BackwardCall(const Call& call, const at::Tensor& dout_bhtd, const at::Tensor& lse_bht,
                 const at::Tensor& delta_bht, const at::Tensor& dq_bhtd, const at::Tensor& dk,
                 const at::Tensor& dv)
        : Call(call),
          dout(by_heads(dout_bhtd)),
          lse(by_heads(lse_bht)),
          delta(by_heads(delta_bht)),
          dq(by_heads(dq_bhtd)),
          dk_bksd(dk),
          dv_bksd(dv),
          scores_memory(q_bhtd, largest, at::kFloat),
          probabilities_memory(q_bhtd, largest, at::kFloat),
          dscores_memory(q_bhtd, largest, at::kFloat),
          rounded(q_bhtd, largest),
          dkeys(at::empty({k_bksd.size(0) * key_heads() * largest.keys * k_bksd.size(3)}, dq.options())) {}

    void run(const QueryBlock& block) {
        const at::Tensor q_brd = gathered(by_heads(q_bhtd), block), dout_brd = gathered(dout, block);
        const at::Tensor lse_br = gathered(lse, block), delta_br = gathered(delta, block);
        const at::Tensor dq_brd = gathered(dq, block);
        for_keys(block, [&](int64_t key, int64_t count) {
            const std::array<int64_t, 3> sizes = {q_brd.size(0), q_brd.size(1), count};
            const at::Tensor scores_brk = scores_memory.block(sizes);
            const at::Tensor p_brk = probabilities_memory.block(sizes);
            const at::Tensor dscores_brk = dscores_memory.block(sizes);
            scores.compute(scores_brk, q_brd, keys_of(k_bksd, key, count));
            scores.exponentiate(p_brk, scores_brk, lse_br);
            hide(p_brk, block.mask(key, count), 0);
            add_keys(dv_bksd, key, rounded.of(p_brk), dout_brd, 1);
            product(dscores_brk, dout_brd, keys_of(v_bksd, key, count).transpose(1, 2), 0, 1);
            at::Tensor(dscores_brk).sub_(delta_br.unsqueeze(2)).mul_(p_brk);
            scores.pull(dscores_brk, scores_brk);
            const at::Tensor rounded_brk = rounded.of(dscores_brk);
            add_keys(dk_bksd, key, rounded_brk, q_brd, scores.scale);
            product(dq_brd, rounded_brk, keys_of(k_bksd, key, count), 1, scores.scale);
        });
        scatter(dq_brd, dq, block);
    }

  private:
    /// Adds scale · xᵗ · y to the gradients of the keys from `key` on.
    void add_keys(const at::Tensor& sum_bksd, int64_t key, const at::Tensor& x_brk, const at::Tensor& y_brd,
                  double scale) const {
        const int64_t b = x_brk.size(0), count = x_brk.size(2), D = y_brd.size(2);
        const at::Tensor d_bkd = dkeys.narrow(0, 0, b * count * D).view({b, count, D});
        product(d_bkd, x_brk.transpose(1, 2), y_brd, 0, scale);
        const at::Tensor sum = sum_bksd.narrow(2, key, count);
        sum.add_(d_bkd.view(sum.sizes()));
    }
};

}  // namespace

void score_block_attention_forward(SoftmaxSums& sums, const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                                   const at::Tensor& v_bksd, const std::vector<Slice>& slices,
                                   const ScoreRule& rule, int64_t most_scores) {
    if (slices.empty()) return;
    ForwardCall forward(Call(q_bhtd, k_bksd, v_bksd, slices, rule, most_scores), sums);
    forward.for_each_block([&](const QueryBlock& block) { forward.run(block); });
}

void score_block_attention_forward(SoftmaxSums& sums, const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                                   const at::Tensor& v_bksd, const std::vector<Slice>& slices,
                                   const ScoreRule& rule) {
    score_block_attention_forward(sums, q_bhtd, k_bksd, v_bksd, slices, rule, kMostScores);
}

void score_block_attention_backward(at::Tensor dq_bhtd, at::Tensor dk_bksd, at::Tensor dv_bksd,
                                    const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd,
                                    const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                                    const at::Tensor& lse_bht, const at::Tensor& delta_bht,
                                    const std::vector<Slice>& slices, const ScoreRule& rule,
                                    int64_t most_scores) {
    if (slices.empty()) return;
    BackwardCall backward(Call(q_bhtd, k_bksd, v_bksd, slices, rule, most_scores), dout_bhtd, lse_bht,
                          delta_bht, dq_bhtd, dk_bksd, dv_bksd);
    backward.for_each_block([&](const QueryBlock& block) { backward.run(block); });
}

void score_block_attention_backward(at::Tensor dq_bhtd, at::Tensor dk_bksd, at::Tensor dv_bksd,
                                    const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd,
                                    const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                                    const at::Tensor& lse_bht, const at::Tensor& delta_bht,
                                    const std::vector<Slice>& slices, const ScoreRule& rule) {
    score_block_attention_backward(dq_bhtd, dk_bksd, dv_bksd, dout_bhtd, q_bhtd, k_bksd, v_bksd, lse_bht,
                                   delta_bht, slices, rule, kMostScores);
}

}  // namespace ringmaster
