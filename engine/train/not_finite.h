/// Finds where a value stopped being finite: the step is played again without an update, every layer looked
/// at.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "engine/comm/groups.h"
#include "engine/model/decoder.h"

namespace ringmaster {

class NotFiniteFinder {
  public:
    /// Watches the decoder until it is destroyed.
    explicit NotFiniteFinder(Decoder& decoder);
    ~NotFiniteFinder();

    /// The earliest place over all ranks, the same text on each: "on rank 1 in layer 3 (attention output)".
    /// Where no layer's values were at fault, the first parameter whose gradient is.
    std::string agree(Groups& groups, Parameters& parameters, at::Device device) const;

  private:
    Decoder& decoder_;
    int64_t looked_at_ = 0;
    int64_t found_at_ = 0;  ///< 1-based order of the look; 0: nothing found
    int layer_ = 0;
    int what_ = 0;
};

}  // namespace ringmaster
