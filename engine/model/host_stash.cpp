#include "engine/model/host_stash.h"

#include <ATen/ATen.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <utility>

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

HostStash::HostStash(at::Device device, size_t places)
    : stream_(c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device)), places_(places) {}

void HostStash::copy(const at::Tensor& from, at::Tensor to) {
    order(current_stream(stream_.device()), stream_);
    const c10::StreamGuard guard(stream_);
    to.copy_(from, /*non_blocking=*/true);
    // The allocator must not reuse a block before this stream has finished with it.
    for (const at::Tensor& tensor : {from, to}) {
        if (!tensor.is_cpu()) tensor.record_stream(stream_);
    }
}

void HostStash::put(size_t place, const at::Tensor& x) {
    Place& at = places_[place];
    if (!at.host.defined() || at.host.sizes() != x.sizes())
        at.host = at::empty(x.sizes(), x.options().device(at::kCPU).pinned_memory(true));
    copy(x, at.host);
}

void HostStash::fetch(size_t place) {
    Place& at = places_[place];
    if (at.back.defined()) return;
    at.back = at::empty(at.host.sizes(), at.host.options().device(stream_.device()).pinned_memory(false));
    copy(at.host, at.back);
}

at::Tensor HostStash::take(size_t place) {
    fetch(place);
    order(stream_, current_stream(stream_.device()));
    return std::exchange(places_[place].back, {});
}

}  // namespace ringmaster
