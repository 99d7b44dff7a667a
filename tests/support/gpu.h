/// Detects a GPU. Tests that need one have Gpu in their name, run only under the label gpu, and fail without
/// a GPU.
#pragma once

#include <ATen/Context.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

namespace ringmaster {

/// Loads libtorch_cuda, which no test program links, and returns true if it finds a GPU.
inline bool has_gpu() {
    static const bool loaded = dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) != nullptr;
    return loaded && at::hasCUDA();
}

}  // namespace ringmaster
