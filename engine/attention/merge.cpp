#include "engine/attention/merge.h"

#include <ATen/ATen.h>

#include <limits>

namespace ringmaster {

namespace {

void merge_by_lse(at::Tensor out_bthd, at::Tensor lse_bht, const AttentionPart& part) {
    const at::Tensor both_bht = at::logaddexp(lse_bht, part.lse_bht);
    const auto weight = [&](const at::Tensor& x_bht) {
        return (x_bht - both_bht).exp().nan_to_num(0).transpose(1, 2).unsqueeze(3);
    };
    const at::Tensor keep = weight(lse_bht), add = weight(part.lse_bht);
    out_bthd.mul_(keep).add_(part.values_bthd * add);
    lse_bht.copy_(both_bht);
}

}  // namespace

void plain::join_parts(const JoinedParts& to, const std::vector<AttentionPart>& parts) {
    const at::Tensor sum_bthd =
        to.sum_bthd.defined() ? to.sum_bthd : at::empty_like(to.whole_bthd, at::kFloat);
    if (to.begins) {
        sum_bthd.zero_();
        if (to.lse_bht.defined()) to.lse_bht.fill_(-std::numeric_limits<float>::infinity());
    }
    for (const AttentionPart& part : parts) {
        const int64_t tokens = part.values_bthd.size(1), heads = part.values_bthd.size(2);
        const at::Tensor rows =
            sum_bthd.narrow(1, part.first_token, tokens).narrow(2, part.first_head, heads);
        if (to.lse_bht.defined()) {
            merge_by_lse(
                rows, to.lse_bht.narrow(1, part.first_head, heads).narrow(2, part.first_token, tokens), part);
        } else {
            rows.add_(part.values_bthd);
        }
    }
    if (to.whole_bthd.defined()) to.whole_bthd.copy_(sum_bthd);
}

namespace {

int32_t in_32_bits(int64_t x) {
    TORCH_INTERNAL_ASSERT(x == static_cast<int32_t>(x), "a head's tokens are too far apart to join");
    return static_cast<int32_t>(x);
}
HeadStrides of_bthd(const at::Tensor& x) {
    return {x.stride(0), in_32_bits(x.stride(1)), in_32_bits(x.stride(2))};
}
HeadStrides of_bht(const at::Tensor& x) {
    return {x.stride(0), in_32_bits(x.stride(2)), in_32_bits(x.stride(1))};
}

template <typename T>
typename JoinParts<T>::Part part_of(const AttentionPart& part) {
    const at::Tensor &values = part.values_bthd, &lse = part.lse_bht;
    typename JoinParts<T>::Part it{};
    it.values = static_cast<const T*>(values.const_data_ptr());
    it.strides = of_bthd(values);
    if (lse.defined()) {
        it.lse = static_cast<const float*>(lse.const_data_ptr());
        it.lse_strides = of_bht(lse);
    }
    it.first_token = in_32_bits(part.first_token);
    it.tokens = in_32_bits(values.size(1));
    it.first_head = in_32_bits(part.first_head);
    it.heads = in_32_bits(values.size(2));
    return it;
}

template <typename T>
JoinParts<T> kernel_of(const JoinedParts& to, const std::vector<AttentionPart>& parts) {
    TORCH_INTERNAL_ASSERT(parts.size() <= JoinParts<T>::kMost, "too many parts to join at once");
    JoinParts<T> it{};
    const at::Tensor& shape = to.sum_bthd.defined() ? to.sum_bthd : to.whole_bthd;
    it.tokens = in_32_bits(shape.size(1));
    it.heads = in_32_bits(shape.size(2));
    it.head_dim = shape.size(3);
    it.rows = shape.size(0) * shape.size(1) * shape.size(2);
    it.begins = to.begins;
    if (to.sum_bthd.defined()) {
        it.sum = static_cast<float*>(to.sum_bthd.data_ptr());
        it.sum_strides = of_bthd(to.sum_bthd);
    }
    if (to.lse_bht.defined()) {
        it.lse = static_cast<float*>(to.lse_bht.data_ptr());
        it.lse_strides = of_bht(to.lse_bht);
    }
    if (to.whole_bthd.defined()) {
        it.whole = static_cast<T*>(to.whole_bthd.data_ptr());
        it.whole_strides = of_bthd(to.whole_bthd);
    }
    for (const AttentionPart& part : parts) it.parts[it.count++] = part_of<T>(part);
    return it;
}

}  // namespace

void own::join_parts(const RunRows& run, const JoinedParts& to, const std::vector<AttentionPart>& parts) {
    const at::ScalarType dtype =
        to.whole_bthd.defined() ? to.whole_bthd.scalar_type() : parts.at(0).values_bthd.scalar_type();
    if (dtype == at::kBFloat16) {
        run(kernel_of<Bf16>(to, parts));
    } else if (dtype == at::kHalf) {
        run(kernel_of<Fp16>(to, parts));
    } else {
        run(kernel_of<float>(to, parts));
    }
}

void join_parts(const JoinedParts& to, const std::vector<AttentionPart>& parts) {
    const at::Tensor& like = to.sum_bthd.defined() ? to.sum_bthd : to.whole_bthd;
    if (uses_own(OwnKernel::Merge, like)) {
        own::join_parts(rows_on(like.device()), to, parts);
    } else {
        plain::join_parts(to, parts);
    }
}

void add_to_sum(const at::Tensor& sum_bthd, const at::Tensor& part_bthd, bool begins) {
    join_parts({sum_bthd, {}, begins, {}}, {{part_bthd, {}}});
}

}  // namespace ringmaster
