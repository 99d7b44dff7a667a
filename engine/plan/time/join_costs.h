/// Counts the bytes that a GPU moves to join the parts of one ring rank's attention, hop by hop, by the
/// engine's rules (part_joins.h). The CPU's kernels add in place; kernels in blocks of scores add to sums
/// that they read and write for each hop.
#pragma once

#include "engine/layout/part_joins.h"

namespace ringmaster {

class JoinCosts {
  public:
    struct Sizes {
        double tokens = 0;
        double query_width = 0;     ///< elements per token of the queries
        double key_width = 0;       ///< elements per token of the keys and of the values
        int64_t element_bytes = 2;  ///< bytes per element of the inputs
        bool sums_queries = false;  ///< kernels add to float32 sums of outputs and of gradients of queries
        bool sums_keys = false;     ///< gradients of keys arrive as float32 sums, not as the kernel's results
    };
    explicit JoinCosts(const Sizes& sizes);

    /// Return the bytes to join `parts` adjacent parts, which together cover the given queries (and keys).
    double forward(double parts, double queries);
    double backward(double parts, double queries, double keys);
    /// Return the bytes to join the parts that are left after the last hop.
    double finish_forward();
    double finish_backward();

  private:
    PartJoins out_, dq_, dk_;
    double query_width_, key_width_;
};

}  // namespace ringmaster
