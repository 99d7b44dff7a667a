#include <condition_variable>
#include <deque>
#include <thread>

#include "engine/comm/failure.h"
#include "engine/comm/transfer.h"
#include "engine/error.h"

namespace ringmaster {

namespace {

using Clock = Meter::Clock;

struct HostTransfer final : Transfer::State {
    HostTransfer(std::shared_ptr<Meter> meter_, std::string who_, std::chrono::milliseconds timeout_)
        : meter(std::move(meter_)), who(std::move(who_)), timeout(timeout_) {}

    void wait() override {
        std::unique_lock lock(mutex);
        if (!complete) {
            const auto from = Clock::now();
            completed.wait(lock, [this] { return complete; });
            meter->exposed(std::chrono::duration<double>(Clock::now() - from).count());
        }
        if (!failure.empty()) throw Error(Failure::Refused, failure, who);
    }

    /// On the waiting thread. Works that come after a failed one are dropped: their group is broken.
    void follow() {
        std::string cause;
        try {
            for (auto& operation : operations) {
                const auto work = operation.work;
                try {
                    if (!work->wait(timeout)) cause = operation.what + ": given up";
                } catch (...) {
                    cause = operation.what + ": " + cause_of(std::current_exception());
                }
                if (!cause.empty()) break;
            }
        } catch (...) {
            cause = "out of memory while waiting";
        }
        finish(cause);
    }

    void finish(const std::string& cause) {
        meter->end(Clock::now());
        std::lock_guard lock(mutex);
        failure = cause;
        tensors.clear();
        complete = true;
        completed.notify_all();
    }

    const std::shared_ptr<Meter> meter;
    const std::string who;
    const std::chrono::milliseconds timeout;
    std::mutex mutex;
    std::condition_variable completed;
    bool complete = false;
    std::string failure;
};

/// What the waiting thread and its owner share; the thread keeps it alive where it has to be left behind.
struct Queue {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::shared_ptr<HostTransfer>> transfers;
    bool stopping = false;
    bool stopped = false;
};

/// Works are waited for in the order of posting. One that completes early is seen late, but never later than
/// one posted before it: the union of what is in flight stays exact.
void follow_all(const std::shared_ptr<Queue>& queue) {
    std::unique_lock lock(queue->mutex);
    while (true) {
        queue->changed.wait(lock, [&] { return queue->stopping || !queue->transfers.empty(); });
        if (queue->transfers.empty()) break;
        const auto transfer = queue->transfers.front();
        lock.unlock();
        transfer->follow();
        lock.lock();
        queue->transfers.pop_front();
    }
    queue->stopped = true;
    queue->changed.notify_all();
}

class HostWatch final : public Watch {
  public:
    HostWatch(std::shared_ptr<Meter> meter, std::string who, std::chrono::milliseconds timeout)
        : meter_(std::move(meter)), who_(std::move(who)), timeout_(timeout) {
        thread_ = std::thread([queue = queue_] { follow_all(queue); });
    }

    ~HostWatch() override { stop(); }

    std::shared_ptr<Transfer::State> begin() override {
        meter_->begin(Clock::now());
        return std::make_shared<HostTransfer>(meter_, who_, timeout_);
    }

    void posted(const std::shared_ptr<Transfer::State>& state) override {
        std::lock_guard lock(queue_->mutex);
        queue_->transfers.push_back(std::static_pointer_cast<HostTransfer>(state));
        queue_->changed.notify_all();
    }

    void failed(const std::shared_ptr<Transfer::State>&) override { meter_->end(Clock::now()); }

    bool stop() override {
        if (!thread_.joinable()) return true;
        constexpr auto kGrace = std::chrono::seconds(2);
        std::unique_lock lock(queue_->mutex);
        queue_->stopping = true;
        queue_->changed.notify_all();
        for (const auto& transfer : queue_->transfers) give_up(*transfer);
        const bool stopped = queue_->changed.wait_for(lock, kGrace, [this] { return queue_->stopped; });
        lock.unlock();
        if (stopped) {
            thread_.join();
        } else {
            thread_
                .detach();  // a collective that nobody answers: it ends with its timeout, or with the process
        }
        return stopped;
    }

    void collect() override {}

  private:
    static void give_up(HostTransfer& transfer) {
        for (const auto& operation : transfer.operations) {
            try {
                operation.work->abort();  // sends and receives can, collectives cannot
            } catch (...) {
            }
        }
    }

    std::shared_ptr<Meter> meter_;
    std::string who_;
    std::chrono::milliseconds timeout_;
    std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
    std::thread thread_;
};

}  // namespace

std::unique_ptr<Watch> watch_on_host(std::shared_ptr<Meter> meter, std::string who,
                                     std::chrono::milliseconds timeout) {
    return std::make_unique<HostWatch>(std::move(meter), std::move(who), timeout);
}

}  // namespace ringmaster
