/// Holds the keys and values that several layers read, between the forward of the layer that makes them and
/// its backward, and the sums of their gradients.
///
/// Letters: N tokens, W keys and values of all heads.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>

namespace ringmaster {

class SharedKeys {
  public:
    /// Keeps a copy of a layer's keys and values, unless a copy exists already.
    void put(int64_t layer, const at::Tensor& keys_values_nw);
    const at::Tensor& of(int64_t layer) const { return layers_.at(layer).keys_values_nw; }
    /// Adds a gradient to the layer's sum, which is float32.
    void add_gradient(int64_t layer, const at::Tensor& gradient_nw);
    /// Returns the sum, undefined if there is none, and forgets the layer.
    at::Tensor take_gradient(int64_t layer);
    void clear() { layers_.clear(); }

  private:
    struct OfLayer {
        at::Tensor keys_values_nw, gradient_nw;
    };
    std::map<int64_t, OfLayer> layers_;
};

}  // namespace ringmaster
