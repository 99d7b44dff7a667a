/// Sets the block size of products with 8-bit inputs, for the engine and for the planner's count of memory.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ringmaster {

/// Returns the rows that a product with quantised inputs takes at a time, for matrices of this width.
inline int64_t int8_rows_at_once(int64_t width) {
    constexpr int64_t kElementsAtOnce = int64_t{16} << 20;
    return std::max<int64_t>(1, kElementsAtOnce / std::max<int64_t>(1, width));
}

}  // namespace ringmaster
