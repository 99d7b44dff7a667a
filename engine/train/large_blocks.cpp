#include "engine/train/large_blocks.h"

#include <sys/mman.h>

#include <algorithm>

namespace ringmaster {

namespace {

void* map(size_t bytes) {
    void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block == MAP_FAILED ? nullptr : block;
}

}  // namespace

void* LargeBlocks::take(size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto last = std::find_if(waiting_.rbegin(), waiting_.rend(),
                                   [&](const Waiting& waiting) { return waiting.bytes == bytes; });
    void* block = nullptr;
    if (last != waiting_.rend()) {
        block = last->block;
        waiting_.erase(std::next(last).base());
        waiting_bytes_ -= bytes;
    } else {
        const size_t room = std::max(most_used_, used_ + bytes);
        while (!waiting_.empty() && used_ + bytes + waiting_bytes_ > room) drop_oldest();
        block = map(bytes);
        while (block == nullptr && !waiting_.empty()) {
            drop_oldest();
            block = map(bytes);
        }
    }
    if (block == nullptr) return nullptr;
    used_ += bytes;
    most_used_ = std::max(most_used_, used_);
    return block;
}

void LargeBlocks::give_back(void* block, size_t bytes) {
    const std::lock_guard lock(mutex_);
    used_ -= bytes;
    waiting_.push_back({block, bytes});
    waiting_bytes_ += bytes;
}

void LargeBlocks::drop_oldest() {
    munmap(waiting_.front().block, waiting_.front().bytes);
    waiting_bytes_ -= waiting_.front().bytes;
    waiting_.pop_front();
}

}  // namespace ringmaster
