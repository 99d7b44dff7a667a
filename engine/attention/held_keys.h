/// Holds the keys and values of a layer, and the sums of their gradients, for a sequence whose chunks are
/// computed one after the other. A chunk reads the keys of earlier chunks from here, as a rank of a ring
/// receives keys from a neighbour.
///
/// Letters: B rows, K key/value heads, T a chunk's tokens, D head_dim.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>

namespace ringmaster {

/// Holds keys and values as a pair. The last dim is contiguous; other strides are free.
struct KeysValues {
    at::Tensor k_btkd;
    at::Tensor v_btkd;
};

class HeldKeys {
  public:
    virtual ~HeldKeys() = default;

    /// Starts copying a chunk's keys and values to the device. Also copies the sums of their gradients if
    /// `with_sums` is set.
    virtual void fetch(size_t chunk, bool with_sums) = 0;
    virtual KeysValues keys(size_t chunk) = 0;
    /// Returns the float32 sums and stops holding them. The tensors are undefined if nothing was summed yet.
    virtual KeysValues take_sums(size_t chunk) = 0;
    virtual void put_sums(size_t chunk, KeysValues sums) = 0;
};

}  // namespace ringmaster
