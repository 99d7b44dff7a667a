/// Allocates large tensors from the system and caches them by size. The C library's heap has one of two
/// costs. It fragments, which takes a fifth of a process's memory, or it returns every freed block to the
/// system, which then clears new pages at every step.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>

namespace ringmaster {

/// Caches freed blocks for the next tensor of exactly their size, because training steps repeat the same
/// sizes. Used and cached blocks together never exceed the peak of the used blocks.
class LargeBlocks {
  public:
    static constexpr size_t kSmallest = 1 << 20;  ///< bytes

    /// Returns a block aligned to a page; null if the system has no more memory.
    void* take(size_t bytes);
    void give_back(void* block, size_t bytes);

  private:
    struct Waiting {
        void* block;
        size_t bytes;
    };

    void drop_oldest();

    std::mutex mutex_;
    std::deque<Waiting> waiting_;  ///< the oldest first
    size_t waiting_bytes_ = 0;
    size_t used_ = 0;
    size_t most_used_ = 0;
};

}  // namespace ringmaster
