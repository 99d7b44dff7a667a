#include "engine/train/gradient_reduction.h"

#include <ATen/ATen.h>

namespace ringmaster {

void GradientReduction::start(FlatRange range) {
    if (groups_.world().size() == 1) return;
    transfers_.push_back(
        groups_.world().all_reduce(parameters_.gradients().narrow(0, range.begin, range.size())));
}

void GradientReduction::start_zeros(int num_layers) {
    parameters_.gradients().zero_();
    start(parameters_.range_of_head());
    for (int layer = num_layers - 1; layer >= 0; --layer) start(parameters_.range_of_layer(layer));
    start(parameters_.range_of_embedding());
}

void GradientReduction::wait() {
    for (Transfer& transfer : transfers_) transfer.wait();
    transfers_.clear();
}

}  // namespace ringmaster
