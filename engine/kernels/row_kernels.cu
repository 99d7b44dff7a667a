// This file becomes part of ringmaster_cuda.so. Tests also compile it for the host, where
// tests/support/cuda_on_host stands in for CUDA's runtime. It includes no LibTorch headers, which keeps nvcc
// fast.
#include "engine/kernels/row_kernels.h"

#include <cuda_runtime.h>

#include <algorithm>

namespace ringmaster {

namespace {

constexpr int kThreads = 256;
constexpr int kWarp = 32;
constexpr int kWarps = kThreads / kWarp;
constexpr int kBlocksAtOnce = 4;  // blocks per multiprocessor; this leaves 64 registers per thread
constexpr unsigned kAllLanes = 0xffffffffU;
constexpr int64_t kMostBlocks = int64_t{1} << 20;  // if there are more rows, each block takes several

struct Plus {
    __device__ float operator()(float a, float b) const { return a + b; }
};
struct Larger {
    __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};

/// Joins x over the lanes of a warp and returns the result on every lane.
template <typename Join>
__device__ float join_warp(float x, Join join) {
    for (int distance = kWarp / 2; distance > 0; distance /= 2)
        x = join(x, __shfl_xor_sync(kAllLanes, x, distance));
    return x;
}

struct WarpLanes {
    static constexpr int kFewest = kWarp;
    __device__ int64_t index() const { return threadIdx.x % kWarp; }
    __device__ int64_t count() const { return kWarp; }
    __device__ float sum(float x) const { return join_warp(x, Plus()); }
    __device__ float max(float x) const { return join_warp(x, Larger()); }
    __device__ float from(float x, int lane) const { return __shfl_sync(kAllLanes, x, lane); }
    template <typename T>
    __device__ const T* from(const T* x, int lane) const {
        return reinterpret_cast<const T*>(
            __shfl_sync(kAllLanes, reinterpret_cast<unsigned long long>(x), lane));
    }
    __device__ void sync() const { __syncwarp(); }
};

struct BlockLanes {
    float* of_warps;  // shared memory, kWarps floats

    __device__ int64_t index() const { return threadIdx.x; }
    __device__ int64_t count() const { return kThreads; }
    __device__ float sum(float x) const { return join(x, Plus()); }
    __device__ float max(float x) const { return join(x, Larger()); }
    __device__ void sync() const { __syncthreads(); }

    template <typename Join>
    __device__ float join(float x, Join how) const {
        x = join_warp(x, how);
        if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = x;
        __syncthreads();
        float all = of_warps[0];
        for (int warp = 1; warp < kWarps; ++warp) all = how(all, of_warps[warp]);
        __syncthreads();  // all lanes have now read of_warps
        return all;
    }
};

template <typename Kernel>
__global__ void __launch_bounds__(kThreads, kBlocksAtOnce) each_row_by_warp(Kernel kernel) {
    WarpLanes lanes;
    const int64_t step = int64_t{gridDim.x} * kWarps;
    for (int64_t r = int64_t{blockIdx.x} * kWarps + threadIdx.x / kWarp; r < kernel.rows; r += step)
        kernel.row(lanes, r);
}

template <typename Kernel>
__global__ void __launch_bounds__(kThreads) each_row_by_block(Kernel kernel) {
    __shared__ float of_warps[kWarps];
    BlockLanes lanes{of_warps};
    for (int64_t r = blockIdx.x; r < kernel.rows; r += gridDim.x) kernel.row(lanes, r);
}

template <typename Kernel>
cudaError_t launch(Kernel kernel, cudaStream_t stream) {
    constexpr bool by_warp = Kernel::kLanes == LanesOfRow::Warp;
    const int64_t wanted = by_warp ? (kernel.rows + kWarps - 1) / kWarps : kernel.rows;
    const auto blocks = static_cast<unsigned>(std::min(wanted, kMostBlocks));
    void* arguments[] = {&kernel};
    if constexpr (by_warp)
        return cudaLaunchKernel(each_row_by_warp<Kernel>, blocks, kThreads, arguments, 0, stream);
    else
        return cudaLaunchKernel(each_row_by_block<Kernel>, blocks, kThreads, arguments, 0, stream);
}

}  // namespace

}  // namespace ringmaster

const char* ringmaster_launch_rows(const ringmaster::RowKernel* kernel, void* stream) {
    return std::visit(
        [&](const auto& one) -> const char* {
            if (one.rows == 0) return nullptr;
            const cudaError_t status = ringmaster::launch(one, static_cast<cudaStream_t>(stream));
            return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
        },
        *kernel);
}
