#include "engine/comm/cuda_module.h"

#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "engine/error.h"

namespace ringmaster {

namespace {

struct Module {
    void* handle = nullptr;
    decltype(&ringmaster_cuda_devices) devices = nullptr;
    decltype(&ringmaster_cuda_multiprocessors) multiprocessors = nullptr;
    decltype(&ringmaster_cuda_stream) stream = nullptr;
    decltype(&ringmaster_make_nccl) make_nccl = nullptr;
};

std::filesystem::path module_file() {
    constexpr const char* kName = "ringmaster_cuda.so";
    const auto program_folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    const auto of_build = program_folder.parent_path() / "bin" / kName;
    return !exists(program_folder / kName) && exists(of_build) ? of_build : program_folder / kName;
}

/// Sets variables that LibTorch and cuBLAS read. Without a fixed workspace, cuBLAS's sums differ from run to
/// run, and LibTorch refuses cuBLAS's products while a Deterministic object (deterministic.h) exists.
void set_up_libraries() {
    setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
    if (std::getenv("PYTORCH_CUDA_ALLOC_CONF") == nullptr)
        setenv("PYTORCH_ALLOC_CONF", "expandable_segments:True", 0);
}

/// Throws if this process has asked LibTorch about CUDA, because LibTorch looks for its CUDA part only once.
void refuse_if_asked_before() {
    if (at::detail::getCUDAHooks().hasCUDART()) return;
    throw Error(Failure::Refused, Code("ENGINE-CUDA"),
                "LibTorch was asked about CUDA before its CUDA part was loaded: it sees no device now");
}

std::string reason_of_dl() {
    const char* reason = dlerror();
    return reason == nullptr ? "unknown" : reason;
}

/// Opens the CUDA part and never closes it: LibTorch registers its kernels only once, while it loads.
Module open_module() {
    const auto path = module_file();
    if (!std::filesystem::exists(path)) {
        throw Error(Failure::Unreachable, Code("ENGINE-CUDA"),
                    "this build has no CUDA part: " + path.string() + " is missing", {},
                    "build it again without RINGMASTER_CUDA=off, or run with --device cpu");
    }
    set_up_libraries();
    Module module;
    module.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module.handle == nullptr) {
        throw Error(Failure::Unreachable, Code("ENGINE-CUDA"),
                    "the CUDA part cannot be loaded: " + reason_of_dl(), {}, "run with --device cpu");
    }
    refuse_if_asked_before();
    const auto find = [&]<typename Function>(Function& function, const char* name) {
        function = reinterpret_cast<Function>(dlsym(module.handle, name));
    };
    find(module.devices, "ringmaster_cuda_devices");
    find(module.multiprocessors, "ringmaster_cuda_multiprocessors");
    find(module.stream, "ringmaster_cuda_stream");
    find(module.make_nccl, "ringmaster_make_nccl");
    if (module.devices == nullptr || module.multiprocessors == nullptr || module.stream == nullptr ||
        module.make_nccl == nullptr) {
        throw Error(Failure::Unreachable, Code("ENGINE-CUDA"),
                    "the CUDA part " + path.string() + " is of another build", {}, "build again");
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
        throw Error(Failure::Unreachable, Code("ENGINE-DEVICE"), "no CUDA device: " + reason, {},
                    "run with --device cpu");
    }
    if (device_index >= devices) {
        throw Error(Failure::Unreachable, Code("ENGINE-DEVICE"),
                    "local rank " + std::to_string(device_index) +
                        " has no CUDA device: this machine shows " + std::to_string(devices),
                    {}, "start at most one rank per device");
    }
}

int cuda_devices() {
    std::string reason;
    return module().devices(&reason);
}

int cuda_multiprocessors(int device_index) {
    return module().multiprocessors(device_index);
}

void* cuda_function(const char* name) {
    void* function = dlsym(module().handle, name);
    if (function != nullptr) return function;
    throw Error(Failure::Unreachable, Code("ENGINE-CUDA"), std::string("the CUDA part has no ") + name, {},
                "build again");
}

void* current_cuda_stream(int device_index) {
    return module().stream(device_index);
}

c10::intrusive_ptr<c10d::Backend> make_nccl_backend(const BackendRequest& request) {
    c10::intrusive_ptr<c10d::Backend> backend;
    module().make_nccl(request, &backend);
    return backend;
}

}  // namespace ringmaster
