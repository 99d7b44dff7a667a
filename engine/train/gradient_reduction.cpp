#include "engine/train/gradient_reduction.h"

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "engine/model/host_arena.h"

namespace ringmaster {

void GradientReduction::begin_micro_batch(bool first, bool last) {
    first_ = first;
    last_ = last;
}

void GradientReduction::start(int unit) {
    start_one(unit);
    for (const int experts : parameters_.expert_units(unit)) start_one(experts);
}

void GradientReduction::start_one(int unit) {
    if (parameters_.is_empty(unit)) return;
    if (parameters_.gradients_are_taken()) return start_taken(unit);
    if (!last_) return;
    const Flat& gradients = parameters_.gradients();
    const at::Tensor whole = parameters_.whole_unit(gradients, unit);
    if (parameters_.stage() == 0) {
        transfers_.push_back(groups_.world().all_reduce(whole));
        return;
    }
    const at::Tensor slice = parameters_.own_slice(gradients, unit);
    follow(unit, slice, parameters_.sharding_groups()->shard().reduce_scatter(slice, whole, what_of(unit)));
}

/// Starts to sum a unit's gradients of one micro-batch over the ranks.
void GradientReduction::start_taken(int unit) {
    const at::Tensor whole = parameters_.take_gradients(unit);
    if (parameters_.stage() == 0) {
        if (groups_.world().size() == 1) return parameters_.keep_gradients(unit, whole, first_);
        return follow(unit, whole, groups_.world().all_reduce(whole));
    }
    const at::Tensor own = parameters_.own_slice(parameters_.gradients(), unit);
    const bool direct = first_ && !lies_in_host(own);
    const at::Tensor slice = direct ? own : at::empty(own.sizes(), whole.options());
    follow(unit, slice, parameters_.group_of(unit).reduce_scatter(slice, whole, what_of(unit)));
}

void GradientReduction::start_plainly(int unit) {
    start_one_plainly(unit);
    for (const int experts : parameters_.expert_units(unit)) start_one_plainly(experts);
}

void GradientReduction::start_one_plainly(int unit) {
    at::Tensor whole = parameters_.take_gradients(unit);
    if (parameters_.holds_experts(unit)) {
        const at::Tensor part = whole;
        const FlatRange range = parameters_.part_of(unit);
        whole = at::zeros({range.size() * parameters_.expert_parts()}, part.options());
        whole.narrow(0, range.begin, range.size()).copy_(part);
    }
    groups_.world().all_reduce(whole).wait();
    const int64_t size = parameters_.own_slice(parameters_.gradients(), unit).size(0);
    const int64_t rank = parameters_.stage() > 0 ? parameters_.sharding_groups()->shard().rank() : 0;
    parameters_.keep_gradients(unit, whole.narrow(0, rank * size, size), first_);
}

std::string GradientReduction::what_of(int unit) const {
    return "gradients of " + parameters_.name_of(unit);
}

/// Keeps one reduction in flight while the next unit is computed.
void GradientReduction::follow(int unit, at::Tensor slice, Transfer transfer) {
    pending_.push_back({unit, std::move(slice), std::move(transfer), first_, last_});
    if (pending_.size() > 1) finish_oldest();
}

void GradientReduction::finish_oldest() {
    Pending done = std::move(pending_.front());
    pending_.pop_front();
    done.transfer.wait();
    const at::Tensor own = parameters_.own_slice(parameters_.gradients(), done.unit);
    Groups* sharded = parameters_.sharding_groups();
    const bool in_host = lies_in_host(own);
    if (in_host && sharded != nullptr) sharded->replicas().all_reduce(done.slice).wait();
    parameters_.keep_gradients(done.unit, done.slice, done.first);
    if (!in_host && done.last) transfers_.push_back(sharded->replicas().all_reduce(own));
}

void GradientReduction::start_zeros() {
    parameters_.gradients().values.zero_();
    for (int unit = parameters_.head_unit(); unit >= 0; --unit) start(unit);
}

void GradientReduction::wait() {
    while (!pending_.empty()) finish_oldest();
    for (Transfer& transfer : transfers_) transfer.wait();
    transfers_.clear();
    const at::Device device = parameters_.device();
    if (lies_in_host(parameters_.gradients().values) && !device.is_cpu())
        c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
}

}  // namespace ringmaster
