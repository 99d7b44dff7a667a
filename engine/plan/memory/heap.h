/// Tracks the bytes of simulated tensors.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace ringmaster {

enum class MemoryPart { Weights, Gradients, Optimizer, Activations, Workspace, Logits, Communication };
constexpr size_t kMemoryParts = 7;
constexpr MemoryPart kActivations = MemoryPart::Activations;

/// Tracks the bytes in use, and those in use at the peak, by part and by name.
class Heap {
  public:
    struct Named {
        std::string_view name;
        double bytes = 0;
    };
    /// Holds bytes in use as long as the Block exists.
    class Block {
      public:
        Block() = default;
        Block(Heap& heap, double bytes, MemoryPart part, std::string_view name)
            : heap_(&heap), bytes_(bytes), part_(part), name_(name) {
            heap.change(bytes, part, name);
        }
        Block(Block&& other) noexcept { *this = std::move(other); }
        Block& operator=(Block&& other) noexcept {
            free();
            heap_ = std::exchange(other.heap_, nullptr);
            bytes_ = other.bytes_;
            part_ = other.part_;
            name_ = other.name_;
            return *this;
        }
        ~Block() { free(); }
        void free() {
            if (heap_) std::exchange(heap_, nullptr)->change(-bytes_, part_, name_);
        }
        double bytes() const { return heap_ != nullptr ? bytes_ : 0; }

      private:
        Heap* heap_ = nullptr;
        double bytes_ = 0;
        MemoryPart part_ = MemoryPart::Workspace;
        std::string_view name_;
    };

    /// Allocates. The plan shows `name` as the content of these bytes; it must outlive the heap.
    Block take(double bytes, MemoryPart part = MemoryPart::Workspace, std::string_view name = kTemporary) {
        return {*this, bytes, part, name};
    }
    /// Allocates and frees the temporary memory of one operation.
    void touch(double bytes, MemoryPart part = MemoryPart::Workspace, std::string_view name = kTemporary) {
        take(bytes, part, name);
    }

    double in_use() const { return sum_; }
    double peak() const { return peak_; }
    double at_peak(MemoryPart part) const { return at_peak_[static_cast<size_t>(part)]; }
    double most(MemoryPart part) const { return most_[static_cast<size_t>(part)]; }  ///< peak of this part

    const std::vector<Named>& named_at_peak() const { return named_at_peak_; }

    static constexpr std::string_view kTemporary = "temporary memory of one operation";

  private:
    using Parts = std::array<double, kMemoryParts>;

    void change(double bytes, MemoryPart part, std::string_view name);

    Parts now_{};
    Parts at_peak_{};
    Parts most_{};
    std::vector<Named> named_, named_at_peak_;
    double sum_ = 0, peak_ = 0;
};

}  // namespace ringmaster
