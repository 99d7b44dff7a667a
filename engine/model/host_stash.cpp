#include "engine/model/host_stash.h"

#include <ATen/ATen.h>

#include <utility>

#include "engine/model/host_arena.h"

namespace ringmaster {

HostStash::HostStash(at::Device device) : device_(device), link_(device) {}

void HostStash::put(size_t place, const at::Tensor& x) {
    Place& at = places_[place];
    if (!at.host.defined() || at.host.sizes() != x.sizes()) {
        at.host.reset();  // freed first, so that the old and the new tensor never exist at the same time
        at.host = host_zeros(x.sizes(), x.scalar_type(), device_);
    }
    link_.copy(x, at.host);
}

void HostStash::fetch(size_t place) {
    Place& at = places_[place];
    if (at.back.defined()) return;
    at.back = at::empty(at.host.sizes(), at.host.options().device(device_));
    link_.copy(at.host, at.back);
}

at::Tensor HostStash::take(size_t place) {
    fetch(place);
    link_.wait();
    return std::exchange(places_[place].back, {});
}

}  // namespace ringmaster
