// Exports what the engine looks for in ringmaster_cuda.so (engine/comm/cuda_module.h).
#include "engine/comm/cuda_module.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>

#include "engine/kernels/row_kernels.h"
#include "tests/device_on_host/host_device.h"
#include "tests/support/rows_on_host.h"

namespace {

/// Counts launches and writes them to $RINGMASTER_TEST_LAUNCHES at the end: all kernels in float32, then all
/// in bfloat16, then all in float16. The engine ends without destroying static objects.
struct Launches {
    std::array<std::atomic<int>, std::variant_size_v<ringmaster::RowKernel>> of_kind{};

    Launches() { std::at_quick_exit(write); }
    static void write();
} launches;

void Launches::write() {
    const char* file = std::getenv("RINGMASTER_TEST_LAUNCHES");
    if (file == nullptr) return;
    std::ofstream to(file);
    for (const auto& count : launches.of_kind) to << count << ' ';
}

}  // namespace

int ringmaster_cuda_devices(std::string*) {
    return 8;
}

int ringmaster_cuda_multiprocessors(int) {
    return 132;
}

void* ringmaster_cuda_stream(int) {
    ringmaster::host_device::finish_current_stream();
    return nullptr;
}

const char* ringmaster_pin_host(void*, size_t) {
    return nullptr;
}

void ringmaster_unpin_host(void*) {}

const char* ringmaster_launch_rows(const ringmaster::RowKernel* kernel, void*) {
    constexpr int kLanes = 1;
    ++launches.of_kind[kernel->index()];
    ringmaster::run_rows_on_host(*kernel, kLanes);
    return nullptr;
}

void ringmaster_make_nccl(const ringmaster::BackendRequest&, c10::intrusive_ptr<c10d::Backend>*) {
    TORCH_CHECK(false, "the device of tests has no NCCL");
}
