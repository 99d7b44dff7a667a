/// Emulates a CUDA device on the CPU, so that the engine's own CUDA path runs on machines without a GPU. It
/// is as strict as a GPU: an operator refuses a mix of host and device tensors, new memory holds NaN, and
/// non-blocking copies happen late.
///
/// The device's memory is host memory that only tensors of the device can reach. Work on the default stream
/// runs at once. Work on other streams, and copies to the host that do not block, run when something waits
/// for them. A copy throws if its memory was freed before it ran, without a call of `record_stream`.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

#include <cstdint>
#include <functional>

namespace ringmaster::host_device {

/// Queues work on a stream. The work runs when something waits for the stream.
void give(c10::StreamId stream, std::function<void()> work);

/// Runs the work that the current stream has not run yet.
void finish_current_stream();

c10::StreamId current_stream();

/// Returns a CPU tensor over the device's memory, with the sizes of `like`.
at::Tensor shown_to_host(const c10::Storage& memory, const at::Tensor& like);
inline at::Tensor shown_to_host(const at::Tensor& on_device) {
    return shown_to_host(on_device.storage(), on_device);
}

/// Returns a CPU tensor of the same sizes that has no memory.
at::Tensor without_memory(const at::Tensor& on_device);

/// Returns a tensor of the current device that owns the memory of a CPU tensor.
at::Tensor shown_to_device(const at::Tensor& on_host);

/// Returns a view of the device's tensor that matches a view of the result of shown_to_host().
at::Tensor view_of(const at::Tensor& on_device, const at::Tensor& view_on_host);

}  // namespace ringmaster::host_device
