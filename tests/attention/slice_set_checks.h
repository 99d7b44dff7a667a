/// Compares attention over the slice sets of whole runs (flash_cases.h) with float64.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "engine/attention/flash_tensors.h"
#include "tests/attention/full_attention.h"
#include "tests/support/flash_cases.h"

namespace ringmaster {

struct Shape {
    int64_t key_heads, group, head_dim = 8;
};

struct Sequence {
    at::Tensor q, dout, k, v;  // [1, heads, T or S, head_dim]

    Sequence(const SliceSet& set, const Shape& shape, const at::TensorOptions& options) {
        const auto random = [&](int64_t heads, int64_t tokens) {
            return at::randn({1, tokens, heads, shape.head_dim}).to(options).transpose(1, 2);
        };
        const auto& [key_heads, group, head_dim] = shape;
        q = random(key_heads * group, set.queries);
        dout = random(key_heads * group, set.queries);
        k = random(key_heads, set.keys);
        v = random(key_heads, set.keys);
    }
};

inline at::Tensor hidden_by(const SliceSet& set) {
    at::Tensor hidden = at::ones({set.queries, set.keys}, at::kBool);
    for (const Slice& it : set.slices) {
        at::Tensor part = hidden.narrow(0, it.query_begin, it.query_end - it.query_begin)
                              .narrow(1, it.key_begin, it.key_end - it.key_begin);
        const at::Tensor seen = at::ones_like(part);
        part.logical_and_((it.mask == SliceMask::Full     ? seen
                           : it.mask == SliceMask::Causal ? seen.tril()
                                                          : seen.triu())
                              .logical_not());
    }
    return hidden;
}

/// Expects the largest difference, relative to the largest value, to be at most `bound`. In bfloat16, the
/// norm of the difference relative to the norm of the values must be at most bound / 4, so that one large
/// value cannot hide a lost key.
inline void expect_close(const at::Tensor& ours, const at::Tensor& truth, double bound,
                         const std::string& what) {
    const at::Tensor differences = ours.to(at::kDouble) - truth;
    const double largest = std::max(truth.abs().max().item<double>(), 1e-3);
    EXPECT_LE(differences.abs().max().item<double>(), bound * largest) << what;  // false for a NaN
    if (bound == bound_of(at::kBFloat16)) {
        EXPECT_LE(differences.norm().item<double>(), bound / 4 * std::max(truth.norm().item<double>(), 0.1))
            << what;
    }
    EXPECT_FALSE(at::isnan(ours).any().item<bool>()) << what;
}

struct Result {
    FlashOutput whole;
    FlashGradients d;
};

inline void expect_equal(const Result& ours, const FullAttention& truth, double bound,
                         const std::string& what) {
    const auto heads_first = [](const at::Tensor& x) { return x.transpose(1, 2); };
    expect_close(ours.whole.out_bhtd, heads_first(truth.out_bthd), bound, what + ": out");
    EXPECT_TRUE(at::equal(at::isneginf(ours.whole.lse_bht), at::isneginf(truth.lse_bht))) << what;
    const auto finite = [](const at::Tensor& x) { return x.masked_fill(at::isneginf(x), 0); };
    expect_close(finite(ours.whole.lse_bht), finite(truth.lse_bht), bound, what + ": lse");
    expect_close(ours.d.dq_bhtd, heads_first(truth.dq_bthd), bound, what + ": dq");
    expect_close(ours.d.dk_bksd, heads_first(truth.dk_bskd), bound, what + ": dk");
    expect_close(ours.d.dv_bksd, heads_first(truth.dv_bskd), bound, what + ": dv");
}

}  // namespace ringmaster
