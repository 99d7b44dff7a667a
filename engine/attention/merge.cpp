#include "engine/attention/merge.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "engine/kernels/block_softmax.h"

namespace ringmaster {

void merge_by_lse(at::Tensor out_bthd, at::Tensor lse_bht, const at::Tensor& block_out_bthd,
                  const at::Tensor& block_lse_bht) {
    if (!out_bthd.is_cpu()) {
        const at::Tensor both_bht = at::logaddexp(lse_bht, block_lse_bht);
        const at::Tensor keep = (lse_bht - both_bht).exp().nan_to_num(0).transpose(1, 2).unsqueeze(3);
        const at::Tensor add = (block_lse_bht - both_bht).exp().nan_to_num(0).transpose(1, 2).unsqueeze(3);
        out_bthd.mul_(keep).add_(block_out_bthd * add);
        lse_bht.copy_(both_bht);
        return;
    }
    const at::Tensor block = block_out_bthd.to(at::kFloat);
    const at::Tensor block_lse = block_lse_bht.contiguous();
    const int64_t heads = out_bthd.size(2), tokens = out_bthd.size(1);
    at::parallel_for(0, out_bthd.size(0) * heads, 1, [&](int64_t first, int64_t last) {
        for (int64_t task = first; task < last; ++task) {
            const int64_t b = task / heads, h = task % heads;
            block_softmax().merge(
                out_bthd.data_ptr<float>() + b * out_bthd.stride(0) + h * out_bthd.stride(2),
                out_bthd.stride(1), lse_bht.data_ptr<float>() + b * lse_bht.stride(0) + h * lse_bht.stride(1),
                block.data_ptr<float>() + b * block.stride(0) + h * block.stride(2), block.stride(1),
                block_lse.data_ptr<float>() + b * block_lse.stride(0) + h * block_lse.stride(1), tokens,
                out_bthd.size(3));
        }
    });
}

}  // namespace ringmaster
