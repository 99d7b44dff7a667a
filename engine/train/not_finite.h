/// Finds where a value stopped being finite. The step is repeated without an update, and every layer's values
/// are checked.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "engine/comm/groups.h"
#include "engine/model/decoder.h"

namespace ringmaster {

class NotFiniteFinder {
  public:
    /// Watches the decoder until this object is destroyed.
    explicit NotFiniteFinder(Decoder& decoder);
    ~NotFiniteFinder();

    /// Returns the earliest place over all ranks, the same text on each: "on rank 1 in layer 3 (attention
    /// output)". If no layer's values are at fault, returns the first parameter whose gradient is.
    std::string agree(Groups& groups, Parameters& parameters, at::Device device) const;

  private:
    Decoder& decoder_;
    int64_t looked_at_ = 0;
    int64_t found_at_ = 0;  ///< 1-based number of the check that found a value; 0 if none did
    int layer_ = 0;
    int what_ = 0;
};

}  // namespace ringmaster
