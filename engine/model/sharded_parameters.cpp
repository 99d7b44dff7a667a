// Moves units between the ranks that share them.
#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/model/host_link.h"
#include "engine/model/parameters.h"

namespace ringmaster {

namespace {

constexpr int64_t kSumsAtOnce = int64_t{16} << 20;  // elements copied back from host memory at a time

}  // namespace

void Parameters::share_update() {
    if (!compute_.values.is_same(master_.values)) {
        for (int unit = 0; unit < units(); ++unit) own_slice(compute_, unit).copy_(own_slice(master_, unit));
    }
    if (stage_ == 0 || compute_.sharded) return;
    std::vector<Transfer> under_way;
    for (int unit = 0; unit < units(); ++unit) {
        if (is_empty(unit)) continue;
        const std::string what = "new weights of " + name_of(unit);
        const at::Tensor whole = whole_unit(compute_, unit), own = own_slice(compute_, unit);
        if (!from_host_) {
            under_way.push_back(sharding_.groups->shard().all_gather(whole, own, what));
            continue;
        }
        const at::Tensor here = at::empty(whole.sizes(), whole.options().device(device_));
        sharding_.groups->shard().all_gather(here, own.to(device_), what).wait();
        whole.copy_(here);
    }
    for (Transfer& transfer : under_way) transfer.wait();
}

void Parameters::gather(int index) {
    start_gathering(index);
    for (const int experts : expert_units(index)) start_gathering(experts);
}

void Parameters::start_gathering(int index) {
    Unit& unit = units_[static_cast<size_t>(index)];
    if ((!compute_.sharded && !from_host_) || unit.gathered.defined() || is_empty(index)) return;
    const at::TensorOptions options = compute_.values.options().device(device_);
    const int64_t size = part_of(index).size();
    if (compute_.sharded && !from_host_ && group_of(index).size() == 1) {
        // This rank is alone in its part, so it holds all of the part's experts.
        unit.gathered = own_slice(compute_, index);
        return;
    }
    const auto spare = std::find_if(spare_.begin(), spare_.end(),
                                    [&](const at::Tensor& buffer) { return buffer.size(0) == size; });
    if (spare != spare_.end()) {
        unit.gathered = *spare;
        spare_.erase(spare);
    } else {
        spare_.clear();
        unit.gathered = at::empty({size}, options);
    }
    if (!compute_.sharded) return from_host_->copy(whole_unit(compute_, index), unit.gathered);
    at::Tensor own = own_slice(compute_, index);
    const auto start = [&] {
        unit.gathering = group_of(index).all_gather(unit.gathered, own, "weights of " + name_of(index));
    };
    if (!from_host_) return start();
    const at::Tensor in_host = std::exchange(own, at::empty({unit.own.size()}, options));
    from_host_->copy(in_host, own);
    from_host_->then(start);
}

void Parameters::use(int index) {
    gather(index);
    wait_for(index);
    for (const int experts : expert_units(index)) wait_for(experts);
}

void Parameters::wait_for(int index) {
    if ((!compute_.sharded && !from_host_) || is_empty(index)) return;
    Unit& unit = units_[static_cast<size_t>(index)];
    if (compute_.sharded)
        unit.gathering.wait();
    else
        from_host_->wait();
    bind(weights_, index, unit.gathered);
}

void Parameters::free_weights(int index) {
    Unit& unit = units_[static_cast<size_t>(index)];
    bind(weights_, index, {});
    const bool is_reused = is_of_layer(index) || holds_experts(index);
    const bool is_buffer = unit.gathered.defined() && !unit.gathered.is_alias_of(compute_.values);
    if (is_reused && is_buffer) spare_.push_back(unit.gathered);
    unit.gathered.reset();
}

void Parameters::drop(int index) {
    if (!compute_.sharded && !from_host_) return;
    free_weights(index);
    for (const int experts : expert_units(index)) free_weights(experts);
    const auto is_here = [](const Unit& other) { return other.gathered.defined(); };
    if (std::none_of(units_.begin(), units_.end(), is_here)) spare_.clear();
}

void Parameters::open_gradients(int index) {
    Unit& unit = units_[static_cast<size_t>(index)];
    if (!gradients_.values.defined() || !gradients_are_taken() || unit.gradients.defined()) return;
    const int64_t size = part_of(index).size(), elements = std::min(unit.elements, size);
    unit.gradients = at::empty({size}, gradients_.values.options().device(device_));
    if (begins_with_nan_) unit.gradients.fill_(std::numeric_limits<double>::quiet_NaN());
    unit.gradients.narrow(0, elements, size - elements).zero_();
    bind(weight_gradients_, index, unit.gradients);
    for (const int experts : expert_units(index)) open_gradients(experts);
}

void Parameters::keep_gradients(int index, const at::Tensor& slice, bool first) {
    const at::Tensor own = own_slice(gradients_, index);
    if (own.is_alias_of(slice)) return;
    if (!to_host_) {
        first ? own.copy_(slice) : own.add_(slice);
        return;
    }
    if (!first) {
        to_host_->wait();  // waits until the host has the sum so far
        for (int64_t begin = 0; begin < own.size(0); begin += kSumsAtOnce) {
            const int64_t count = std::min(kSumsAtOnce, own.size(0) - begin);
            const at::Tensor so_far = at::empty({count}, slice.options());
            to_host_->copy(own.narrow(0, begin, count), so_far);
            to_host_->wait();
            slice.narrow(0, begin, count).add_(so_far);
        }
    }
    to_host_->copy(slice, own);
}

void Parameters::begin_gradients(bool nan) {
    begins_with_nan_ = nan;
    gradients_.values.fill_(nan ? std::numeric_limits<double>::quiet_NaN() : 0);
}

at::Tensor Parameters::weights_of_unit(int index) const {
    const at::Tensor& gathered = units_[static_cast<size_t>(index)].gathered;
    return compute_.sharded || gathered.defined() ? gathered : whole_unit(compute_, index);
}

at::Tensor Parameters::take_gradients(int index) {
    bind(weight_gradients_, index, {});
    return std::exchange(units_[static_cast<size_t>(index)].gradients, {});
}

at::Tensor Parameters::whole_values(const Flat& flat, int index) {
    if (!flat.sharded) return whole_unit(flat, index).to(device_);
    const Unit& unit = units_[static_cast<size_t>(index)];
    at::Tensor whole = at::empty({unit.whole.size()}, flat.values.options().device(device_));
    const at::Tensor own = own_slice(flat, index).to(device_);
    sharding_.groups->shard().all_gather(whole, own, "states of " + name_of(index)).wait();
    return whole;
}

at::Tensor WholeValues::of(size_t index) {
    const int unit = parameters_.unit_of(index);
    if (unit != unit_) {
        values_.reset();
        values_ = parameters_.whole_values(flat_, unit);
        unit_ = unit;
    }
    return parameters_.view(values_, index);
}

}  // namespace ringmaster
