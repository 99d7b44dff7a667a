#include "engine/model/host_arena.h"

#include <ATen/ATen.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

#include "engine/comm/backends.h"
#include "engine/comm/cuda_module.h"
#include "engine/error.h"
#include "engine/plan/findings.h"

namespace ringmaster {

namespace {

/// The blocks in use, ordered by the address of their first byte.
struct Blocks {
    std::mutex mutex;
    std::map<const char*, size_t> bytes_of;
    int64_t now = 0, most = 0;
    bool are_closed = false;

    void add(const void* memory, size_t bytes) {
        const std::lock_guard lock(mutex);
        bytes_of[static_cast<const char*>(memory)] = bytes;
        now += static_cast<int64_t>(bytes);
        most = std::max(most, now);
    }
    void remove(const void* memory) {
        const std::lock_guard lock(mutex);
        const auto block = bytes_of.find(static_cast<const char*>(memory));
        now -= static_cast<int64_t>(block->second);
        bytes_of.erase(block);
    }
    /// Returns the first byte of the block that contains `memory`; null if there is none.
    const char* block_of(const void* memory) {
        const std::lock_guard lock(mutex);
        const auto after = bytes_of.upper_bound(static_cast<const char*>(memory));
        if (after == bytes_of.begin()) return nullptr;
        const auto& [begin, bytes] = *std::prev(after);
        return static_cast<const char*>(memory) < begin + bytes ? begin : nullptr;
    }
    void protect(const char* block, bool opens) {
        mprotect(const_cast<char*>(block), bytes_of.at(block), opens ? PROT_READ | PROT_WRITE : PROT_NONE);
    }
    void protect_all(bool opens) {
        const std::lock_guard lock(mutex);
        are_closed = !opens;
        for (const auto& [block, bytes] : bytes_of) protect(block, opens);
    }
};

Blocks& blocks() {
    static auto* const all = new Blocks;  // outlives every tensor
    return *all;
}

[[noreturn]] void refuse(size_t bytes, const std::string& reason) {
    throw Error(Failure::Refused, Code("ENGINE-MEMORY"),
                size_text(double(bytes)) + " of host memory could not be allocated: " + reason + "; " +
                    size_text(double(blocks().now)) + " are in use",
                {}, "offload less, shorten sequence_len, or use more nodes");
}

/// Returns a mapping of an unnamed file in `folder`; MAP_FAILED if the file or the mapping cannot be made.
void* map_file(const char* folder, size_t bytes) {
    const int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0) return MAP_FAILED;
    void* memory = MAP_FAILED;
    if (posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0)
        memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return memory;
}

/// Returns the folder of the files that hold the memory; null if the memory is not mapped from files.
const char* folder_of_files() {
    const char* folder = std::getenv("RINGMASTER_HOST_ARENA");
    return folder != nullptr && *folder != '\0' ? folder : nullptr;
}

void* map(size_t bytes, at::Device device) {
    if (device.is_cpu() && folder_of_files() != nullptr) return map_file(folder_of_files(), bytes);
    return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

using Pin = decltype(&ringmaster_pin_host);
using Unpin = decltype(&ringmaster_unpin_host);

/// Pins the memory. Returns null, or the reason why the memory cannot be pinned.
const char* pin(void* memory, size_t bytes) {
    return reinterpret_cast<Pin>(cuda_function("ringmaster_pin_host"))(memory, bytes);
}

void unpin(void* memory) {
    reinterpret_cast<Unpin>(cuda_function("ringmaster_unpin_host"))(memory);
}

}  // namespace

at::Tensor host_zeros(at::IntArrayRef sizes, at::ScalarType dtype, at::Device device) {
    const at::TensorOptions options = at::TensorOptions().dtype(dtype);
    const auto bytes =
        static_cast<size_t>(c10::multiply_integers(sizes)) * static_cast<size_t>(c10::elementSize(dtype));
    if (bytes == 0) return at::zeros(sizes, options);
    void* memory = map(bytes, device);
    if (memory == MAP_FAILED) refuse(bytes, "the system has no more");
    const bool pins = !device.is_cpu();
    if (const char* problem = pins ? pin(memory, bytes) : nullptr) {
        munmap(memory, bytes);
        refuse(bytes, std::string("they cannot be pinned: ") + problem);
    }
    blocks().add(memory, bytes);
    const auto free = [bytes, pins](void* data) {
        blocks().remove(data);
        if (pins) unpin(data);
        munmap(data, bytes);
    };
    return at::from_blob(memory, sizes, free, options);
}

Flat host_flat(const Parameters& parameters, bool sharded, at::ScalarType dtype) {
    const Flat without_memory = parameters.make_flat(sharded, dtype, at::kMeta);
    return {host_zeros(without_memory.values.sizes(), dtype, parameters.device()), sharded};
}

bool lies_in_host(const at::Tensor& tensor) {
    return tensor.is_cpu() && blocks().block_of(tensor.const_data_ptr()) != nullptr;
}

int64_t host_peak_bytes() {
    const std::lock_guard lock(blocks().mutex);
    return blocks().most;
}

void reset_host_peak() {
    const std::lock_guard lock(blocks().mutex);
    blocks().most = blocks().now;
}

HostIsClosed::HostIsClosed() {
    if (folder_of_files() != nullptr) blocks().protect_all(false);
}

HostIsClosed::~HostIsClosed() {
    if (folder_of_files() != nullptr) blocks().protect_all(true);
}

HostAccess::HostAccess(const at::Tensor& tensor) {
    if (!blocks().are_closed || !tensor.is_cpu()) return;
    const char* block = blocks().block_of(tensor.const_data_ptr());
    if (block == nullptr) return;
    const std::lock_guard lock(blocks().mutex);
    blocks().protect(block, true);
    closes_ = block;
}

HostAccess::~HostAccess() {
    if (closes_ == nullptr) return;
    const std::lock_guard lock(blocks().mutex);
    blocks().protect(static_cast<const char*>(closes_), false);
}

}  // namespace ringmaster
