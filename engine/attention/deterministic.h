/// Whether CUDA's kernels may add in any order.
#pragma once

#include <string>

namespace ringmaster {

/// What RINGMASTER_CUDA_DETERMINISTIC says, read once: unset, true. Throws Error(Usage) where it is neither 0
/// nor 1.
bool cuda_is_deterministic();

/// What a value of it means.
bool deterministic_named(const std::string& value);

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
