#include "engine/model/shared_keys.h"

#include <ATen/ATen.h>

#include <utility>

#include "engine/model/tensor_machine.h"

namespace ringmaster {

void SharedKeys::put(int64_t layer, const at::Tensor& keys_values_nw) {
    OfLayer& kept = layers_[layer];
    if (!kept.keys_values_nw.defined()) kept.keys_values_nw = keys_values_nw.clone();
}

void SharedKeys::add_gradient(int64_t layer, const at::Tensor& gradient_nw) {
    at::Tensor& sum_nw = layers_.at(layer).gradient_nw;
    if (sum_nw.defined())
        sum_nw.add_(gradient_nw);
    else
        sum_nw = gradient_nw.to(at::kFloat, false, true);
}

at::Tensor SharedKeys::take_gradient(int64_t layer) {
    const auto kept = layers_.find(layer);
    if (kept == layers_.end()) return {};
    at::Tensor sum_nw = std::move(kept->second.gradient_nw);
    layers_.erase(kept);
    return sum_nw;
}

at::Tensor TensorMachine::keys_values_of(const at::Tensor& qkv_nw) const {
    const int64_t queries = model_.num_heads * model_.head_dim;
    return qkv_nw.narrow(1, queries, qkv_nw.size(1) - queries);
}

void TensorMachine::lend_keys(const at::Tensor& qkv_nw) {
    if (!decodes() && all_layers_.lends_keys(layer_)) shared_keys_.put(layer_, keys_values_of(qkv_nw));
}

at::Tensor TensorMachine::with_borrowed_keys(const LayerKind& kind, const at::Tensor& q_nw) const {
    return decodes() ? q_nw : at::cat({q_nw, shared_keys_.of(kind.keys_of)}, 1);
}

at::Tensor TensorMachine::return_keys(const LayerKind& kind, const at::Tensor& dqkv_nw) {
    shared_keys_.add_gradient(kind.keys_of, keys_values_of(dqkv_nw));
    return dqkv_nw.narrow(1, 0, model_.num_heads * model_.head_dim).clone();
}

void TensorMachine::take_keys_back(const at::Tensor& dqkv_nw) {
    const at::Tensor sum_nw = shared_keys_.take_gradient(layer_);
    if (sum_nw.defined()) keys_values_of(dqkv_nw).add_(sum_nw);
}

}  // namespace ringmaster
