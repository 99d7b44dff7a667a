// Lays out heads whose values are the keys before their norm and rotation.
#include <ATen/ATen.h>

#include "engine/model/tensor_machine.h"

namespace ringmaster {

at::Tensor TensorMachine::weights_of(NormSite site, const at::Tensor& x_nw) const {
    const at::Tensor& weights_w = weights().at(site);
    if (weights_w.defined() || site != NormSite::Values) return weights_w;
    return at::full({x_nw.size(1)}, model_.norm_adds_one ? 0 : 1, x_nw.options());
}

at::Tensor TensorMachine::with_keys_as_values(const at::Tensor& qk_nw) const {
    const int64_t keys = model_.num_kv_heads * model_.head_dim;
    return at::cat({qk_nw, qk_nw.narrow(1, qk_nw.size(1) - keys, keys)}, 1);
}

at::Tensor TensorMachine::values_added_to_keys(const at::Tensor& dqkv_nw) const {
    const int64_t keys = model_.num_kv_heads * model_.head_dim, both = dqkv_nw.size(1) - keys;
    const at::Tensor dqk_nw = dqkv_nw.narrow(1, 0, both).clone();
    dqk_nw.narrow(1, both - keys, keys).add_(dqkv_nw.narrow(1, both, keys));
    return dqk_nw;
}

}  // namespace ringmaster
