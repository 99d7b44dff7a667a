// Tests how our CUDA kernels are launched, on the host: which rows a grid takes, and what is computed for
// rows beyond 2^31 elements. Defines ringmaster_launch_rows for own_ops_test.cpp.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <new>

#include "engine/kernels/row_kernels.cu"
#include "tests/support/rows_on_host.h"

namespace ringmaster {
namespace {

/// Counts the rows that each warp takes; the first lane of a row does the counting.
template <LanesOfRow lanes_of_row>
struct Counting {
    static constexpr LanesOfRow kLanes = lanes_of_row;
    int64_t rows;
    struct Taken {
        int64_t count = 0, largest = -1, sum = 0;
    };
    Taken* of_warps;  ///< kWarps entries for each block

    template <typename Lanes>
    void row(Lanes& lanes, int64_t r) const {
        if (lanes.index() != 0) return;
        Taken& taken = of_warps[blockIdx.x * kWarps + threadIdx.x / kWarp];
        ++taken.count;
        taken.largest = std::max(taken.largest, r);
        taken.sum += r;
    }
};

template <LanesOfRow lanes>
int64_t blocks_of(int64_t rows) {
    return std::min(lanes == LanesOfRow::Warp ? (rows + kWarps - 1) / kWarps : rows, kMostBlocks);
}

template <LanesOfRow lanes>
void expect_every_row_once() {
    for (const int64_t rows : {1, 7, 8, 9, 33}) {
        std::vector<typename Counting<lanes>::Taken> taken(
            static_cast<size_t>(blocks_of<lanes>(rows) * kWarps));
        launch(Counting<lanes>{rows, taken.data()}, nullptr);
        int64_t count = 0, sum = 0;
        for (const auto& one : taken) {
            count += one.count;
            sum += one.sum;
        }
        EXPECT_EQ(count, rows);
        EXPECT_EQ(sum, rows * (rows - 1) / 2);
    }
}

TEST(RowLaunch, TakesEveryRowOnce) {
    expect_every_row_once<LanesOfRow::Warp>();
    expect_every_row_once<LanesOfRow::Block>();
}

/// Tests some blocks of a full grid over more than 2^31 rows: a block takes the rows with its index modulo
/// the grid.
TEST(RowLaunch, TakesRowsBeyondTwoToTheThirtyFirst) {
    constexpr int64_t kRows = (int64_t{1} << 31) + 5;
    cuda_on_host::blocks_to_run = {0, 4, 5, static_cast<unsigned>(kMostBlocks) - 1};
    using ByBlock = Counting<LanesOfRow::Block>;
    std::vector<ByBlock::Taken> taken(static_cast<size_t>(kMostBlocks * kWarps));
    launch(ByBlock{kRows, taken.data()}, nullptr);
    for (const int64_t block : cuda_on_host::blocks_to_run) {
        const auto& one = taken[static_cast<size_t>(block * kWarps)];
        const int64_t count = (kRows - block + kMostBlocks - 1) / kMostBlocks;
        EXPECT_EQ(one.count, count) << block;
        EXPECT_EQ(one.largest, block + (count - 1) * kMostBlocks) << block;
    }
    std::fill(taken.begin(), taken.end(), ByBlock::Taken());
    using ByWarp = Counting<LanesOfRow::Warp>;
    std::vector<ByWarp::Taken> of_warps(static_cast<size_t>(kMostBlocks * kWarps));
    launch(ByWarp{kRows, of_warps.data()}, nullptr);
    for (const int64_t block : cuda_on_host::blocks_to_run) {
        for (int64_t warp = 0; warp < kWarps; ++warp) {
            const auto& one = of_warps[static_cast<size_t>(block * kWarps + warp)];
            const int64_t first = block * kWarps + warp, step = kMostBlocks * kWarps;
            const int64_t count = (kRows - first + step - 1) / step;
            EXPECT_EQ(one.count, count) << first;
            EXPECT_EQ(one.largest, first + (count - 1) * step) << first;
        }
    }
    cuda_on_host::blocks_to_run.clear();
}

/// Reserves addresses for `count` elements; only pages that are written take memory.
template <typename T>
class Vast {
  public:
    explicit Vast(int64_t count) : bytes_(static_cast<size_t>(count) * sizeof(T)) {
        void* at =
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED) throw std::bad_alloc();
        at_ = static_cast<T*>(at);
    }
    Vast(const Vast&) = delete;
    Vast& operator=(const Vast&) = delete;
    ~Vast() { munmap(at_, bytes_); }
    T* begin() const { return at_; }

  private:
    size_t bytes_;
    T* at_ = nullptr;
};

template <typename T>
T element(int64_t i) {
    T value{};
    row_kernels::store(value, static_cast<float>((i * 37 + 11) % 101) / 25.0F - 2.0F);
    return value;
}

constexpr int64_t kWidth = 4096,
                  kLast = (int64_t{1} << 31) / kWidth + 1;  ///< row whose first element is beyond 2^31
static_assert(kLast * kWidth > (int64_t{1} << 31));

/// Holds one row of `width` elements twice: as the last row of a huge array, and alone.
template <typename T>
class Row {
  public:
    explicit Row(int64_t width = kWidth)
        : width_(width), vast_((kLast + 1) * width), alone_(new T[static_cast<size_t>(width)]) {
        for (int64_t i = 0; i < width; ++i)
            alone_[static_cast<size_t>(i)] = vast_.begin()[kLast * width + i] = element<T>(i);
    }
    T* vast() const { return vast_.begin(); }
    T* alone() const { return alone_.get(); }
    void expect_the_same(const char* what) const {
        EXPECT_EQ(std::memcmp(vast() + kLast * width_, alone(), static_cast<size_t>(width_) * sizeof(T)), 0)
            << what;
        EXPECT_EQ(std::memcmp(vast(), Vast<T>(width_).begin(), static_cast<size_t>(width_) * sizeof(T)), 0)
            << what << ": row 0";
    }

  private:
    int64_t width_;
    Vast<T> vast_;
    std::unique_ptr<T[]> alone_;
};

template <typename Kernel>
void run_row(const Kernel& kernel, int64_t r) {
    HostLanes::Shared shared(1);
    HostLanes lane(shared, 0);
    kernel.row(lane, r);
}

template <typename T>
void expect_far_norms_as_near_ones(bool centred) {
    const Row<T> x, dy, weight(kWidth), y, dx;
    const Row<float> stats(centred ? 2 : 1);
    const T* bias = centred ? weight.alone() : nullptr;
    run_row(NormForward<T>{kLast + 1, kWidth, kWidth, kWidth, x.vast(), weight.alone(), y.vast(),
                           stats.vast(), 1e-5F, false, 0, centred, bias},
            kLast);
    run_row(NormForward<T>{1, kWidth, kWidth, kWidth, x.alone(), weight.alone(), y.alone(), stats.alone(),
                           1e-5F, false, 0, centred, bias},
            0);
    y.expect_the_same("norm");
    stats.expect_the_same("stats");
    for (const bool adds : {false, true}) {
        run_row(NormBackwardInput<T>{kLast + 1, kWidth, kWidth, kWidth, kWidth, dy.vast(), x.vast(),
                                     weight.alone(), stats.vast(), dx.vast(), adds, 0, centred},
                kLast);
        run_row(NormBackwardInput<T>{1, kWidth, kWidth, kWidth, kWidth, dy.alone(), x.alone(), weight.alone(),
                                     stats.alone(), dx.alone(), adds, 0, centred},
                0);
        dx.expect_the_same("dx");
    }
    const Row<float> partial(centred ? 2 * kWidth : kWidth);  // a chunk of one token
    constexpr int64_t kBlocks = kWidth / NormBackwardWeight<T>::kColumns;
    for (int64_t columns = 0; columns < kBlocks; ++columns) {
        run_row(NormBackwardWeight<T>{(kLast + 1) * kBlocks, kLast + 1, kWidth, 1, kWidth, kWidth, dy.vast(),
                                      x.vast(), stats.vast(), partial.vast(), centred, centred},
                kLast * kBlocks + columns);
        run_row(NormBackwardWeight<T>{kBlocks, 1, kWidth, 1, kWidth, kWidth, dy.alone(), x.alone(),
                                      stats.alone(), partial.alone(), centred, centred},
                columns);
    }
    partial.expect_the_same("dparameters");
}

template <typename T>
void expect_far_rows_as_near_ones() {
    expect_far_norms_as_near_ones<T>(false);
    expect_far_norms_as_near_ones<T>(true);

    const Row<T> x, qkv, gate_up(2 * kWidth), act, dact, logits;
    const Row<float> loss(1);
    const Row<float> cos(64), sin(64);
    run_row(Rope<T>{kLast + 1, kLast + 1, 24, 128, kWidth, qkv.vast(), cos.vast(), sin.vast(), -1.0F}, kLast);
    run_row(Rope<T>{1, 1, 24, 128, kWidth, qkv.alone(), cos.alone(), sin.alone(), -1.0F}, 0);
    qkv.expect_the_same("rope");
    run_row(
        Rope<T>{kLast + 1, kLast + 1, 24, 128, kWidth, qkv.vast(), cos.vast(), sin.vast(), 1.0F, 64, true},
        kLast);
    run_row(Rope<T>{1, 1, 24, 128, kWidth, qkv.alone(), cos.alone(), sin.alone(), 1.0F, 64, true}, 0);
    qkv.expect_the_same("rope of neighbours");
    run_row(GateForward<T>{kLast + 1, kWidth, gate_up.vast(), act.vast()}, kLast);
    run_row(GateForward<T>{1, kWidth, gate_up.alone(), act.alone()}, 0);
    act.expect_the_same("swiglu");
    run_row(GateBackward<T>{kLast + 1, kWidth, gate_up.vast(), act.vast(), dact.vast()}, kLast);
    run_row(GateBackward<T>{1, kWidth, gate_up.alone(), act.alone(), dact.alone()}, 0);
    gate_up.expect_the_same("dgate_up");
    constexpr GateRule kNoGate{Activation::Gelu, false};
    run_row(GateForward<T>{kLast + 1, kWidth, x.vast(), act.vast(), kNoGate}, kLast);
    run_row(GateForward<T>{1, kWidth, x.alone(), act.alone(), kNoGate}, 0);
    act.expect_the_same("gelu");

    const Vast<int64_t> labels(kLast + 1);
    labels.begin()[kLast] = 77;
    int64_t label = 77;
    run_row(CrossEntropy<T>{kLast + 1, kWidth, logits.vast(), labels.begin(), loss.vast(), 0.25F}, kLast);
    run_row(CrossEntropy<T>{1, kWidth, logits.alone(), &label, loss.alone(), 0.25F}, 0);
    logits.expect_the_same("dlogits");
    loss.expect_the_same("loss");

    const Row<float> out, lse(32);  // tokens with 32 heads of 128
    const Row<T> block_out;
    const Row<float> block_lse(32);
    constexpr HeadStrides kOut{0, kWidth, 128}, kLse{0, 32, 1};
    const Row<T> whole;
    for (const bool to_whole : {false, true}) {
        const auto join = [&](int64_t tokens, float* to, float* of, T* rounded, const T* part,
                              const float* part_lse) {
            const int64_t first = tokens - 1;  // the part covers the last token
            return JoinParts<T>{tokens * 32,
                                static_cast<int32_t>(tokens),
                                32,
                                128,
                                to,
                                of,
                                false,
                                to_whole ? rounded : nullptr,
                                kOut,
                                kLse,
                                kOut,
                                1,
                                {{part + first * kWidth, part_lse + first * 32, kOut, kLse,
                                  static_cast<int32_t>(first), 1, 0, 32}}};
        };
        for (int64_t head = 0; head < 32; ++head) {
            run_row(join(kLast + 1, out.vast(), lse.vast(), whole.vast(), block_out.vast(), block_lse.vast()),
                    kLast * 32 + head);
            run_row(join(1, out.alone(), lse.alone(), whole.alone(), block_out.alone(), block_lse.alone()),
                    head);
        }
    }
    out.expect_the_same("merge");
    lse.expect_the_same("lse");
    whole.expect_the_same("the rounded merge");
}

TEST(RowKernels, ComputeRowsBeyondTwoToTheThirtyFirstElementsAsNearOnes) {
    expect_far_rows_as_near_ones<float>();
    expect_far_rows_as_near_ones<Bf16>();
    expect_far_rows_as_near_ones<Fp16>();
}

}  // namespace
}  // namespace ringmaster
