#include "engine/model/expert_adapter.h"

#include <ATen/ATen.h>

#include "engine/model/ops.h"

namespace ringmaster {

at::Tensor ExpertAdapter::a_of(const at::Tensor& a_ri, int64_t expert) const {
    return a_ri.narrow(0, (first_expert + expert) * rank, rank);
}

at::Tensor ExpertAdapter::b_of(const at::Tensor& b_or, int64_t expert) const {
    return b_or.view({b_or.size(0), rank, -1}).select(2, first_expert + expert);
}

void ExpertAdapter::add_forward(const at::Tensor& y_mo, const at::Tensor& x_mi,
                                const Routing& routing) const {
    if (!on()) return;
    for_experts(routing, [&](int64_t expert, int64_t begin, int64_t count) {
        const at::Tensor u_mr =
            scale_in_place(product(x_mi.narrow(0, begin, count), a_of(weights.a_rc, expert).t()), scale);
        add_product(y_mo.narrow(0, begin, count), u_mr, b_of(weights.b_or, expert).t());
    });
}

void ExpertAdapter::add_input_gradient(const at::Tensor& dx_mi, const at::Tensor& dy_mo,
                                       const Routing& routing) const {
    if (!on()) return;
    for_experts(routing, [&](int64_t expert, int64_t begin, int64_t count) {
        const at::Tensor du_mr =
            scale_in_place(product(dy_mo.narrow(0, begin, count), b_of(weights.b_or, expert)), scale);
        add_product(dx_mi.narrow(0, begin, count), du_mr, a_of(weights.a_rc, expert));
    });
}

void ExpertAdapter::accumulate(const at::Tensor& dy_mo, const at::Tensor& x_mi, const Routing& routing,
                               double beta) const {
    if (!on()) return;
    if (beta == 0) {  // experts without rows on this rank get zeros
        gradients.a_rc.zero_();
        gradients.b_or.zero_();
    }
    for_experts(routing, [&](int64_t expert, int64_t begin, int64_t count) {
        const at::Tensor x = x_mi.narrow(0, begin, count), dy = dy_mo.narrow(0, begin, count);
        const at::Tensor u_mr = scale_in_place(product(x, a_of(weights.a_rc, expert).t()), scale);
        const at::Tensor du_mr = scale_in_place(product(dy, b_of(weights.b_or, expert)), scale);
        accumulate_weight_gradient(a_of(gradients.a_rc, expert), du_mr, x, beta);
        const at::Tensor fresh_or = at::empty({dy.size(1), rank}, gradients.b_or.options());
        accumulate_weight_gradient(fresh_or, dy, u_mr, 0);
        b_of(gradients.b_or, expert).mul_(beta).add_(fresh_or);
    });
}

}  // namespace ringmaster
