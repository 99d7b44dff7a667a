// Compares each of our CUDA kernels, run with as many threads as CUDA uses, with a single lane that does
// everything. No other library takes part, so ThreadSanitizer and AddressSanitizer (presets tsan and asan)
// see every access, even beyond the end of a kernel's memory.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/support/rows_on_host.h"

namespace ringmaster {
namespace {

constexpr int64_t kRows = 3;

template <typename T>
std::vector<T> numbers(int64_t count, int64_t seed) {
    std::vector<T> made(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i)
        row_kernels::store(made[static_cast<size_t>(i)],
                           static_cast<float>((i * 37 + seed * 17) % 101) / 25.0F - 2.0F);
    return made;
}

/// Holds the memory that a kernel reads and writes.
template <typename T>
struct Memory {
    std::vector<T> a, b, c, d;
    std::vector<float> f, g;
    std::vector<int64_t> labels;
};

template <typename T>
void expect_near(const std::vector<T>& ours, const std::vector<T>& truth, const char* what, int64_t width) {
    const float bound = sizeof(T) == 4 ? 1e-4F : 3e-2F;
    for (size_t i = 0; i < truth.size(); ++i) {
        const float a = row_kernels::load(ours[i]), b = row_kernels::load(truth[i]);
        if (a == b) continue;  // both may be infinite
        ASSERT_LE(std::fabs(a - b), bound * std::max(1.0F, std::fabs(b)))
            << what << " of width " << width << " at " << i;
    }
}

template <typename T>
void expect_as_one_lane(const char* what, int64_t width, const Memory<T>& memory,
                        const std::function<RowKernel(Memory<T>&)>& kernel) {
    Memory<T> launched = memory, alone = memory;
    run_rows_on_host(kernel(launched), kAsLaunched);
    run_rows_on_host(kernel(alone), 1);
    expect_near(launched.a, alone.a, what, width);
    expect_near(launched.b, alone.b, what, width);
    expect_near(launched.c, alone.c, what, width);
    expect_near(launched.d, alone.d, what, width);
    expect_near(launched.f, alone.f, what, width);
    expect_near(launched.g, alone.g, what, width);
}

template <typename T>
void norms(int64_t width, bool other, bool centred) {
    const int64_t count = kRows * width;
    const Memory<T> memory{numbers<T>(count, 1),
                           numbers<T>(count, 2),
                           numbers<T>(count, 3),
                           numbers<T>(2 * width, 4),
                           std::vector<float>(2 * kRows, 0.75F),
                           std::vector<float>(static_cast<size_t>(4 * width)),
                           {}};
    expect_as_one_lane<T>("norm", width, memory, [&](Memory<T>& m) {
        return NormForward<T>{kRows,
                              width,
                              width,
                              width,
                              m.a.data(),
                              m.d.data(),
                              m.b.data(),
                              m.f.data(),
                              1e-5F,
                              other,
                              1.0F,
                              centred,
                              centred ? m.d.data() + width : nullptr};
    });
    expect_as_one_lane<T>("its input's gradient", width, memory, [&](Memory<T>& m) {
        return NormBackwardInput<T>{kRows,      width,      width,      width, width, m.a.data(), m.b.data(),
                                    m.d.data(), m.f.data(), m.c.data(), other, 1.0F,  centred};
    });
    expect_as_one_lane<T>("its parameters' gradient", width, memory, [&](Memory<T>& m) {
        constexpr int64_t kChunk = 2;
        return NormBackwardWeight<T>{2 * NormBackwardWeight<T>::column_blocks(width),
                                     kRows,
                                     width,
                                     kChunk,
                                     width,
                                     width,
                                     m.a.data(),
                                     m.b.data(),
                                     m.f.data(),
                                     m.g.data(),
                                     centred,
                                     centred && other};
    });
}

template <typename T>
void rotations(int64_t width, bool other) {
    constexpr int64_t kHeads = 2;
    const Memory<T> memory{numbers<T>(kRows * kHeads * 2 * width, 1),
                           {},
                           {},
                           {},
                           numbers<float>(2 * width, 2),
                           numbers<float>(2 * width, 3),
                           {}};
    expect_as_one_lane<T>("rope", width, memory, [&](Memory<T>& m) {
        return Rope<T>{kRows,      2,     kHeads, 2 * width, kHeads * 2 * width, m.a.data(), m.f.data(),
                       m.g.data(), -1.0F, width,  other};
    });
}

template <typename T>
void gates(int64_t width, const GateRule& rule) {
    const int64_t count = kRows * width;
    const Memory<T> memory{numbers<T>(count * (rule.gated ? 2 : 1), 1),
                           numbers<T>(count, 2),
                           numbers<T>(count, 3),
                           {},
                           {},
                           {},
                           {}};
    expect_as_one_lane<T>("gate", width, memory, [&](Memory<T>& m) {
        return GateForward<T>{kRows, width, m.a.data(), m.b.data(), rule};
    });
    expect_as_one_lane<T>("gate_backward", width, memory, [&](Memory<T>& m) {
        return GateBackward<T>{kRows, width, m.a.data(), m.b.data(), m.c.data(), rule};
    });
}

template <typename T>
void cross_entropies(int64_t width) {
    const Memory<T> memory{numbers<T>(kRows * width, 1), {}, {}, {}, std::vector<float>(kRows), {},
                           {0, width - 1, width / 2}};
    expect_as_one_lane<T>("cross_entropy", width, memory, [&](Memory<T>& m) {
        return CrossEntropy<T>{kRows, width, m.a.data(), m.labels.data(), m.f.data(), 0.25F};
    });
}

/// Returns a join of JoinParts<T>::kMost parts of dtype T to float32 sums. The first part covers all rows;
/// the others cover fewer.
template <typename T>
JoinParts<T> join_of(Memory<T>& m, int64_t width, bool begins, bool to_whole, bool weighed) {
    constexpr int32_t kTokens = 5, kHeads = 2, kOfRows = kTokens * kHeads;
    constexpr HeadStrides kLse{kOfRows, 1, kTokens};
    const auto width_32 = static_cast<int32_t>(width);
    const HeadStrides strides{kOfRows * width, kHeads * width_32, width_32};
    JoinParts<T> it{kOfRows,    kTokens,
                    kHeads,     width,
                    m.f.data(), weighed ? m.g.data() : nullptr,
                    begins,     to_whole ? m.b.data() : nullptr,
                    strides,    kLse,
                    strides,    JoinParts<T>::kMost,
                    {}};
    for (int32_t p = 0; p < JoinParts<T>::kMost; ++p) {
        const int32_t first = p % kTokens;
        it.parts[p] = {
            m.a.data() + p * width, m.g.data() + kOfRows + p, strides, kLse, first, kTokens - first, p % 2,
            kHeads - p % 2};
    }
    return it;
}

template <typename T>
void merges(int64_t width) {
    constexpr int64_t kOfRows = 10, kMost = JoinParts<T>::kMost;
    Memory<T> memory{numbers<T>((kOfRows + kMost) * width, 1), numbers<T>(kOfRows * width, 2),         {}, {},
                     numbers<float>(kOfRows * width, 2),       numbers<float>(2 * kOfRows + kMost, 3), {}};
    memory.g[0] = memory.g[kOfRows] = -INFINITY;  // no key was seen
    for (const bool begins : {false, true}) {
        for (const bool to_whole : {false, true}) {
            for (const bool weighed : {false, true})
                expect_as_one_lane<T>("merge", width, memory, [&](Memory<T>& m) {
                    return join_of(m, width, begins, to_whole, weighed);
                });
        }
    }
}

template <typename T>
class RowLanes : public ::testing::Test {};
using Elements = ::testing::Types<float, Bf16, Fp16>;
TYPED_TEST_SUITE(RowLanes, Elements);

template <typename T>
void expect_every_kernel(int64_t width) {
    const bool other = width % 2 == 0;  // selects a variant of each kernel: adding, neighbours, gates
    for (const bool centred : {false, true}) norms<T>(width, other, centred);
    rotations<T>(width, other);
    gates<T>(width, {other ? Activation::Silu : Activation::Gelu, other});
    GateRule clamped;
    clamped.limit = 1;
    gates<T>(width, clamped);
    cross_entropies<T>(width);
    merges<T>(width);
}

TYPED_TEST(RowLanes, OfEveryKernelComputeWhatOneLaneDoes) {
    expect_every_kernel<TypeParam>(33);
}

TYPED_TEST(RowLanes, ExhaustiveOfEveryKernelAndSizeComputeWhatOneLaneDoes) {
    for (const int64_t width : kEdgeSizes) expect_every_kernel<TypeParam>(width);
}

}  // namespace
}  // namespace ringmaster
