/// The face of ringmaster_cuda.so: what needs libtorch_cuda, loaded only where a run uses a CUDA device, so
/// that the engine itself starts without one.
#pragma once

#include "engine/comm/backends.h"

extern "C" {

/// Devices that the driver shows; 0 with the reason where it shows none.
int ringmaster_cuda_devices(std::string* reason);

/// Streaming multiprocessors of a device.
int ringmaster_cuda_multiprocessors(int device_index);

/// The current stream of a device: a cudaStream_t.
void* ringmaster_cuda_stream(int device_index);

void ringmaster_make_nccl(const ringmaster::BackendRequest& request,
                          c10::intrusive_ptr<c10d::Backend>* backend);
}
