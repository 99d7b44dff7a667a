/// Multiplies by 8-bit weights as bitsandbytes does on a GPU: LLM.int8 (Dettmers et al. 2022, arXiv
/// 2208.07339). Each row of the input is quantised to 8 bits, and the product of integers is exact, so it is
/// equal on all devices. Columns with outliers are multiplied in the input's own precision.
///
/// The order of roundings is that of MatMul8bitLt and of the CUDA kernels kInt8VectorQuant and
/// kdequant_mm_int32_fp16 of bitsandbytes 0.50. One difference remains: the kernel's __fdividef(127, m), for
/// a row's largest magnitude m, is 127 times an approximate 1 / m; here the reciprocal is rounded correctly.
/// So a code can differ only at a tie between two codes.
///
/// Letters: N rows (tokens), C inputs, O outputs of a matrix.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace ringmaster {

/// A matrix in 8 bits: each row stands for codes · scale / 127.
struct Int8Matrix {
    at::Tensor codes_oc;  ///< int8
    at::Tensor scales_o;  ///< float32
};

/// Returns a mask of the columns in which any counted row has a magnitude of at least `threshold`: bool [C].
/// `counted_n` (bool) selects the rows that count; if it is undefined, all do.
at::Tensor outlier_columns(const at::Tensor& x_nc, double threshold, const at::Tensor& counted_n);

/// Quantises the rows of x_nc, float32 or bfloat16, by each row's largest magnitude below `threshold` (0: by
/// the row's largest magnitude). Outliers and the columns of outliers_c (bool) become 0.
Int8Matrix quantize_inputs(const at::Tensor& x_nc, const at::Tensor& outliers_c, double threshold);

/// Returns a_nc · b_ocᵀ of int8 matrices: int32 [N, O], exact.
at::Tensor integer_product(const at::Tensor& a_nc, const at::Tensor& b_oc);

/// Returns x_nc · [all matrices]ᵀ (+ bias_o) in x_nc's dtype; computes a limited number of rows at a time.
at::Tensor int8_linear(const at::Tensor& x_nc, const std::vector<Int8Matrix>& matrices,
                       const at::Tensor& bias_o, const at::Tensor& outliers_c, double threshold);

}  // namespace ringmaster
