#include "engine/optimizers/values_at.h"

#include <ATen/ATen.h>

namespace ringmaster {

at::Tensor values_at(const Parameters& parameters, const Flat& flat,
                     const std::vector<Optimizer::Place>& places) {
    std::vector<int64_t> at_places;
    int unit = -1;
    int64_t begin = 0;
    for (const Optimizer::Place& place : places) {
        if (place.unit != unit)
            begin =
                parameters.own_slice(flat, unit = place.unit).storage_offset() - flat.values.storage_offset();
        at_places.push_back(begin + place.in_slice);
    }
    const at::Tensor index = at::tensor(at_places, at::kLong).to(flat.values.device());
    return flat.values.index_select(0, index).to(at::kCPU, at::kDouble);
}

}  // namespace ringmaster
