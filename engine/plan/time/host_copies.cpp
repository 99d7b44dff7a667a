#include "engine/plan/time/host_copies.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/layout/windows.h"

namespace ringmaster {

void add_copies_to_update(StepCosts& costs) {
    double copies_s = double(costs.layers) *
                      (2 * std::exchange(costs.checkpoint_copy_s, 0) +
                       std::exchange(costs.chunks_forward_s, 0) + std::exchange(costs.chunks_backward_s, 0));
    const auto take = [&](UnitCosts& unit, double count) {
        copies_s += count * (2 * std::exchange(unit.fetch_s, 0) + std::exchange(unit.leave_s, 0));
    };
    take(costs.embedding, 1);
    take(costs.layer, double(costs.layers));
    take(costs.head, 1);
    costs.update_s += double(costs.micro_batches) * copies_s;
}

void add_chunk_copies(const Plan& plan, double sequences, double element_s, StepCosts& costs) {
    const double chunks = double(plan.sequence.chunks);
    if (chunks < 2 || !plan.config.activation_offloading) return;
    const ModelConfig& m = *plan.model;
    const double window = double(widest_window(m).value_or(plan.sequence.length));
    const double read =  // other chunks that a chunk reads, on average
        std::min((chunks - 1) / 2, std::ceil(window / double(plan.sequence.chunk_tokens())));
    const double keys_s = 2 * sequences * double(plan.sequence.per_rank) * key_width(m, 1) * element_s;
    // The size of a float32 sum relative to the keys or values.
    const double sums = plan.config.precision == Precision::Float32 ? 1 : 2;
    costs.chunks_forward_s = costs.checkpoint_copy_s + keys_s * (1 + read);
    costs.chunks_backward_s = 3 * costs.checkpoint_copy_s + keys_s * (1 + 2 * read + 2 * sums * read);
}

}  // namespace ringmaster
