/// Decides when parts of an attention's result are joined, and counts the bytes that this moves. The engine
/// joins by these rules (engine/attention/part_sums.h), and the planner counts their time.
///
/// A part has the inputs' dtype and the sum float32, so most bytes that joining a part moves are the sum's.
/// Joining several parts at once reads and writes the sum less often. For example, joining eight bfloat16
/// parts at once, without an earlier sum, and rounding the result directly moves 18 bytes per element.
/// Starting a sum from zeros, adding the parts one by one and rounding at the end moves 90.
#pragma once

#include <cstdint>

namespace ringmaster {

/// The maximum number of parts joined at once, as in the kernel JoinParts (engine/kernels/row_kernels.h).
constexpr int64_t kMostPartsHeld = 8;

/// Returns how many parts of an attention's result, of at most `bytes` each, are held until they are joined:
/// 8, or as many as fit in 512 MiB if that is fewer, which may be 0. Joining takes time in proportion to the
/// queries, and attention to their square, so long sequences lose little by joining each part alone.
int64_t parts_held(int64_t bytes);

class PartJoins {
  public:
    /// `elements` is the size of the whole result, and `most_held` the most parts that may wait to be joined.
    PartJoins(int64_t elements, int64_t element_bytes, int64_t most_held)
        : elements_(elements), element_bytes_(element_bytes), most_held_(most_held) {}
    /// Allows as many waiting parts as parts_held() returns for parts of the whole result's size.
    PartJoins(int64_t elements, int64_t element_bytes)
        : PartJoins(elements, element_bytes, parts_held(elements * element_bytes)) {}

    /// Returns whether the held parts must be joined before another part is held.
    bool is_full() const { return held_ > 0 && held_ >= most_held_; }
    /// Returns whether parts must be joined as they come.
    bool holds_none() const { return most_held_ == 0; }
    int64_t held() const { return held_; }

    /// Adds a part that covers `elements` of the result to the parts that are held.
    void hold(int64_t elements);
    /// Joins the held parts into the float32 sum. Returns the bytes read and written.
    int64_t join();
    /// Joins the held parts into the rounded result, which replaces the float32 sum. Returns the bytes read
    /// and written.
    int64_t finish();

  private:
    int64_t bytes_of_parts() const { return parts_elements_ * element_bytes_; }
    void let_go();

    int64_t elements_, element_bytes_, most_held_;
    int64_t held_ = 0, parts_elements_ = 0;
    int64_t covered_ = 0;  ///< elements of the largest held part; the other held parts lie within that part
    bool has_sum_ = false;
};

/// Returns the bytes moved when a part is added, including any joining that must come first.
int64_t joined_with(PartJoins& joins, int64_t elements);

}  // namespace ringmaster
