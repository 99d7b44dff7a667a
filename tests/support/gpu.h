/// Tests that need a GPU have Gpu in their name, run under the label gpu alone, and fail without one.
#pragma once

#include <ATen/Context.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

namespace ringmaster {

/// Loads LibTorch's CUDA half, which no program of ours links.
inline bool has_gpu() {
    static const bool loaded = dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) != nullptr;
    return loaded && at::hasCUDA();
}

}  // namespace ringmaster
