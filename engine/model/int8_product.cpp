#include "engine/model/int8_product.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "engine/layout/int8_rows.h"
#include "engine/model/ops.h"

namespace ringmaster {

namespace {

// These are constants of bitsandbytes: MM_DEQUANT_CONST in csrc (1 / 127²), and 1 / 127 in
// int8_vectorwise_dequant.
constexpr double kOfBothScales = 6.200012e-05;
constexpr double kOfScale = 7.874015718698502e-3;

// LibTorch's integer product on a GPU requires more than 16 rows, and numbers of inputs and outputs that are
// multiples of 8.
constexpr int64_t kFewestRows = 17;
constexpr int64_t kMultiple = 8;

int64_t rounded_up(int64_t count) {
    return (count + kMultiple - 1) / kMultiple * kMultiple;
}

/// Returns the matrix padded with zeros to this size.
at::Tensor padded(const at::Tensor& matrix, int64_t rows, int64_t columns) {
    if (matrix.size(0) == rows && matrix.size(1) == columns) return matrix;
    return at::constant_pad_nd(matrix, {0, columns - matrix.size(1), 0, rows - matrix.size(0)});
}

/// Converts integer sums to x's precision by way of float16, as the CUDA kernel does.
void write_sums(const at::Tensor& y_no, const Int8Matrix& rows, const Int8Matrix& matrix,
                const at::Tensor& bias_o) {
    at::Tensor sums_no = integer_product(rows.codes_oc, matrix.codes_oc).to(at::kFloat);
    sums_no.mul_(rows.scales_o.unsqueeze(1)).mul_(matrix.scales_o).mul_(kOfBothScales);
    sums_no = sums_no.to(at::kHalf);
    if (bias_o.defined()) sums_no.add_(bias_o);
    y_no.copy_(sums_no);
}

/// Returns the matrix's columns with outliers, in the input's precision.
at::Tensor dequantized_columns(const Int8Matrix& matrix, const at::Tensor& columns_k, at::ScalarType dtype) {
    const at::Tensor codes_ok = matrix.codes_oc.index_select(1, columns_k);
    return (codes_ok * matrix.scales_o.unsqueeze(1)).mul_(kOfScale).to(dtype);
}

}  // namespace

at::Tensor outlier_columns(const at::Tensor& x_nc, double threshold, const at::Tensor& counted_n) {
    const int64_t at_once = int8_rows_at_once(x_nc.size(1));
    at::Tensor found_c = at::zeros({x_nc.size(1)}, x_nc.options().dtype(at::kBool));
    if (threshold == 0) return found_c;
    for (int64_t n = 0; n < x_nc.size(0); n += at_once) {
        const int64_t count = std::min(at_once, x_nc.size(0) - n);
        at::Tensor half_nc = x_nc.narrow(0, n, count).to(at::kHalf, /*non_blocking=*/false, /*copy=*/true);
        const at::Tensor large_nc = half_nc.abs_().ge(threshold);
        if (counted_n.defined()) large_nc.logical_and_(counted_n.narrow(0, n, count).unsqueeze(1));
        found_c.logical_or_(large_nc.any(0));
    }
    return found_c;
}

Int8Matrix quantize_inputs(const at::Tensor& x_nc, const at::Tensor& outliers_c, double threshold) {
    at::Tensor half_nc = x_nc.to(at::kHalf), magnitude_nc = half_nc.abs(), large_nc;
    if (threshold > 0) {
        large_nc = magnitude_nc.ge(threshold);
        magnitude_nc.masked_fill_(large_nc, 0);
    }
    const at::Tensor most_n = magnitude_nc.amax(1).to(at::kFloat);
    magnitude_nc.reset();
    at::Tensor codes_nc = half_nc * most_n.reciprocal().mul_(127.0).unsqueeze(1);  // float32
    half_nc.reset();
    codes_nc.round_();
    if (large_nc.defined()) codes_nc.masked_fill_(large_nc, 0);
    large_nc.reset();
    codes_nc.masked_fill_(outliers_c, 0).nan_to_num_(0, 0, 0);  // a row of zeros gives 0 · ∞
    return {codes_nc.to(at::kChar), most_n};
}

at::Tensor integer_product(const at::Tensor& a_nc, const at::Tensor& b_oc) {
    if (a_nc.is_cpu()) return at::_int_mm(a_nc, b_oc.t());
    const int64_t N = a_nc.size(0), O = b_oc.size(0), C = rounded_up(a_nc.size(1));
    const at::Tensor sums =
        at::_int_mm(padded(a_nc, std::max(N, kFewestRows), C), padded(b_oc, rounded_up(O), C).t());
    return sums.narrow(0, 0, N).narrow(1, 0, O);
}

at::Tensor int8_linear(const at::Tensor& x_nc, const std::vector<Int8Matrix>& matrices,
                       const at::Tensor& bias_o, const at::Tensor& outliers_c, double threshold) {
    const at::Tensor columns_k = at::nonzero(outliers_c).squeeze(1);
    const bool has_outliers = columns_k.size(0) > 0;
    std::vector<at::Tensor> of_outliers;
    int64_t outputs = 0, widest = x_nc.size(1);
    for (const Int8Matrix& matrix : matrices) {
        if (has_outliers) of_outliers.push_back(dequantized_columns(matrix, columns_k, x_nc.scalar_type()));
        outputs += matrix.codes_oc.size(0);
        widest = std::max(widest, matrix.codes_oc.size(0));
    }
    const at::Tensor y_no = at::empty({x_nc.size(0), outputs}, x_nc.options());
    const int64_t at_once = int8_rows_at_once(widest);
    for (int64_t n = 0; n < x_nc.size(0); n += at_once) {
        const int64_t count = std::min(at_once, x_nc.size(0) - n);
        const at::Tensor some_nc = x_nc.narrow(0, n, count);
        const Int8Matrix rows = quantize_inputs(some_nc, outliers_c, threshold);
        const at::Tensor some_nk = has_outliers ? some_nc.index_select(1, columns_k) : at::Tensor();
        int64_t o = 0;
        for (size_t i = 0; i < matrices.size(); ++i) {
            const int64_t columns = matrices[i].codes_oc.size(0);
            const at::Tensor some_no = y_no.narrow(0, n, count).narrow(1, o, columns);
            write_sums(some_no, rows, matrices[i],
                       bias_o.defined() ? bias_o.narrow(0, o, columns) : at::Tensor());
            if (has_outliers) add_product(some_no, some_nk, of_outliers[i].t());
            o += columns;
        }
    }
    return y_no;
}

}  // namespace ringmaster
