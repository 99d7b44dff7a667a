/// Runs the threads that answer connections, with a short queue. While the queue is full, the server accepts
/// no connection, so that no number of clients takes all file descriptors.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ringmaster {

class BoundedQueue : public httplib::TaskQueue {
  public:
    BoundedQueue(size_t threads, size_t most_waiting) : most_waiting_(most_waiting) {
        for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
    }

    /// Waits until there is room.
    void enqueue(std::function<void()> job) override {
        std::unique_lock lock(lock_);
        room_.wait(lock, [this] { return jobs_.size() < most_waiting_ || ends_; });
        jobs_.push_back(std::move(job));
        come_.notify_one();
    }

    /// Returns after all jobs are done.
    void shutdown() override {
        {
            const std::lock_guard guard(lock_);
            ends_ = true;
        }
        come_.notify_all();
        room_.notify_all();
        threads_.clear();  // joins them
    }

  private:
    void work() {
        for (std::unique_lock lock(lock_);;) {
            come_.wait(lock, [this] { return !jobs_.empty() || ends_; });
            if (jobs_.empty()) return;
            const std::function<void()> job = std::move(jobs_.front());
            jobs_.pop_front();
            room_.notify_one();
            lock.unlock();
            job();
            lock.lock();
        }
    }

    const size_t most_waiting_;
    std::mutex lock_;
    std::condition_variable come_, room_;
    std::deque<std::function<void()>> jobs_;
    bool ends_ = false;
    std::vector<std::jthread> threads_;
};

}  // namespace ringmaster
