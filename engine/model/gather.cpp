#include "engine/model/gather.h"

#include <ATen/ATen.h>

namespace ringmaster {

namespace {

std::vector<int64_t> with_tokens(const at::Tensor& x, int64_t tokens) {
    std::vector<int64_t> sizes = x.sizes().vec();
    sizes[1] = tokens;
    return sizes;
}

}  // namespace

const Spans& own_spans(const Groups& groups, const Layout& layout) {
    return layout.ranks[static_cast<size_t>(groups.mesh().context_rank(groups.rank()))];
}

at::Tensor places_of(const Spans& spans, at::Device device) {
    std::vector<at::Tensor> parts = {at::empty({0}, at::kLong)};
    for (const Span& span : spans) parts.push_back(at::arange(span.begin, span.end, span.step, at::kLong));
    return at::cat(parts).to(device);
}

at::Tensor gather_tokens(Groups& groups, const Layout& layout, const at::Tensor& x_bt, int64_t sequence) {
    at::Tensor all = at::zeros(with_tokens(x_bt, layout.tokens), x_bt.options());
    all.index_copy_(1, own_places(groups, layout, x_bt.device()), x_bt);
    if (groups.ring().size() > 1) groups.ring().all_reduce(all).wait();
    if (groups.ulysses().size() > 1) groups.ulysses().all_reduce(all).wait();
    return all.narrow(1, 0, sequence);
}

}  // namespace ringmaster
