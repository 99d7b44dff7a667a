#include "engine/attention/merge.h"

#include <ATen/ATen.h>

namespace ringmaster {

void merge_by_lse(at::Tensor out_bthd, at::Tensor lse_bht, const at::Tensor& block_out_bthd,
                  const at::Tensor& block_lse_bht) {
    const at::Tensor both_bht = at::logaddexp(lse_bht, block_lse_bht);
    const at::Tensor keep = (lse_bht - both_bht).exp().nan_to_num(0).transpose(1, 2).unsqueeze(3);
    const at::Tensor add = (block_lse_bht - both_bht).exp().nan_to_num(0).transpose(1, 2).unsqueeze(3);
    out_bthd.mul_(keep).add_(block_out_bthd * add);
    lse_bht.copy_(both_bht);
}

}  // namespace ringmaster
