#include <algorithm>
#include <condition_variable>
#include <deque>
#include <optional>
#include <thread>

#include "engine/comm/backends.h"
#include "engine/comm/failure.h"
#include "engine/comm/transfer.h"
#include "engine/error.h"

namespace ringmaster {

namespace {

using Clock = Meter::Clock;

struct HostTransfer final : Transfer::State {
    explicit HostTransfer(std::shared_ptr<const GroupContext> context_) : context(std::move(context_)) {}

    void wait() override {
        std::unique_lock lock(mutex);
        if (!complete) {
            const auto from = Clock::now();
            wait_for_completion(lock);
            context->meter->exposed(std::chrono::duration<double>(Clock::now() - from).count());
        }
        if (failure) throw context->broken(awaited(), *failure);
    }

    /// Waits in short steps, so that hardly any of the time in which this process was suspended is counted.
    void wait_for_completion(std::unique_lock<std::mutex>& lock) {
        constexpr Clock::duration kLook = std::chrono::seconds(1);
        Clock::duration waited{};
        while (true) {
            const std::chrono::milliseconds timeout = *context->timeout;
            context->progress->wait_for(awaited());
            const Clock::duration look = std::min<Clock::duration>(kLook, timeout - waited);
            const auto from = Clock::now();
            if (completed.wait_for(lock, look, [this] { return complete; })) break;
            waited += std::min(Clock::now() - from, 2 * look);
            if (waited >= timeout)
                throw context->broken(awaited(),
                                      {"nothing came for " + seconds_text(timeout), cause::kTimeout});
        }
        context->progress->wait_is_over();
    }

    Awaited awaited() const {
        return {place, operations.empty() ? Partner() : operations[under_way].partner, context->name,
                sequence};
    }

    /// Waits for each operation in turn, on the waiting thread. After a failure, drops the remaining
    /// operations.
    void follow() {
        std::optional<TransferFailure> failed;
        try {
            for (size_t i = 0; i < operations.size() && !failed; ++i) {
                under_way = i;
                const auto work = operations[i].work;
                try {
                    if (!work->wait(kEndless)) failed = TransferFailure{"given up", cause::kPeerLost};
                } catch (...) {
                    failed = failure_of(std::current_exception());
                }
            }
        } catch (...) {
            failed = TransferFailure{"out of memory while waiting", cause::kMemory};
        }
        finish(std::move(failed));
    }

    void finish(std::optional<TransferFailure> failed) {
        context->meter->end(Clock::now());
        std::lock_guard lock(mutex);
        failure = std::move(failed);
        tensors.clear();
        complete = true;
        completed.notify_all();
    }

    const std::shared_ptr<const GroupContext> context;
    std::atomic<size_t> under_way{0};  ///< index of the operation for which the thread waits
    std::mutex mutex;
    std::condition_variable completed;
    bool complete = false;
    std::optional<TransferFailure> failure;
};

/// Holds what the waiting thread and its owner share; the thread keeps it alive if the owner is destroyed
/// first.
struct Queue {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::shared_ptr<HostTransfer>> transfers;
    bool stopping = false;
    bool stopped = false;
};

/// Waits for transfers in the order of posting. A transfer that completes early is noticed when all transfers
/// posted before it have completed, so the union of the times in flight stays exact.
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
    explicit HostWatch(std::shared_ptr<const GroupContext> context) : context_(std::move(context)) {
        thread_ = std::thread([queue = queue_] { follow_all(queue); });
    }

    ~HostWatch() override { stop(); }

    std::shared_ptr<Transfer::State> begin() override {
        context_->meter->begin(Clock::now());
        return std::make_shared<HostTransfer>(context_);
    }

    void posted(const std::shared_ptr<Transfer::State>& state) override {
        std::lock_guard lock(queue_->mutex);
        queue_->transfers.push_back(std::static_pointer_cast<HostTransfer>(state));
        queue_->changed.notify_all();
    }

    void failed(const std::shared_ptr<Transfer::State>&) override { context_->meter->end(Clock::now()); }

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
            thread_.detach();  // the thread hangs in a collective and ends with the process
        }
        return stopped;
    }

    void collect() override {}

  private:
    static void give_up(HostTransfer& transfer) {
        for (const auto& operation : transfer.operations) {
            try {
                operation.work->abort();  // has an effect on sends and receives, but not on collectives
            } catch (...) {
            }
        }
    }

    std::shared_ptr<const GroupContext> context_;
    std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
    std::thread thread_;
};

}  // namespace

std::unique_ptr<Watch> watch_on_host(std::shared_ptr<const GroupContext> context) {
    return std::make_unique<HostWatch>(std::move(context));
}

}  // namespace ringmaster
