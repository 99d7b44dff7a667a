#include "engine/attention/partial_attention.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "engine/attention/cuda_flash.h"
#include "engine/attention/score_block_attention.h"

namespace ringmaster {

namespace {

at::Tensor queries_of(const at::Tensor& x_bht, const Slice& slice) {
    return x_bht.narrow(2, slice.query_begin, slice.query_end - slice.query_begin);
}
at::Tensor keys_of(const at::Tensor& x_bks, const Slice& slice) {
    return x_bks.narrow(2, slice.key_begin, slice.key_end - slice.key_begin);
}

FlashOutput reversed(const FlashOutput& x) {
    return {x.out_bhtd.flip(2), x.lse_bht.flip(2)};
}

/// Computes one slice. The triangle at a window's trailing edge is computed as a causal one, in reversed
/// order.
FlashOutput slice_forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, SliceMask mask,
                          const ScoreRule& rule) {
    if (mask != SliceMask::InverseCausal)
        return float_flash_forward(q, k, v, mask == SliceMask::Causal, rule);
    return reversed(float_flash_forward(q.flip(2), k.flip(2), v.flip(2), true, rule));
}

FlashGradients slice_backward(const at::Tensor& dout, const at::Tensor& q, const at::Tensor& k,
                              const at::Tensor& v, const FlashOutput& whole, SliceMask mask,
                              const ScoreRule& rule) {
    if (mask != SliceMask::InverseCausal)
        return float_flash_backward(dout, q, k, v, whole, mask == SliceMask::Causal, rule);
    const FlashGradients d =
        float_flash_backward(dout.flip(2), q.flip(2), k.flip(2), v.flip(2), reversed(whole), true, rule);
    return {d.dq_bhtd.flip(2), d.dk_bksd.flip(2), d.dv_bksd.flip(2)};
}

AttentionFamily family_of(const at::Tensor& q, const ScoreRule& rule) {
    const Device device = q.is_cpu() ? Device::Cpu : Device::Cuda;
    return attention_family(device, q.scalar_type() == at::kFloat, q.size(3), rule.softcap != 0);
}

/// Holds the kernels of a family that keeps float32 sums; null for the other families.
struct SumKernels {
    decltype(&block_attention_forward) forward = nullptr;
    decltype(&block_attention_backward) backward = nullptr;
};
SumKernels sum_kernels(AttentionFamily family) {
    switch (family) {
        case AttentionFamily::OwnBlocks:
            return {block_attention_forward, block_attention_backward};
        case AttentionFamily::ScoreBlocks:
            return {score_block_attention_forward, score_block_attention_backward};
        case AttentionFamily::FlashAttention2:
        case AttentionFamily::Efficient:
            break;
    }
    return {};
}

/// Returns true if the slices are a single square that the float32 kernel takes as it is.
bool is_one_square(const std::vector<Slice>& slices, const at::Tensor& q_bhtd, const at::Tensor& k_bksd) {
    const int64_t queries = q_bhtd.size(2), keys = k_bksd.size(2);
    return slices.size() == 1 && slices[0].mask != SliceMask::InverseCausal &&
           slices[0] == Slice{0, queries, 0, keys, slices[0].mask};
}

/// Returns the dot products of the rows, in float32, one head at a time; the CPU's threads share the heads.
at::Tensor dot_bht(const at::Tensor& x_bhtd, const at::Tensor& y_bhtd) {
    const int64_t B = x_bhtd.size(0), H = x_bhtd.size(1);
    at::Tensor dot = at::empty({B, H, x_bhtd.size(2)}, x_bhtd.options().dtype(at::kFloat));
    const auto of_heads = [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
            const auto of = [&](const at::Tensor& x) { return x.select(0, i / H).select(0, i % H); };
            at::Tensor dot_t = of(dot);
            at::sum_out(dot_t, of(x_bhtd).to(at::kFloat) * of(y_bhtd), {1});
        }
    };
    x_bhtd.is_cpu() ? at::parallel_for(0, B * H, 1, of_heads) : of_heads(0, B * H);
    return dot;
}

}  // namespace

bool makes_gradients(const at::Tensor& k, const ScoreRule& rule, bool one_call) {
    return one_call && family_of(k, rule) == AttentionFamily::FlashAttention2;
}

PartialAttention::PartialAttention(const at::Tensor& q_bhtd, const ScoreRule& rule)
    : q_bhtd_(q_bhtd), rule_(rule), family_(family_of(q_bhtd, rule)) {
    if (keeps_sums(family_)) {
        sums_ = no_keys_seen(q_bhtd);
    } else {
        parts_.emplace(q_bhtd, PartSums::Kind::Outputs);
    }
}

void PartialAttention::add(const at::Tensor& k_bksd, const at::Tensor& v_bksd, const KeyHeads& heads,
                           const std::vector<Slice>& slices) {
    const at::Tensor q = heads.of_queries(q_bhtd_);
    if (const SumKernels kernels = sum_kernels(family_); kernels.forward != nullptr) {
        SoftmaxSums sums{heads.of_queries(sums_.values_bhtd), heads.of_queries(sums_.top_bht),
                         heads.of_queries(sums_.total_bht)};
        return kernels.forward(sums, q, k_bksd, v_bksd, slices, rule_);
    }
    const int64_t first_head = heads.begin * heads.group;
    if (family_ == AttentionFamily::FlashAttention2)
        return packed_forward(cuda_flash_kernel(rule_), {*parts_, first_head}, q, k_bksd, v_bksd, slices);
    for (const Slice& slice : slices) {
        const FlashOutput part = slice_forward(queries_of(q, slice), keys_of(k_bksd, slice),
                                               keys_of(v_bksd, slice), slice.mask, rule_);
        parts_->add({part.out_bhtd.transpose(1, 2), part.lse_bht, slice.query_begin, first_head});
    }
}

FlashOutput PartialAttention::finish() {
    if (parts_) return parts_->finish();
    const auto dtype = q_bhtd_.scalar_type();
    const at::Tensor divisor = sums_.total_bht.masked_fill(sums_.total_bht == 0, 1).unsqueeze(3);
    return {sums_.values_bhtd.div_(divisor).to(dtype), sums_.total_bht.log().add_(sums_.top_bht)};
}

PartialGradients::PartialGradients(const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd,
                                   const FlashOutput& whole, const ScoreRule& rule)
    : dout_bhtd_(dout_bhtd), q_bhtd_(q_bhtd), whole_(whole), rule_(rule), family_(family_of(q_bhtd, rule)) {
    if (!keeps_sums(family_)) {
        parts_.emplace(q_bhtd, PartSums::Kind::Gradients);
        return;
    }
    dq_bhtd_ = no_keys_seen(q_bhtd).values_bhtd;
    delta_bht_ = dot_bht(dout_bhtd, whole.out_bhtd);
}

at::Tensor PartialGradients::finish() {
    if (parts_) return parts_->finish().out_bhtd;
    return dq_bhtd_.is_cpu() ? dq_bhtd_ : dq_bhtd_.to(q_bhtd_.scalar_type());
}

void PartialGradients::add(const at::Tensor& k_bksd, const at::Tensor& v_bksd, const KeyHeads& heads,
                           const std::vector<Slice>& slices, KeyGradients& d) {
    const at::Tensor q = heads.of_queries(q_bhtd_), dout = heads.of_queries(dout_bhtd_);
    const at::Tensor lse = heads.of_queries(whole_.lse_bht), out = heads.of_queries(whole_.out_bhtd);
    const int64_t first_head = heads.begin * heads.group;
    if (family_ == AttentionFamily::FlashAttention2)
        return packed_backward(cuda_flash_kernel(rule_), {*parts_, first_head}, d, dout, q, k_bksd, v_bksd,
                               {out, lse}, slices);
    if (d.begin) {
        d.dk_bksd.zero_();
        d.dv_bksd.zero_();
    }
    if (const SumKernels kernels = sum_kernels(family_); kernels.backward != nullptr)
        return kernels.backward(heads.of_queries(dq_bhtd_), d.dk_bksd, d.dv_bksd, dout, q, k_bksd, v_bksd,
                                lse, heads.of_queries(delta_bht_), slices, rule_);
    for (const Slice& slice : slices) {
        const FlashGradients part = slice_backward(
            queries_of(dout, slice), queries_of(q, slice), keys_of(k_bksd, slice), keys_of(v_bksd, slice),
            {queries_of(out, slice), queries_of(lse, slice)}, slice.mask, rule_);
        parts_->add({part.dq_bhtd.transpose(1, 2), {}, slice.query_begin, first_head});
        keys_of(d.dk_bksd, slice).add_(part.dk_bksd);
        keys_of(d.dv_bksd, slice).add_(part.dv_bksd);
    }
}

std::optional<FlashOutput> attention_in_one_call(const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                                                 const at::Tensor& v_bksd, const std::vector<Slice>& slices,
                                                 const ScoreRule& rule) {
    const AttentionFamily family = family_of(q_bhtd, rule);
    if (keeps_sums(family)) return {};
    if (family == AttentionFamily::FlashAttention2)
        return one_call_forward(cuda_flash_kernel(rule), q_bhtd, k_bksd, v_bksd, slices);
    if (!is_one_square(slices, q_bhtd, k_bksd)) return {};
    return float_flash_forward(q_bhtd, k_bksd, v_bksd, slices[0].mask == SliceMask::Causal, rule);
}

std::optional<FlashGradients> gradients_in_one_call(const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd,
                                                    const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                                                    const FlashOutput& whole,
                                                    const std::vector<Slice>& slices, const ScoreRule& rule) {
    const AttentionFamily family = family_of(q_bhtd, rule);
    if (keeps_sums(family)) return {};
    if (family == AttentionFamily::FlashAttention2)
        return one_call_backward(cuda_flash_kernel(rule), dout_bhtd, q_bhtd, k_bksd, v_bksd, whole, slices,
                                 true);
    if (!is_one_square(slices, q_bhtd, k_bksd)) return {};
    return float_flash_backward(dout_bhtd, q_bhtd, k_bksd, v_bksd, whole, slices[0].mask == SliceMask::Causal,
                                rule);
}

}  // namespace ringmaster
