// Follows transfers on a CUDA device. The device runs later than the host, so an event on the device marks a
// transfer's completion and is read after the device has passed it. Nothing here waits for the device, so
// measuring does not reduce the overlap.
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <deque>

#include "engine/comm/failure.h"
#include "engine/comm/transfer.h"
#include "engine/error.h"

namespace ringmaster {

namespace {

constexpr double kMillisecond = 1e-3;  // seconds per unit of c10::Event::elapsedTime

c10::Event record_on(const c10::Stream& stream) {
    // With this flag, the event records its time.
    c10::Event event(stream.device_type(), c10::EventFlag::BACKEND_DEFAULT);
    event.record(stream);
    return event;
}

/// Holds the events at both ends of an interval, whose length is read only after the device has passed `end`.
struct Interval {
    c10::Event begin;
    c10::Event end;
};

struct DeviceMeasure {
    std::mutex mutex;
    std::deque<Interval> in_flight;  ///< transfers in the order of posting
    std::deque<Interval> exposed;
};

struct DeviceTransfer final : Transfer::State {
    DeviceTransfer(std::shared_ptr<DeviceMeasure> measure_, std::shared_ptr<const GroupContext> context_,
                   at::Device device_)
        : measure(std::move(measure_)), context(std::move(context_)), device(device_) {}

    void wait() override {
        const c10::impl::VirtualGuardImpl guard(device.type());
        const c10::Stream stream = guard.getStream(device);
        c10::Event reached = record_on(stream);
        for (const auto& operation : operations) {
            try {
                operation.work->wait();  // makes the current stream wait, not this thread
            } catch (...) {
                throw context->broken({place, operation.partner, context->name, sequence},
                                      failure_of(std::current_exception()));
            }
        }
        tensors.clear();
        std::lock_guard lock(measure->mutex);
        measure->exposed.push_back({std::move(reached), record_on(stream)});
    }

    const std::shared_ptr<DeviceMeasure> measure;
    const std::shared_ptr<const GroupContext> context;
    const at::Device device;
    std::optional<c10::Event> begin;
};

class DeviceWatch final : public Watch {
  public:
    DeviceWatch(std::shared_ptr<const GroupContext> context, at::Device device)
        : context_(std::move(context)),
          device_(device),
          guard_(device.type()),
          side_(guard_.getStreamFromGlobalPool(device)) {}

    std::shared_ptr<Transfer::State> begin() override {
        auto transfer = std::make_shared<DeviceTransfer>(measure_, context_, device_);
        transfer->begin = record_on(guard_.getStream(device_));
        return transfer;
    }

    /// Makes a side stream wait for the operations, so that an event on that stream marks their completion
    /// while the current stream goes on computing.
    void posted(const std::shared_ptr<Transfer::State>& state) override {
        const auto transfer = std::static_pointer_cast<DeviceTransfer>(state);
        const c10::Stream current = guard_.exchangeStream(side_);
        try {
            for (const auto& operation : transfer->operations) operation.work->synchronize();
        } catch (...) {
            guard_.exchangeStream(current);
            throw context_->broken(
                {transfer->place, transfer->operations[0].partner, context_->name, transfer->sequence},
                failure_of(std::current_exception()));
        }
        c10::Event completed = record_on(side_);
        guard_.exchangeStream(current);
        std::lock_guard lock(measure_->mutex);
        measure_->in_flight.push_back({std::move(*transfer->begin), std::move(completed)});
    }

    void failed(const std::shared_ptr<Transfer::State>&) override {}

    bool stop() override { return true; }  // the backend aborts its communicators itself

    void collect() override {
        std::lock_guard lock(measure_->mutex);
        auto& in_flight = measure_->in_flight;
        std::vector<std::pair<double, double>> passed;
        std::optional<Interval> first;
        while (!in_flight.empty() && in_flight.front().end.query()) {
            Interval interval = std::move(in_flight.front());
            in_flight.pop_front();
            const c10::Event& origin = first ? first->begin : interval.begin;
            passed.emplace_back(origin.elapsedTime(interval.begin) * kMillisecond,
                                origin.elapsedTime(interval.end) * kMillisecond);
            if (!first) first = std::move(interval);
        }
        context_->meter->in_flight(union_length(std::move(passed)));
        auto& exposed = measure_->exposed;
        for (; !exposed.empty() && exposed.front().end.query(); exposed.pop_front()) {
            context_->meter->exposed(exposed.front().begin.elapsedTime(exposed.front().end) * kMillisecond);
        }
    }

  private:
    std::shared_ptr<const GroupContext> context_;
    at::Device device_;
    c10::impl::VirtualGuardImpl guard_;
    c10::Stream side_;
    std::shared_ptr<DeviceMeasure> measure_ = std::make_shared<DeviceMeasure>();
};

}  // namespace

std::unique_ptr<Watch> watch_on_device(std::shared_ptr<const GroupContext> context, at::Device device) {
    return std::make_unique<DeviceWatch>(std::move(context), device);
}

}  // namespace ringmaster
