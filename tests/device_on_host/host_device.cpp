// Implements the memory, streams, events and hooks of the device.
#include "tests/device_on_host/host_device.h"

#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>

namespace ringmaster::host_device {

namespace {

constexpr c10::DeviceIndex kDevices = 8;
thread_local c10::DeviceIndex device_now = 0;
thread_local c10::StreamId stream_now = 0;

struct Queue {
    std::deque<std::function<void()>> waiting;
    int64_t given = 0, done = 0;
};

std::recursive_mutex mutex;
std::map<c10::StreamId, Queue>& queues() {
    static auto* const all = new std::map<c10::StreamId, Queue>;
    return *all;
}

void run_until(c10::StreamId stream, int64_t position) {
    const std::lock_guard lock(mutex);
    Queue& queue = queues()[stream];
    while (queue.done < position) {
        const std::function<void()> work = std::move(queue.waiting.front());
        queue.waiting.pop_front();
        ++queue.done;
        work();
    }
}

std::atomic<int64_t> bytes_now{0}, bytes_most{0};

void count(int64_t bytes) {
    const int64_t now = bytes_now += bytes;
    for (int64_t most = bytes_most; now > most && !bytes_most.compare_exchange_weak(most, now);) {
    }
}

c10::Device device() {
    return {c10::DeviceType::CUDA, device_now};
}

/// Provides the device's statistics. The memory itself comes from CPU tensors (shown_to_device).
class Memory final : public c10::DeviceAllocator {
  public:
    c10::DataPtr allocate(size_t) override { TORCH_CHECK(false, "nobody asks it for memory"); }
    void copy_data(void* to, const void* from, size_t bytes) const override {
        default_copy_data(to, from, bytes);
    }
    bool initialized() override { return true; }
    void emptyCache(c10::MempoolId_t) override {}
    void recordStream(const c10::DataPtr&, c10::Stream) override {}
    c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override {
        c10::CachingDeviceAllocator::DeviceStats stats;
        stats.allocated_bytes[0].current = bytes_now;
        stats.allocated_bytes[0].peak = bytes_most;
        return stats;
    }
    void resetAccumulatedStats(c10::DeviceIndex) override {}
    void resetPeakStats(c10::DeviceIndex) override { bytes_most = bytes_now.load(); }
};

/// Allocates ordinary host memory as pinned memory, and records which addresses are pinned.
class Pinned final : public c10::Allocator {
  public:
    c10::DataPtr allocate(size_t bytes) override {
        void* data = std::malloc(bytes == 0 ? 1 : bytes);
        const std::lock_guard lock(mutex);
        blocks()[data] = bytes;
        return {data, data, &release, c10::Device(c10::kCPU)};
    }
    c10::DeleterFnPtr raw_deleter() const override { return &release; }
    void copy_data(void* to, const void* from, size_t bytes) const override {
        default_copy_data(to, from, bytes);
    }
    static bool has(const void* at) {
        const std::lock_guard lock(mutex);
        const auto after = blocks().upper_bound(const_cast<void*>(at));
        if (after == blocks().begin()) return false;
        const auto& [begin, bytes] = *std::prev(after);
        return static_cast<const char*>(at) < static_cast<const char*>(begin) + bytes;
    }

  private:
    static std::map<void*, size_t>& blocks() {
        static auto* const all = new std::map<void*, size_t>;
        return *all;
    }
    static void release(void* data) {
        const std::lock_guard lock(mutex);
        blocks().erase(data);
        std::free(data);
    }
};

struct Event {
    c10::StreamId stream = 0;
    int64_t position = 0;
    std::chrono::steady_clock::time_point time;
};

Event& event_of(void* event) {
    return *static_cast<Event*>(event);
}

class Guard final : public c10::impl::DeviceGuardImplInterface {
  public:
    c10::DeviceType type() const override { return c10::DeviceType::CUDA; }
    c10::Device exchangeDevice(c10::Device to) const override {
        const c10::Device before = device();
        uncheckedSetDevice(to);
        return before;
    }
    c10::Device getDevice() const override { return device(); }
    void setDevice(c10::Device to) const override { uncheckedSetDevice(to); }
    void uncheckedSetDevice(c10::Device to) const noexcept override {
        device_now = std::max<c10::DeviceIndex>(0, to.index());
    }
    static c10::Stream stream_of(c10::StreamId id) { return c10::Stream(c10::Stream::UNSAFE, device(), id); }
    c10::Stream getStream(c10::Device) const override { return stream_of(stream_now); }
    c10::Stream getDefaultStream(c10::Device) const override { return stream_of(0); }
    c10::Stream getStreamFromGlobalPool(c10::Device, bool) const override {
        static std::atomic<c10::StreamId> last{0};
        return stream_of(++last);
    }
    c10::Stream getNewStream(c10::Device at, int) const override {
        return getStreamFromGlobalPool(at, false);
    }
    c10::Stream exchangeStream(c10::Stream to) const override {
        return stream_of(std::exchange(stream_now, to.id()));
    }
    c10::DeviceIndex deviceCount() const noexcept override { return kDevices; }
    void destroyEvent(void* event, c10::DeviceIndex) const noexcept override {
        delete static_cast<Event*>(event);
    }
    void record(void** event, const c10::Stream& stream, c10::DeviceIndex, c10::EventFlag) const override {
        const std::lock_guard lock(mutex);
        if (*event == nullptr) *event = new Event;
        event_of(*event) = {stream.id(), queues()[stream.id()].given, std::chrono::steady_clock::now()};
    }
    void block(void* event, const c10::Stream&) const override { synchronizeEvent(event); }
    bool queryEvent(void* event) const override {
        const std::lock_guard lock(mutex);
        return event == nullptr || queues()[event_of(event).stream].done >= event_of(event).position;
    }
    void synchronizeEvent(void* event) const override {
        if (event != nullptr) run_until(event_of(event).stream, event_of(event).position);
    }
    bool queryStream(const c10::Stream& stream) const override {
        const std::lock_guard lock(mutex);
        return queues()[stream.id()].waiting.empty();
    }
    void synchronizeStream(const c10::Stream& stream) const override { finish(stream.id()); }
    void synchronizeDevice(c10::DeviceIndex) const override {
        const std::lock_guard lock(mutex);
        for (const auto& [stream, queue] : queues()) finish(stream);
    }
    double elapsedTime(void* first, void* second, c10::DeviceIndex) const override {
        const std::chrono::duration<double, std::milli> between =
            event_of(second).time - event_of(first).time;
        return between.count();
    }

  private:
    static void finish(c10::StreamId stream) {
        const std::lock_guard lock(mutex);
        run_until(stream, queues()[stream].given);
    }
};

class Hooks final : public at::CUDAHooksInterface {
  public:
    explicit Hooks(at::CUDAHooksArgs) {}
    void init() const override {}
    bool hasCUDA() const override { return true; }
    bool hasCUDART() const override { return true; }
    bool isBuilt() const override { return true; }
    bool isAvailable() const override { return true; }
    bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
    c10::DeviceIndex current_device() const override { return device_now; }
    c10::DeviceIndex deviceCount() const override { return kDevices; }
    bool isPinnedPtr(const void* at) const override { return Pinned::has(at); }
    c10::Allocator* getPinnedMemoryAllocator() const override {
        static auto* const pinned = new Pinned;
        return pinned;
    }
    c10::Device getDeviceFromPtr(void*) const override { return device(); }
};

C10_REGISTER_GUARD_IMPL(CUDA, Guard);

const bool memory_is_set = [] {
    c10::SetAllocator(c10::DeviceType::CUDA, new Memory);
    return true;
}();

void forget(void* storage) {
    delete static_cast<c10::Storage*>(storage);
}

/// Keeps a CPU tensor's storage for as long as a tensor of the device uses it, and counts its bytes.
struct Shown {
    c10::Storage storage;
    explicit Shown(c10::Storage it) : storage(std::move(it)) {
        count(static_cast<int64_t>(storage.nbytes()));
    }
    ~Shown() { count(-static_cast<int64_t>(storage.nbytes())); }
};
void hide(void* shown) {
    delete static_cast<Shown*>(shown);
}

at::Tensor tensor_over(c10::Storage storage, c10::DispatchKey key, const at::Tensor& like) {
    auto made =
        c10::make_intrusive<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(key), like.dtype());
    made->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
    if (like.unsafeGetTensorImpl()->is_wrapped_number()) made->set_wrapped_number(true);
    return at::Tensor(std::move(made));
}

}  // namespace

}  // namespace ringmaster::host_device

namespace at {
C10_REGISTER_CLASS(CUDAHooksRegistry, CUDAHooks, ringmaster::host_device::Hooks);
}  // namespace at

namespace ringmaster::host_device {

void give(c10::StreamId stream, std::function<void()> work) {
    const std::lock_guard lock(mutex);
    Queue& queue = queues()[stream];
    queue.waiting.push_back(std::move(work));
    ++queue.given;
}

void finish_current_stream() {
    const std::lock_guard lock(mutex);
    run_until(stream_now, queues()[stream_now].given);
}

c10::StreamId current_stream() {
    return stream_now;
}

at::Tensor shown_to_host(const c10::Storage& memory, const at::Tensor& like) {
    c10::DataPtr data(memory.mutable_data(), new c10::Storage(memory), &forget, c10::Device(c10::kCPU));
    return tensor_over(c10::Storage(c10::Storage::use_byte_size_t(), memory.nbytes(), std::move(data),
                                    c10::GetCPUAllocator(), true),
                       c10::DispatchKey::CPU, like);
}

at::Tensor without_memory(const at::Tensor& on_device) {
    return tensor_over(
        c10::Storage(c10::Storage::use_byte_size_t(), 0, c10::DataPtr(nullptr, c10::Device(c10::kCPU))),
        c10::DispatchKey::CPU, on_device);
}

at::Tensor shown_to_device(const at::Tensor& on_host) {
    const c10::Storage& memory = on_host.storage();
    c10::DataPtr data(memory.mutable_data(), new Shown(memory), &hide, device());
    return tensor_over(c10::Storage(c10::Storage::use_byte_size_t(), memory.nbytes(), std::move(data)),
                       c10::DispatchKey::CUDA, on_host);
}

at::Tensor view_of(const at::Tensor& on_device, const at::Tensor& view_on_host) {
    return tensor_over(on_device.storage(), c10::DispatchKey::CUDA, view_on_host);
}

}  // namespace ringmaster::host_device
