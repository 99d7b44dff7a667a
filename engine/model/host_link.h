/// Copies tensors between a device and host memory on a separate stream, so that copies run in parallel with
/// computation. Limits how many copies are in flight, so that the memory they free becomes available soon. On
/// the CPU, where the arena of host_arena.h stands for host memory, copies are synchronous.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include <deque>
#include <functional>
#include <optional>

namespace ringmaster {

class HostLink {
  public:
    explicit HostLink(at::Device device);

    /// Starts a copy that runs after the work already queued on the current stream. Returns when at most
    /// kUnderWay copies are incomplete.
    void copy(const at::Tensor& from, at::Tensor to);
    /// Makes later work on the current stream wait for all copies started so far.
    void wait() const;
    /// Calls `work` with the link's stream as the current stream; work that it starts on the device runs
    /// after the copies.
    void then(const std::function<void()>& work) const;

    static constexpr size_t kUnderWay = 2;

  private:
    std::optional<c10::Stream> stream_;  ///< none on the CPU
    std::deque<c10::Event> under_way_;
};

}  // namespace ringmaster
