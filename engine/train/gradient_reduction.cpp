#include "engine/train/gradient_reduction.h"

#include <ATen/ATen.h>

namespace ringmaster {

void GradientReduction::begin_micro_batch(bool first, bool last) {
    first_ = first;
    last_ = last;
}

void GradientReduction::start(int unit) {
    if (parameters_.is_empty(unit)) return;
    const Flat& gradients = parameters_.gradients();
    const std::string what = "gradients of " + parameters_.name_of(unit);
    if (parameters_.stage() == 0) {
        if (last_) transfers_.push_back(groups_.world().all_reduce(parameters_.whole_unit(gradients, unit)));
        return;
    }
    Group& shard = parameters_.sharding_groups()->shard();
    if (!gradients.sharded) {
        if (!last_) return;
        const at::Tensor slice = parameters_.own_slice(gradients, unit);
        follow(unit, slice, shard.reduce_scatter(slice, parameters_.whole_unit(gradients, unit), what));
        return;
    }
    const at::Tensor whole = parameters_.take_gradients(unit);
    const at::Tensor own = parameters_.own_slice(gradients, unit);
    const at::Tensor slice = first_ ? own : at::empty_like(own);
    follow(unit, slice, shard.reduce_scatter(slice, whole, what));
}

void GradientReduction::start_plainly(int unit) {
    const at::Tensor whole = parameters_.take_gradients(unit);
    parameters_.sharding_groups()->world().all_reduce(whole).wait();
    const at::Tensor own = parameters_.own_slice(parameters_.gradients(), unit);
    const Group& shard = parameters_.sharding_groups()->shard();
    const at::Tensor slice = whole.narrow(0, shard.rank() * own.size(0), own.size(0));
    first_ ? own.copy_(slice) : own.add_(slice);
}

/// Keeps one reduction in flight while the next unit is computed.
void GradientReduction::follow(int unit, at::Tensor slice, Transfer transfer) {
    pending_.push_back({unit, std::move(slice), std::move(transfer), last_});
    if (pending_.size() > 1) finish_oldest();
}

void GradientReduction::finish_oldest() {
    Pending done = std::move(pending_.front());
    pending_.pop_front();
    done.transfer.wait();
    const at::Tensor own = parameters_.own_slice(parameters_.gradients(), done.unit);
    if (!own.is_alias_of(done.slice)) own.add_(done.slice);
    if (done.last) transfers_.push_back(parameters_.sharding_groups()->replicas().all_reduce(own));
}

void GradientReduction::start_zeros() {
    parameters_.gradients().values.zero_();
    for (int unit = parameters_.head_unit(); unit >= 0; --unit) start(unit);
}

void GradientReduction::wait() {
    while (!pending_.empty()) finish_oldest();
    for (Transfer& transfer : transfers_) transfer.wait();
    transfers_.clear();
}

}  // namespace ringmaster
