/// Checks forward products with quantised inputs (engine/model/int8_product.h) one by one, each on its own
/// inputs. The plain model cannot be their reference: if two computations round a number to neighbouring
/// codes, the next layer turns that one difference into several. So preflight compares mesh and plain model
/// with dequantised products, and this file checks the quantised products.
#pragma once

#include <string>

#include "engine/check/preflight_batch.h"
#include "engine/comm/groups.h"
#include "engine/model/lora.h"

namespace ringmaster {

/// Runs a forward of the group's first micro-batch with quantised inputs. Compares sampled rows of each
/// product with its definition, and its outlier columns with the columns in which any rank's tokens have
/// outliers. Returns a description of the fault; empty if there is none. All ranks take part.
std::string wrong_int8_product(const PreflightBatch& batch, Groups& groups, TrainedModel& trained);

/// Turns quantised inputs off during its lifetime.
class DequantizedProducts {
  public:
    explicit DequantizedProducts(TrainedModel& trained);
    ~DequantizedProducts();
    /// True if inputs were quantised before this object was made.
    bool replace_int8() const { return before_; }
    DequantizedProducts(const DequantizedProducts&) = delete;
    DequantizedProducts& operator=(const DequantizedProducts&) = delete;

  private:
    TrainedModel& trained_;
    const bool before_;
};

}  // namespace ringmaster
