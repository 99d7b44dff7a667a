/// Makes LibTorch's CUDA kernels add in a fixed order.
#pragma once

#include "engine/plan/deterministic.h"

namespace ringmaster {

/// While one lives that is `wanted`, LibTorch's kernels that have a way without atomics take it. Around
/// single calls: its operations that have no such way refuse to run. Threads may hold several.
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
