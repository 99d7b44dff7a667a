/// Memory of large tensors, from the system itself: the C library's heap keeps holes where such tensors were,
/// a fifth of a process, or gives each back at once, and then its pages are made and cleared at every step.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>

namespace ringmaster {

/// Blocks that were given back wait for the next tensor of exactly their size, as a training step takes the
/// same ones again. What is used and what waits are together never more than what was used at once.
class LargeBlocks {
  public:
    static constexpr size_t kSmallest = 1 << 20;  ///< bytes

    /// On a page's border; null where the system has no more.
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
