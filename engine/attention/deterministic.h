/// Makes LibTorch's CUDA kernels add in a fixed order.
#pragma once

#include "engine/layout/deterministic.h"

namespace ringmaster {

/// Makes LibTorch's kernels avoid atomics while an object constructed with `wanted` = true exists. Use it
/// around single calls: operations that need atomics refuse to run meanwhile. Several threads may hold
/// objects.
class Deterministic {
  public:
    explicit Deterministic(bool wanted);
    ~Deterministic();
    Deterministic(const Deterministic&) = delete;
    Deterministic& operator=(const Deterministic&) = delete;

  private:
    bool wanted_;
};

}  // namespace ringmaster
