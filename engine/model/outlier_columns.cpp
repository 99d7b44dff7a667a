#include "engine/model/outlier_columns.h"

#include <ATen/ATen.h>

#include "engine/model/int8_product.h"

namespace ringmaster {

void OutlierColumns::begin_tokens(const at::Tensor& places_n, double threshold, Share share) {
    counted_n_ = places_n.defined() ? places_n.ge(0) : at::Tensor();
    threshold_ = threshold;
    share_ = std::move(share);
    found_ = {};
    looking_c_.reset();
}

void OutlierColumns::look(const at::Tensor& x_nc, int64_t first) {
    const at::Tensor counted =
        counted_n_.defined() ? counted_n_.narrow(0, first, x_nc.size(0)) : at::Tensor();
    const at::Tensor found_c = outlier_columns(x_nc, threshold_, counted);
    looking_c_ = looking_c_.defined() ? looking_c_.logical_or_(found_c) : found_c;
}

void OutlierColumns::settle(LoraSite site, int64_t width, at::Device device) {
    if (!looking_c_.defined())
        looking_c_ = at::zeros({width}, at::TensorOptions().dtype(at::kBool).device(device));
    const at::Tensor values_c = looking_c_.to(at::kByte);
    looking_c_.reset();
    share_(values_c);
    found_[static_cast<size_t>(site)] = values_c.to(at::kBool);
}

}  // namespace ringmaster
