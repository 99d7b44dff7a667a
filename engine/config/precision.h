/// Adds float16 to the precisions: `fp16: true` is kFp16Mixed, which trains an adapter's float32 weights with
/// float16 compute and a scaled loss (engine/train/loss_scale.h). The frozen weights are float16.
#pragma once

#include "engine/config/config.h"

namespace ringmaster {

inline constexpr auto kFp16Mixed = static_cast<Precision>(3);

/// Returns whether fp32 weights are trained and 16-bit copies of them are used to compute.
inline bool is_mixed(Precision precision) {
    return precision == Precision::Bf16Mixed || precision == kFp16Mixed;
}

}  // namespace ringmaster
