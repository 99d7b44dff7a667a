/// Reads the switch for GPU runs that repeat bit-exactly; shared by the engine and by the planner, which
/// counts memory and names kernels.
///
/// By default CUDA's attention kernels add gradients in the order in which thread blocks finish, and NVLink's
/// switches sum in any order, so two runs differ by rounding. RINGMASTER_CUDA_DETERMINISTIC=1 fixes the
/// order. On an H200 the attention backward then takes 2.8 times as long for rows of one document (187
/// instead of 530 TFLOP/s) and 1.7 times as long for packed rows (187 instead of 320).
#pragma once

#include <string>

namespace ringmaster {

/// Returns the value of RINGMASTER_CUDA_DETERMINISTIC, false if it is unset. Reads the variable only once.
/// Throws Error(Usage) if it is neither 0 nor 1.
bool cuda_is_deterministic();

/// Returns the meaning of a value of the variable. Throws Error(Usage) if it is neither 0 nor 1.
bool deterministic_named(const std::string& value);

}  // namespace ringmaster
