// Tests float32 attention by LibTorch's memory-efficient kernel, with a CPU twin that refuses the same inputs
// as the kernel.
#include <gtest/gtest.h>

#include "engine/attention/cuda_flash.h"
#include "tests/attention/full_attention.h"
#include "tests/support/library_twins.h"

namespace ringmaster {
namespace {

at::Tensor in_a_slab(int64_t tokens, int64_t heads) {
    return at::randn({2, tokens, heads + 3, 16}).narrow(2, 1, heads).transpose(1, 2);
}

void expect_float_attention(int64_t queries, int64_t keys, bool causal) {
    const at::Tensor q = in_a_slab(queries, 4), dout = in_a_slab(queries, 4), k = in_a_slab(keys, 2),
                     v = in_a_slab(keys, 2);
    const auto tokens_first = [](const at::Tensor& x) { return x.transpose(1, 2); };
    const FullAttention truth =
        full_attention(tokens_first(q), tokens_first(k), tokens_first(v), tokens_first(dout),
                       causal ? causal_hidden(queries) : nothing_hidden(queries, keys));
    const FlashOutput whole = float_flash_forward(q, k, v, causal);
    const FlashGradients d = float_flash_backward(dout, q, k, v, whole, causal);
    const double bound = bound_of(at::kFloat);
    EXPECT_EQ(whole.lse_bht.sizes(), truth.lse_bht.sizes());
    EXPECT_LE(relative_error(tokens_first(whole.out_bhtd), truth.out_bthd), bound);
    EXPECT_LE(relative_error(whole.lse_bht, truth.lse_bht), bound);
    EXPECT_LE(relative_error(tokens_first(d.dq_bhtd), truth.dq_bthd), bound);
    EXPECT_LE(relative_error(tokens_first(d.dk_bksd), truth.dk_bskd), bound);
    EXPECT_LE(relative_error(tokens_first(d.dv_bksd), truth.dv_bskd), bound);
}

// The kernel pads its log-sum-exps to multiples of 32.
TEST(EfficientAttention, TakesAnyLengthAndGroupedHeads) {
    twins::install();
    at::manual_seed(9);
    for (const int64_t tokens : {1, 31, 32, 33, 100}) expect_float_attention(tokens, tokens, true);
    expect_float_attention(33, 70, false);
    expect_float_attention(64, 5, false);
}

// Without this refusal, a model that caps its scores would be trained without the cap.
TEST(LibraryKernels, RefuseToIgnoreACapOfScores) {
    twins::install();
    const at::Tensor x = in_a_slab(8, 2);
    const ScoreRule capped{0, 50};
    EXPECT_THROW(cuda_flash_kernel(capped), c10::Error);
    EXPECT_THROW(float_flash_forward(x, x, x, true, capped), c10::Error);
    const FlashOutput whole = float_flash_forward(x, x, x, true);
    EXPECT_THROW(float_flash_backward(x, x, x, x, whole, true, capped), c10::Error);
}

}  // namespace
}  // namespace ringmaster
