// Compares FlashAttention-2's calls (forward, backward and joined) with float64, for the slice sets of whole
// runs. By default a CPU twin replaces the kernels and leaves NaN wherever CUDA's kernels leave memory
// unwritten. Under the label gpu the test runs CUDA's kernels in memory that held NaN before.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "engine/attention/packed_attention.h"
#include "engine/comm/backends.h"
#include "tests/attention/slice_set_checks.h"
#include "tests/support/flash_twin.h"
#include "tests/support/gpu.h"

namespace ringmaster {
namespace {

/// Joins the slices' results as the hops of a ring do.
Result joined(const FlashKernel& kernel, const Sequence& x, const std::vector<Slice>& slices) {
    PartSums out(x.q, PartSums::Kind::Outputs), dq(x.q, PartSums::Kind::Gradients);
    packed_forward(kernel, {out}, x.q, x.k, x.v, slices);
    const auto unwritten = [](const at::Tensor& t) { return at::full_like(t, NAN, at::kFloat); };
    const FlashOutput whole = out.finish();
    KeyGradients keys;  // undefined if one call computes all slices, because that call sets them
    if (!is_one_call(slices)) keys = {unwritten(x.k), unwritten(x.v), true};
    packed_backward(kernel, {dq}, keys, x.dout, x.q, x.k, x.v, whole, slices);
    return {whole, {dq.finish().out_bhtd, keys.dk_bksd, keys.dv_bksd}};
}

void check(const FlashKernel& kernel, const SliceSet& set, const Shape& shape,
           const at::TensorOptions& options) {
    const Sequence x(set, shape, options);
    const auto tokens_first = [](const at::Tensor& t) { return t.transpose(1, 2); };
    const FullAttention truth = full_attention(tokens_first(x.q), tokens_first(x.k), tokens_first(x.v),
                                               tokens_first(x.dout), hidden_by(set).to(x.q.device()));
    const double bound = bound_of(x.q.scalar_type());
    expect_equal(joined(kernel, x, set.slices), truth, bound, set.name);
    const auto whole = one_call_forward(kernel, x.q, x.k, x.v, set.slices);
    if (!whole) return;
    const auto d = one_call_backward(kernel, x.dout, x.q, x.k, x.v, *whole, set.slices);
    ASSERT_TRUE(d.has_value()) << set.name;
    expect_equal({*whole, *d}, truth, bound, set.name + ", in one call");
}

/// Checks the CPU twin of a device that has `multiprocessors` multiprocessors.
void check_twin(const SliceSet& set, const Shape& shape, int64_t multiprocessors) {
    FlashTwin twin;
    FlashKernel kernel = twin.kernel();
    kernel.multiprocessors = [=](const at::Tensor&) { return multiprocessors; };
    check(kernel, set, shape, at::TensorOptions(at::kFloat));
}

TEST(FlashSweep, IsFloat64sAttention) {
    at::set_num_threads(1);
    at::manual_seed(1);
    SliceSets sets(1);
    for (int done = 0, seen = 0, run = 0; done < 320 && !HasFailure(); ++run) {
        for (const SliceSet& set : sets.next(run % 4 == 3 ? 1536 : 1024)) {
            if (seen++ % 7 != 0) continue;
            check_twin(set, {1, 1}, 0);
            ++done;
        }
    }
}

// Heads and long documents run in separate launches, as on a GPU with 132 multiprocessors.
TEST(FlashSweep, IsFloat64sAttentionInSeveralLaunches) {
    at::set_num_threads(1);
    at::manual_seed(2);
    SliceSets sets(2);
    for (int done = 0, seen = 0; done < 12;) {
        for (const SliceSet& set : sets.next(1024)) {
            if (seen++ % 31 != 0) continue;
            check_twin(set, {4, 2}, done % 2 == 0 ? 132 : 12);
            ++done;
        }
    }
}

/// Fills small and large blocks of device memory with NaN and frees them, so that the allocator hands them
/// out again.
void leave_nan(at::Device device) {
    std::vector<at::Tensor> blocks = {at::full({int64_t{128} << 20}, NAN, device)};
    for (int i = 0; i < 64; ++i) blocks.push_back(at::full({int64_t{1} << 16}, NAN, device));
}

TEST(FlashSweepGpu, IsFloat64sAttentionOnADevice) {
    ASSERT_TRUE(has_gpu());
    load_cuda(0);
    const at::Device device(at::kCUDA, 0);
    at::manual_seed(3);
    SliceSets sets(3);
    const Shape shapes[] = {{2, 2, 64}, {1, 4, 128}, {2, 1, 96}, {1, 1, 256}};
    for (int done = 0, seen = 0; done < 240 && !::testing::Test::HasFailure();) {
        for (const SliceSet& set : sets.next(1024)) {
            if (seen++ % 7 != 0) continue;
            leave_nan(device);
            check(cuda_flash_kernel(), set, shapes[done % std::size(shapes)],
                  at::TensorOptions(device).dtype(at::kBFloat16));
            ++done;
        }
    }
}

TEST(FlashSweep, ExhaustiveIsFloat64sAttention) {
    at::set_num_threads(1);
    at::manual_seed(kSweepSeed);
    SliceSets(kSweepSeed).sweep(kSweptSets, [](const SliceSet& set, int) {
        if (!HasFailure()) check_twin(set, {1, 1}, 0);
    });
}

}  // namespace
}  // namespace ringmaster
