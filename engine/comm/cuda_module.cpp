#include "engine/comm/cuda_module.h"

#include <dlfcn.h>

#include <filesystem>
#include <mutex>

#include "engine/error.h"

namespace ringmaster {

namespace {

struct Module {
    decltype(&ringmaster_cuda_devices) devices = nullptr;
    decltype(&ringmaster_make_nccl) make_nccl = nullptr;
};

std::string reason_of_dl() {
    const char* reason = dlerror();
    return reason == nullptr ? "unknown" : reason;
}

/// Never closed: LibTorch registers its kernels while it loads, once for all.
Module open_module() {
    const auto path = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "ringmaster_cuda.so";
    if (!std::filesystem::exists(path)) {
        throw Error(Failure::Unreachable, "this build has no CUDA part: " + path.string() + " is missing", {},
                    "build where CUDA's nvcc is installed, or run with --device cpu");
    }
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        throw Error(Failure::Unreachable, "the CUDA part cannot be loaded: " + reason_of_dl(), {},
                    "run with --device cpu");
    }
    Module module;
    module.devices = reinterpret_cast<decltype(module.devices)>(dlsym(handle, "ringmaster_cuda_devices"));
    module.make_nccl = reinterpret_cast<decltype(module.make_nccl)>(dlsym(handle, "ringmaster_make_nccl"));
    if (module.devices == nullptr || module.make_nccl == nullptr) {
        throw Error(Failure::Unreachable, "the CUDA part " + path.string() + " is of another build", {},
                    "build again");
    }
    return module;
}

const Module& module() {
    static std::mutex mutex;
    static Module opened;
    std::lock_guard lock(mutex);
    if (opened.devices == nullptr) opened = open_module();
    return opened;
}

}  // namespace

void load_cuda(int device_index) {
    std::string reason;
    const int devices = module().devices(&reason);
    if (devices == 0) {
        throw Error(Failure::Unreachable, "no CUDA device: " + reason, {}, "run with --device cpu");
    }
    if (device_index >= devices) {
        throw Error(Failure::Unreachable,
                    "local rank " + std::to_string(device_index) +
                        " has no CUDA device: this machine shows " + std::to_string(devices),
                    {}, "start at most one rank per device");
    }
}

c10::intrusive_ptr<c10d::Backend> make_nccl_backend(const BackendRequest& request) {
    c10::intrusive_ptr<c10d::Backend> backend;
    module().make_nccl(request, &backend);
    return backend;
}

}  // namespace ringmaster
