#include "engine/train/tensor_memory.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <atomic>
#include <cstdlib>

#include "engine/error.h"
#include "engine/plan/findings.h"
#include "engine/train/large_blocks.h"

namespace ringmaster {

namespace {

constexpr size_t kHeaderBytes = 64;  // keeps the alignment of LibTorch's own allocator
constexpr uint8_t kPriority = 5;

std::atomic<int64_t> current_bytes{0};
std::atomic<int64_t> peak_bytes{0};

void add(int64_t bytes) {
    int64_t now = current_bytes.fetch_add(bytes) + bytes;
    int64_t peak = peak_bytes.load();
    while (now > peak && !peak_bytes.compare_exchange_weak(peak, now)) {
    }
}

LargeBlocks& large_blocks() {
    static auto* const blocks = new LargeBlocks;  // outlives every tensor
    return *blocks;
}

/// Returns a block with room for a header; null if there is no memory left.
void* block_of(size_t bytes) {
    if (bytes >= LargeBlocks::kSmallest) return large_blocks().take(bytes + kHeaderBytes);
    void* block = nullptr;
    return posix_memalign(&block, kHeaderBytes, bytes + kHeaderBytes) == 0 ? block : nullptr;
}

/// Frees a block; `data` follows a header that holds the size.
void release(void* data) {
    if (data == nullptr) return;
    void* block = static_cast<char*>(data) - kHeaderBytes;
    const size_t bytes = *static_cast<size_t*>(block);
    current_bytes.fetch_sub(static_cast<int64_t>(bytes));
    if (bytes >= LargeBlocks::kSmallest)
        large_blocks().give_back(block, bytes + kHeaderBytes);
    else
        std::free(block);
}

class CountingAllocator final : public c10::Allocator {
  public:
    c10::DataPtr allocate(size_t bytes) override {
        if (bytes == 0) return {nullptr, nullptr, &release, c10::Device(c10::kCPU)};
        void* block = block_of(bytes);
        if (block == nullptr) {
            throw Error(Failure::Refused, Code("ENGINE-MEMORY"),
                        "out of memory: a tensor of " + size_text(double(bytes)) +
                            " could not be allocated, " + size_text(double(current_bytes.load())) +
                            " of tensors are in use",
                        {},
                        "shorten sequence_len, use more ranks in context_parallel_size, or set "
                        "gradient_checkpointing and tiled_mlp: true");
        }
        *static_cast<size_t*>(block) = bytes;
        add(static_cast<int64_t>(bytes));
        void* data = static_cast<char*>(block) + kHeaderBytes;
        return {data, data, &release, c10::Device(c10::kCPU)};
    }
    c10::DeleterFnPtr raw_deleter() const override { return &release; }
    void copy_data(void* to, const void* from, size_t bytes) const override {
        default_copy_data(to, from, bytes);
    }
};

constexpr auto kAllPools = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);

}  // namespace

void count_cpu_memory() {
    static CountingAllocator allocator;
    c10::SetCPUAllocator(&allocator, kPriority);
}

TensorMemory tensor_memory(at::Device device) {
    if (device.is_cpu()) return {current_bytes.load(), peak_bytes.load()};
    auto stats = c10::getDeviceAllocator(device.type())->getDeviceStats(device.index());
    const auto& bytes = stats.allocated_bytes[kAllPools];
    return {bytes.current, bytes.peak};
}

void reset_peak(at::Device device) {
    if (device.is_cpu()) {
        peak_bytes.store(current_bytes.load());
    } else {
        c10::getDeviceAllocator(device.type())->resetPeakStats(device.index());
    }
}

}  // namespace ringmaster
