/// Declares what ringmaster_cuda.so exports: the code that needs libtorch_cuda, loaded only if a run uses a
/// CUDA device, so that the engine itself starts without it.
#pragma once

#include "engine/comm/backends.h"

extern "C" {

/// Returns how many devices the driver reports. If there is none, returns 0 and sets `reason`.
int ringmaster_cuda_devices(std::string* reason);

/// Returns how many streaming multiprocessors a device has.
int ringmaster_cuda_multiprocessors(int device_index);

/// Returns the current stream of a device, a cudaStream_t.
void* ringmaster_cuda_stream(int device_index);

/// Pins pages of host memory, because only copies between pinned memory and a device can run while the device
/// computes. Returns the reason if pinning fails, else null.
const char* ringmaster_pin_host(void* memory, size_t bytes);
void ringmaster_unpin_host(void* memory);

void ringmaster_make_nccl(const ringmaster::BackendRequest& request,
                          c10::intrusive_ptr<c10d::Backend>* backend);
}
