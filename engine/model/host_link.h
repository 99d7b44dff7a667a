/// Copies tensors between a device and host memory on a separate stream, so that copies run in parallel with
/// computation. Few copies are under way at a time, so that the memory they free becomes available soon. On
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

    /// Starts a copy, after the work given to the current stream so far. Returns when all but the last
    /// kUnderWay copies are complete.
    void copy(const at::Tensor& from, at::Tensor to);
    /// Lets later work of the current stream wait for all copies that were started.
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
