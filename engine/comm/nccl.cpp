// Implements cuda_module.h. It is built into ringmaster_cuda.so only.
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "engine/comm/cuda_module.h"

int ringmaster_cuda_devices(std::string* reason) {
    try {
        return c10::cuda::device_count_ensure_non_zero();
    } catch (const c10::Error& error) {
        *reason = error.what_without_backtrace();
        return 0;
    }
}

int ringmaster_cuda_multiprocessors(int device_index) {
    int count = 0;
    C10_CUDA_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device_index));
    return count;
}

void* ringmaster_cuda_stream(int device_index) {
    return c10::cuda::getCurrentCUDAStream(static_cast<c10::DeviceIndex>(device_index)).stream();
}

const char* ringmaster_pin_host(void* memory, size_t bytes) {
    const cudaError_t error = cudaHostRegister(memory, bytes, cudaHostRegisterPortable);
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

void ringmaster_unpin_host(void* memory) {
    cudaHostUnregister(memory);
}

void ringmaster_make_nccl(const ringmaster::BackendRequest& request,
                          c10::intrusive_ptr<c10d::Backend>* backend) {
    constexpr bool kHighPriority = true;  // transfers go before attention, which fills the GPU
    auto options = c10d::ProcessGroupNCCL::Options::create(kHighPriority);
    options->timeout = request.timeout;
    options->group_name = request.name;
    options->global_ranks_in_group.assign(request.global_ranks.begin(), request.global_ranks.end());
    auto nccl = c10::make_intrusive<c10d::ProcessGroupNCCL>(
        request.store, request.rank, static_cast<int>(request.global_ranks.size()), options);
    nccl->setBoundDeviceId(at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(request.device_index)));
    nccl->setSequenceNumberForGroup();
    *backend = std::move(nccl);
}
