#include "engine/model/host_link.h"

#include <ATen/ATen.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "engine/model/host_arena.h"

namespace ringmaster {

namespace {

c10::Stream current_stream(at::Device device) {
    return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

/// Makes later work on `later` wait for the work given to `earlier` so far.
void order(const c10::Stream& earlier, const c10::Stream& later) {
    c10::Event reached(earlier.device_type());
    reached.record(earlier);
    reached.block(later);
}

}  // namespace

HostLink::HostLink(at::Device device) {
    if (!device.is_cpu())
        stream_ = c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
}

void HostLink::copy(const at::Tensor& from, at::Tensor to) {
    if (!stream_) {
        const HostAccess read(from), written(to);
        to.copy_(from);
        return;
    }
    order(current_stream(stream_->device()), *stream_);
    const c10::StreamGuard guard(*stream_);
    to.copy_(from, /*non_blocking=*/true);
    // The allocator must not reuse a block before this stream has finished with it.
    for (const at::Tensor& tensor : {from, to}) {
        if (!tensor.is_cpu()) tensor.record_stream(*stream_);
    }
    under_way_.emplace_back(stream_->device_type()).record(*stream_);
    if (under_way_.size() <= kUnderWay) return;
    under_way_.front().synchronize();
    under_way_.pop_front();
}

void HostLink::wait() const {
    if (stream_) order(*stream_, current_stream(stream_->device()));
}

void HostLink::then(const std::function<void()>& work) const {
    if (!stream_) return work();
    const c10::StreamGuard guard(*stream_);
    work();
}

}  // namespace ringmaster
