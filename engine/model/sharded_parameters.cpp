// Moves units between the ranks that share them.
#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

#include "engine/model/parameters.h"

namespace ringmaster {

void Parameters::share_update() {
    if (!compute_.values.is_same(master_.values)) {
        for (int unit = 0; unit < units(); ++unit) own_slice(compute_, unit).copy_(own_slice(master_, unit));
    }
    if (stage_ == 0 || compute_.sharded) return;
    std::vector<Transfer> under_way;
    for (int unit = 0; unit < units(); ++unit) {
        if (is_empty(unit)) continue;
        under_way.push_back(sharding_.groups->shard().all_gather(
            whole_unit(compute_, unit), own_slice(compute_, unit), "new weights of " + name_of(unit)));
    }
    for (Transfer& transfer : under_way) transfer.wait();
}

void Parameters::gather(int index) {
    Unit& unit = units_[static_cast<size_t>(index)];
    if (!compute_.sharded || unit.gathered.defined() || is_empty(index)) return;
    const bool reuses = !spare_.empty() && spare_.back().size(0) == unit.whole.size();
    if (reuses) {
        unit.gathered = spare_.back();
        spare_.pop_back();
    } else {
        spare_.clear();
        unit.gathered = at::empty({unit.whole.size()}, compute_.values.options());
    }
    unit.gathering = sharding_.groups->shard().all_gather(unit.gathered, own_slice(compute_, index),
                                                          "weights of " + name_of(index));
}

void Parameters::use(int index) {
    if (!compute_.sharded || is_empty(index)) return;
    gather(index);
    Unit& unit = units_[static_cast<size_t>(index)];
    unit.gathering.wait();
    bind(weights_, index, unit.gathered);
}

void Parameters::drop(int index) {
    if (!compute_.sharded) return;
    Unit& unit = units_[static_cast<size_t>(index)];
    bind(weights_, index, {});
    const bool is_layer = index > 0 && index < head_unit();
    if (is_layer && unit.gathered.defined()) spare_.push_back(unit.gathered);
    unit.gathered.reset();
    const auto is_here = [](const Unit& other) { return other.gathered.defined(); };
    if (std::none_of(units_.begin(), units_.end(), is_here)) spare_.clear();
}

void Parameters::open_gradients(int index) {
    Unit& unit = units_[static_cast<size_t>(index)];
    if (!gradients_.sharded || unit.gradients.defined()) return;
    unit.gradients = at::empty({unit.whole.size()}, gradients_.values.options());
    if (begins_with_nan_) unit.gradients.fill_(std::numeric_limits<double>::quiet_NaN());
    unit.gradients.narrow(0, unit.elements, unit.whole.size() - unit.elements).zero_();
    bind(weight_gradients_, index, unit.gradients);
}

void Parameters::begin_gradients(bool nan) {
    begins_with_nan_ = nan;
    gradients_.values.fill_(nan ? std::numeric_limits<double>::quiet_NaN() : 0);
}

at::Tensor Parameters::weights_of_unit(int index) const {
    return compute_.sharded ? units_[static_cast<size_t>(index)].gathered : whole_unit(compute_, index);
}

at::Tensor Parameters::take_gradients(int index) {
    bind(weight_gradients_, index, {});
    return std::exchange(units_[static_cast<size_t>(index)].gradients, {});
}

at::Tensor Parameters::whole_values(const Flat& flat, int index) {
    if (!flat.sharded) return whole_unit(flat, index);
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
