/// Tracks the bytes of simulated tensors.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

namespace ringmaster {

enum class MemoryPart { Weights, Gradients, Optimizer, Activations, Workspace, Logits, Communication };
constexpr size_t kMemoryParts = 7;

/// Tracks the bytes in use by part, and each part's bytes at the peak.
class Heap {
  public:
    /// Holds bytes for as long as it exists.
    class Block {
      public:
        Block() = default;
        Block(Heap& heap, double bytes, MemoryPart part) : heap_(&heap), bytes_(bytes), part_(part) {
            heap.change(bytes, part);
        }
        Block(Block&& other) noexcept { *this = std::move(other); }
        Block& operator=(Block&& other) noexcept {
            free();
            heap_ = std::exchange(other.heap_, nullptr);
            bytes_ = other.bytes_;
            part_ = other.part_;
            return *this;
        }
        ~Block() { free(); }
        void free() {
            if (heap_) std::exchange(heap_, nullptr)->change(-bytes_, part_);
        }
        bool is_held() const { return heap_ != nullptr; }

      private:
        Heap* heap_ = nullptr;
        double bytes_ = 0;
        MemoryPart part_ = MemoryPart::Workspace;
    };

    Block take(double bytes, MemoryPart part = MemoryPart::Workspace) { return {*this, bytes, part}; }
    /// Allocates and frees the temporary memory of one operation.
    void touch(double bytes, MemoryPart part = MemoryPart::Workspace) { take(bytes, part); }

    double in_use() const { return sum_; }
    double peak() const { return peak_; }
    double at_peak(MemoryPart part) const { return at_peak_[static_cast<size_t>(part)]; }
    double most(MemoryPart part) const { return most_[static_cast<size_t>(part)]; }  ///< peak of this part

  private:
    using Parts = std::array<double, kMemoryParts>;

    void change(double bytes, MemoryPart part);

    Parts now_{};
    Parts at_peak_{};
    Parts most_{};
    double sum_ = 0, peak_ = 0;
};

}  // namespace ringmaster
