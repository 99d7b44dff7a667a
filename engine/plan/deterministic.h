/// The switch for GPU runs that repeat to the last bit, shared by the engine and by the planner, which counts
/// memory and names kernels.
///
/// By default CUDA's attention kernels add gradients in the order in which thread blocks finish, and NVLink's
/// switches sum in any order: two runs differ by rounding. RINGMASTER_CUDA_DETERMINISTIC=1 fixes the order.
/// On an H200 the attention's backward then takes 2.8 times as long in rows of one document (187 instead of
/// 530 TFLOP/s) and 1.7 times in packed rows (187 instead of 320).
#pragma once

#include <string>

namespace ringmaster {

/// Returns what RINGMASTER_CUDA_DETERMINISTIC says, false if it is unset. The variable is read once. Throws
/// Error(Usage) if it is neither 0 nor 1.
bool cuda_is_deterministic();

/// Returns what a value of the variable means; throws as above.
bool deterministic_named(const std::string& value);

}  // namespace ringmaster
