#include "engine/attention/sinks.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "engine/piece_sizes.h"

namespace ringmaster {

namespace {

/// Calls `body` with some queries at a time, because on a CPU an operation on two dtypes makes widened
/// copies.
template <class Body>
void for_queries(int64_t queries, const Body& body) {
    constexpr int64_t kAtOnce = pieces::kSinkQueries;
    for (int64_t begin = 0; begin < queries; begin += kAtOnce)
        body(begin, std::min(kAtOnce, queries - begin));
}

at::Tensor by_head(const at::Tensor& sinks_h) {
    return sinks_h.to(at::kFloat).view({1, -1, 1});
}

}  // namespace

void add_sinks(const at::Tensor& out_bhtd, const at::Tensor& lse_bht, const at::Tensor& sinks_h) {
    const at::Tensor sinks_1h1 = by_head(sinks_h);
    for_queries(lse_bht.size(2), [&](int64_t begin, int64_t count) {
        at::Tensor lse = lse_bht.narrow(2, begin, count);
        const at::Tensor joined = at::logaddexp(lse, sinks_1h1);
        out_bhtd.narrow(2, begin, count).mul_(at::exp(lse - joined).unsqueeze(3));
        lse.copy_(joined);
    });
}

at::Tensor sinks_backward(const at::Tensor& dout_bhtd, const at::Tensor& out_bhtd, const at::Tensor& lse_bht,
                          const at::Tensor& sinks_h) {
    at::Tensor dsinks_h = at::zeros(sinks_h.sizes(), lse_bht.options());
    const at::Tensor sinks_1h1 = by_head(sinks_h);
    for_queries(lse_bht.size(2), [&](int64_t begin, int64_t count) {
        const at::Tensor shares = at::exp(sinks_1h1 - lse_bht.narrow(2, begin, count));
        const at::Tensor dots = (dout_bhtd.narrow(2, begin, count).to(at::kFloat) *
                                 out_bhtd.narrow(2, begin, count).to(at::kFloat))
                                    .sum(3);
        dsinks_h.sub_((shares * dots).sum(2).sum(0));
    });
    return dsinks_h;
}

}  // namespace ringmaster
