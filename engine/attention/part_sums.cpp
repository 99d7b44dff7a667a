#include "engine/attention/part_sums.h"

#include <ATen/ATen.h>

#include <utility>

namespace ringmaster {

static_assert(kMostPartsHeld == JoinParts<float>::kMost);

PartSums::PartSums(const at::Tensor& like_bhtd, Kind kind)
    : PartSums(like_bhtd, kind, parts_held(like_bhtd.numel() * like_bhtd.element_size())) {}

PartSums::PartSums(const at::Tensor& like_bhtd, Kind kind, int64_t most_held)
    : like_bhtd_(like_bhtd), joins_(like_bhtd.numel(), like_bhtd.element_size(), most_held) {
    if (kind == Kind::Outputs)
        lse_bht_ = at::empty({like_bhtd.size(0), like_bhtd.size(1), like_bhtd.size(2)},
                             like_bhtd.options().dtype(at::kFloat));
}

void PartSums::add(AttentionPart part) {
    const bool is_like = part.values_bthd.scalar_type() == like_bhtd_.scalar_type();
    if (joins_.is_full() || !is_like) join_held();
    joins_.hold(part.values_bthd.numel());
    held_.push_back(std::move(part));
    if (joins_.holds_none() || !is_like) join_held();
}

at::Tensor PartSums::sum() {
    join_held();
    if (!sum_bthd_.defined())
        sum_bthd_ = at::zeros(like_bhtd_.transpose(1, 2).sizes(), like_bhtd_.options().dtype(at::kFloat));
    return sum_bthd_;
}

FlashOutput PartSums::finish() {
    const at::Tensor whole_bthd = at::empty(like_bhtd_.transpose(1, 2).sizes(), like_bhtd_.options());
    joins_.finish();
    join(whole_bthd);
    sum_bthd_.reset();
    return {whole_bthd.transpose(1, 2), lse_bht_};
}

void PartSums::join_held() {
    if (held_.empty()) return;
    joins_.join();
    join(at::Tensor());
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
