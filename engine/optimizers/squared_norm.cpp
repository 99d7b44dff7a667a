#include "engine/optimizers/squared_norm.h"

#include <ATen/ATen.h>

namespace ringmaster {

at::Tensor squared_norm(const std::vector<at::Tensor>& parts) {
    constexpr int64_t kRow = 4096;
    std::vector<at::Tensor> norms;
    const auto add = [&](const at::Tensor& rows) {
        norms.push_back(at::linalg_vector_norm(rows, 2, at::IntArrayRef{1}, false, at::kFloat));
    };
    for (const at::Tensor& part : parts) {
        const at::Tensor flat = part.reshape({-1});
        const int64_t size = flat.size(0), whole = size / kRow * kRow;
        if (whole > 0) add(flat.narrow(0, 0, whole).view({-1, kRow}));
        if (whole < size) add(flat.narrow(0, whole, size - whole).unsqueeze(0));
    }
    if (norms.empty()) return at::zeros({}, at::kDouble);
    return at::cat(norms).to(at::kDouble).square().sum();
}

}  // namespace ringmaster
