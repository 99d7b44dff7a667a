/// The tensors of one micro-batch, allocated and freed on paper in the order of the engine's own code: of the
/// last layer's forward, the head, and that layer's backward, beside what all others keep. The peak is there;
/// or, where states are shared, a layer on, when a layer's gradients are reduced and not the head's; or at the
/// embedding's gradient, when nothing else is left.
///
/// Follows engine/model/decoder.cpp, engine/model/ops.cpp and engine/attention line by line; letters as in
/// memory.h.
#pragma once

#include <array>
#include <utility>

#include "engine/plan/memory.h"

namespace ringmaster {

enum class MemoryPart { Weights, Gradients, Optimizer, Activations, Workspace, Logits, Communication };
constexpr size_t kMemoryParts = 7;

/// Bytes in use, by part, and what they were when they were most.
class Heap {
  public:
    /// In use while it lives.
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
    /// Of one operation: gone behind it.
    void touch(double bytes, MemoryPart part = MemoryPart::Workspace) { take(bytes, part); }

    double peak() const { return peak_; }
    double at_peak(MemoryPart part) const { return at_peak_[static_cast<size_t>(part)]; }
    double most(MemoryPart part) const { return most_[static_cast<size_t>(part)]; }  ///< at any time

  private:
    using Parts = std::array<double, kMemoryParts>;

    void change(double bytes, MemoryPart part);

    Parts now_{};
    Parts at_peak_{};
    Parts most_{};
    double sum_ = 0, peak_ = 0;
};

/// From states to the end of a micro-batch.
Heap trace_step(const MemoryInputs& in);

}  // namespace ringmaster
