/// Implements the part of CUDA's runtime and language that row_kernels.cu uses, on the host: one thread per
/// thread of a block, the blocks of a launch one after the other. A missing barrier is a race that
/// ThreadSanitizer finds; a barrier that only some threads reach hangs.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#define __device__
#define __host__
#define __global__
#define __launch_bounds__(...)
#define __shared__ static  // one block runs at a time

struct dim3 {
    unsigned x = 1, y = 1, z = 1;
    dim3(unsigned x_) : x(x_) {}  // NOLINT: converts, as CUDA's does
};

using cudaStream_t = void*;
enum cudaError_t { cudaSuccess };
inline const char* cudaGetErrorString(cudaError_t) {
    return "";
}

namespace cuda_on_host {

constexpr unsigned kWarp = 32;

/// Makes threads wait for each other. std::barrier is slow with more threads than processors. std::atomic's
/// wait orders all threads whose atomics share a waiter pool, which hides races from ThreadSanitizer.
class Barrier {
  public:
    explicit Barrier(unsigned threads) : threads_(threads) {}

    void arrive_and_wait() {
        const unsigned round = round_;
        if (++arrived_ < threads_) {
            while (round_ == round) futex(FUTEX_WAIT_PRIVATE, round);
            return;
        }
        arrived_ = 0;
        ++round_;
        futex(FUTEX_WAKE_PRIVATE, threads_);
    }

  private:
    void futex(int what, unsigned value) { syscall(SYS_futex, &round_, what, value, nullptr, nullptr, 0); }

    const unsigned threads_;
    std::atomic<unsigned> arrived_ = 0, round_ = 0;
};
static_assert(sizeof(std::atomic<unsigned>) == sizeof(unsigned));  // futex() expects a plain number

/// Holds the state that the threads of a block share.
struct Block {
    struct Warp {
        Barrier met{kWarp};
        /// Lanes use the two buffers in turn, so a lane that is one exchange ahead writes to the other
        /// buffer.
        std::array<std::array<uint64_t, kWarp>, 2> values{};
    };

    explicit Block(unsigned threads) : met(threads) {
        for (unsigned i = 0; i < threads / kWarp; ++i) warps.push_back(std::make_unique<Warp>());
    }
    Barrier met;
    std::vector<std::unique_ptr<Warp>> warps;
};

inline thread_local Block* block = nullptr;
inline thread_local unsigned exchanges = 0;
inline thread_local dim3 thread_index(0), block_index(0), grid(0);

inline Block::Warp& warp() {
    return *block->warps[thread_index.x / kWarp];
}

/// Lists the blocks of a launch to run; if it is empty, all blocks run. A test may choose some blocks of a
/// large grid.
inline std::vector<unsigned> blocks_to_run;

template <typename Kernel>
void run_blocks(void (*kernel)(Kernel), const Kernel& argument, unsigned threads, unsigned blocks,
                const std::vector<unsigned>& which) {
    Block shared(threads);
    std::vector<std::jthread> running;
    for (unsigned i = 0; i < threads; ++i) {
        running.emplace_back([&, i] {
            block = &shared;
            thread_index = dim3(i);
            grid = dim3(blocks);
            for (const unsigned index : which) {
                block_index = dim3(index);
                kernel(argument);
                shared.met.arrive_and_wait();
            }
        });
    }
}

}  // namespace cuda_on_host

#define threadIdx (cuda_on_host::thread_index)
#define blockIdx (cuda_on_host::block_index)
#define gridDim (cuda_on_host::grid)

inline void __syncthreads() {
    cuda_on_host::block->met.arrive_and_wait();
}
inline void __syncwarp() {
    cuda_on_host::warp().met.arrive_and_wait();
}
template <typename Value>
Value __shfl_sync(unsigned, Value value, int from) {
    auto& warp = cuda_on_host::warp();
    auto& values = warp.values[cuda_on_host::exchanges++ % 2];
    std::memcpy(&values[threadIdx.x % cuda_on_host::kWarp], &value, sizeof value);
    warp.met.arrive_and_wait();
    std::memcpy(&value, &values[static_cast<unsigned>(from)], sizeof value);
    return value;
}
inline float __shfl_xor_sync(unsigned lanes, float value, int distance) {
    return __shfl_sync(lanes, value, static_cast<int>(threadIdx.x % cuda_on_host::kWarp) ^ distance);
}

template <typename Kernel>
cudaError_t cudaLaunchKernel(void (*kernel)(Kernel), dim3 blocks, dim3 threads, void** arguments, size_t,
                             cudaStream_t) {
    std::vector<unsigned> which = cuda_on_host::blocks_to_run;
    if (which.empty()) {
        which.resize(blocks.x);
        std::iota(which.begin(), which.end(), 0U);
    }
    cuda_on_host::run_blocks(kernel, *static_cast<const Kernel*>(arguments[0]), threads.x, blocks.x, which);
    return cudaSuccess;
}
