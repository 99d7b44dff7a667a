#include "engine/attention/merge.h"

#include <ATen/ATen.h>

namespace ringmaster {

void plain::merge_by_lse(at::Tensor out_bthd, at::Tensor lse_bht, const at::Tensor& block_out_bthd,
                         const at::Tensor& block_lse_bht) {
    const at::Tensor both_bht = at::logaddexp(lse_bht, block_lse_bht);
    const at::Tensor keep = (lse_bht - both_bht).exp().nan_to_num(0).transpose(1, 2).unsqueeze(3);
    const at::Tensor add = (block_lse_bht - both_bht).exp().nan_to_num(0).transpose(1, 2).unsqueeze(3);
    out_bthd.mul_(keep).add_(block_out_bthd * add);
    lse_bht.copy_(both_bht);
}

namespace {

HeadStrides of_bthd(const at::Tensor& x) {
    return {x.stride(0), x.stride(1), x.stride(2)};
}

template <typename T>
AddToSum<T> sum_kernel(const at::Tensor& sum_bthd, const at::Tensor& part_bthd) {
    const int64_t rows = sum_bthd.size(0) * sum_bthd.size(1) * sum_bthd.size(2);
    return {rows,
            sum_bthd.size(1),
            sum_bthd.size(2),
            sum_bthd.size(3),
            static_cast<float*>(sum_bthd.data_ptr()),
            static_cast<const T*>(part_bthd.data_ptr()),
            of_bthd(sum_bthd),
            of_bthd(part_bthd)};
}

template <typename T>
MergeByLse<T> merge_kernel(const at::Tensor& out_bthd, const at::Tensor& lse_bht,
                           const at::Tensor& block_out_bthd, const at::Tensor& block_lse_bht) {
    const auto of_bht = [](const at::Tensor& x) {
        return HeadStrides{x.stride(0), x.stride(2), x.stride(1)};
    };
    MergeByLse<T> kernel{};
    kernel.rows = lse_bht.numel();
    kernel.tokens = out_bthd.size(1);
    kernel.heads = out_bthd.size(2);
    kernel.head_dim = out_bthd.size(3);
    kernel.out = static_cast<float*>(out_bthd.data_ptr());
    kernel.lse = static_cast<float*>(lse_bht.data_ptr());
    kernel.block_out = static_cast<const T*>(block_out_bthd.data_ptr());
    kernel.block_lse = static_cast<const float*>(block_lse_bht.data_ptr());
    kernel.out_strides = of_bthd(out_bthd);
    kernel.lse_strides = of_bht(lse_bht);
    kernel.block_out_strides = of_bthd(block_out_bthd);
    kernel.block_lse_strides = of_bht(block_lse_bht);
    return kernel;
}

}  // namespace

void own::merge_by_lse(const RunRows& run, at::Tensor out_bthd, at::Tensor lse_bht,
                       const at::Tensor& block_out_bthd, const at::Tensor& block_lse_bht) {
    if (block_out_bthd.scalar_type() == at::kBFloat16) {
        run(merge_kernel<Bf16>(out_bthd, lse_bht, block_out_bthd, block_lse_bht));
    } else if (block_out_bthd.scalar_type() == at::kHalf) {
        run(merge_kernel<Fp16>(out_bthd, lse_bht, block_out_bthd, block_lse_bht));
    } else {
        run(merge_kernel<float>(out_bthd, lse_bht, block_out_bthd, block_lse_bht));
    }
}

void own::add_to_sum(const RunRows& run, at::Tensor sum_bthd, const at::Tensor& part_bthd) {
    if (part_bthd.scalar_type() == at::kBFloat16) {
        run(sum_kernel<Bf16>(sum_bthd, part_bthd));
    } else if (part_bthd.scalar_type() == at::kHalf) {
        run(sum_kernel<Fp16>(sum_bthd, part_bthd));
    } else {
        run(sum_kernel<float>(sum_bthd, part_bthd));
    }
}

void add_to_sum(at::Tensor sum_bthd, const at::Tensor& part_bthd) {
    if (uses_own(OwnKernel::Merge, sum_bthd)) {
        own::add_to_sum(rows_on(sum_bthd.device()), sum_bthd, part_bthd);
    } else {
        sum_bthd.add_(part_bthd);
    }
}

void merge_by_lse(at::Tensor out_bthd, at::Tensor lse_bht, const at::Tensor& block_out_bthd,
                  const at::Tensor& block_lse_bht) {
    if (uses_own(OwnKernel::Merge, out_bthd)) {
        own::merge_by_lse(rows_on(out_bthd.device()), out_bthd, lse_bht, block_out_bthd, block_lse_bht);
    } else {
        plain::merge_by_lse(out_bthd, lse_bht, block_out_bthd, block_lse_bht);
    }
}

}  // namespace ringmaster
