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

template <typename T>
MergeByLse<T> merge_kernel(const at::Tensor& out_bthd, const at::Tensor& lse_bht,
                           const at::Tensor& block_out_bthd, const at::Tensor& block_lse_bht) {
    const auto of_bthd = [](const at::Tensor& x) {
        return typename MergeByLse<T>::Strides{x.stride(0), x.stride(1), x.stride(2)};
    };
    const auto of_bht = [](const at::Tensor& x) {
        return typename MergeByLse<T>::Strides{x.stride(0), x.stride(2), x.stride(1)};
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
    } else {
        run(merge_kernel<float>(out_bthd, lse_bht, block_out_bthd, block_lse_bht));
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
