#include "engine/attention/part_sums.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "engine/plan/flash_blocks.h"

namespace ringmaster {

static_assert(kMostPartsHeld == JoinParts<float>::kMost);

PartSums::PartSums(const at::Tensor& like_bhtd, Kind kind)
    : like_bhtd_(like_bhtd),
      most_held_(static_cast<size_t>(parts_held(like_bhtd.numel() * like_bhtd.element_size()))) {
    if (kind == Kind::Outputs)
        lse_bht_ = at::empty({like_bhtd.size(0), like_bhtd.size(1), like_bhtd.size(2)},
                             like_bhtd.options().dtype(at::kFloat));
}

void PartSums::add(AttentionPart part) {
    if (!held_.empty() && held_.size() >= most_held_) join(at::Tensor());
    held_.push_back(std::move(part));
    if (most_held_ == 0) join(at::Tensor());
}

FlashOutput PartSums::finish() {
    const at::Tensor whole_bthd = at::empty(like_bhtd_.transpose(1, 2).sizes(), like_bhtd_.options());
    join(whole_bthd);
    sum_bthd_.reset();
    return {whole_bthd.transpose(1, 2), lse_bht_};
}

void PartSums::join(const at::Tensor& whole_bthd) {
    JoinedParts to{sum_bthd_, lse_bht_, !sum_bthd_.defined(), whole_bthd};
    if (!whole_bthd.defined() && to.begins)
        to.sum_bthd = sum_bthd_ =
            at::empty(like_bhtd_.transpose(1, 2).sizes(), like_bhtd_.options().dtype(at::kFloat));
    join_parts(to, held_);
    held_.clear();
}

}  // namespace ringmaster
