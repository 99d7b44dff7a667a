#include "engine/attention/packed_attention.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/attention/merge.h"

namespace ringmaster {

namespace {

at::Tensor tokens_first(const at::Tensor& x_bhtd) {
    return x_bhtd.transpose(1, 2);
}

/// One call's tensors between [B, H, T, D] and what a kernel takes. One segment is dense: a view. More lie
/// packed: a view too where they share no keys and B is 1, else rows are copied together.
class Packed {
  public:
    Packed(const FlashWindow& window, FlashPacking packing, const at::Tensor& q_bhtd)
        : window_(window), packing_(std::move(packing)), rows_(q_bhtd.size(0)) {}
    Packed(const FlashCall& call, const at::Tensor& q_bhtd)
        : Packed(call.window, pack(call, q_bhtd.size(0)), q_bhtd) {}

    FlashInputs inputs(const at::Tensor& q_bhtd, const at::Tensor& k_bksd, const at::Tensor& v_bksd) const {
        FlashInputs it{queries(q_bhtd), keys(k_bksd), keys(v_bksd), {}, {}, 0, 0, window_};
        it.most_queries = packing_.most_queries;
        it.most_keys = packing_.most_keys;
        if (dense()) return it;
        it.query_ends = ends(packing_.query_ends, q_bhtd.device());
        it.key_ends = ends(packing_.key_ends, q_bhtd.device());
        return it;
    }

    at::Tensor queries(const at::Tensor& x_bhtd) const { return joined_rows(tokens_first(own(x_bhtd))); }
    at::Tensor lse(const at::Tensor& lse_bht) const {
        const at::Tensor own_bhn = own(lse_bht);
        return (dense() ? own_bhn : own_bhn.transpose(0, 1).flatten(1)).contiguous();
    }
    at::Tensor keys(const at::Tensor& x_bksd) const {
        std::vector<at::Tensor> parts;
        for (const KeyRange& range : packing_.keys)
            parts.push_back(tokens_first(x_bksd).narrow(1, range.begin, range.size()));
        return joined_rows(parts.size() == 1 ? parts[0] : at::cat(parts, 1));
    }

    at::Tensor own(const at::Tensor& x_bht) const {
        return x_bht.narrow(2, packing_.queries.begin, packing_.queries.size());
    }
    at::Tensor apart(const at::Tensor& x) const {
        return tokens_first(dense() ? x : x.unflatten(0, {rows_, x.size(0) / rows_}));
    }
    at::Tensor lse_apart(const at::Tensor& lse) const {
        if (dense()) return lse;
        const at::Tensor lse_bhn = lse.unflatten(1, {rows_, lse.size(1) / rows_}).transpose(0, 1);
        if (!packing_.gaps) return lse_bhn;
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        return lse_bhn.masked_fill(lse_bhn == kInfinity, -kInfinity);
    }
    /// Back to where the keys came from.
    void add_keys(const at::Tensor& sum_bksd, const at::Tensor& x) const {
        int64_t at = 0;
        const at::Tensor x_bksd = apart(x);
        for (const KeyRange& range : packing_.keys) {
            sum_bksd.narrow(2, range.begin, range.size()).add_(x_bksd.narrow(2, at, range.size()));
            at += range.size();
        }
    }

  private:
    bool dense() const { return packing_.dense(rows_); }

    at::Tensor joined_rows(const at::Tensor& x_bthd) const { return dense() ? x_bthd : x_bthd.flatten(0, 1); }

    /// From pinned memory, so that the host does not wait.
    static at::Tensor ends(const std::vector<int32_t>& values, at::Device device) {
        const auto options = at::TensorOptions().dtype(at::kInt).pinned_memory(device.is_cuda());
        const at::Tensor on_host = at::empty({static_cast<int64_t>(values.size())}, options);
        std::copy(values.begin(), values.end(), static_cast<int32_t*>(on_host.data_ptr()));
        return on_host.to(device, true);
    }

    FlashWindow window_;
    FlashPacking packing_;
    int64_t rows_;
};

int64_t backward_step(const FlashKernel& kernel, const at::Tensor& q_bhtd) {
    return kernel.queries_at_once ? kernel.queries_at_once(q_bhtd) : q_bhtd.size(2);
}

/// All queries and keys by one call, where that does.
std::optional<Packed> in_one_call(const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                                  const std::vector<Slice>& slices) {
    const std::vector<FlashCall> calls = flash_calls(slices);
    if (calls.size() != 1) return {};
    FlashPacking packing = pack_whole(calls[0], q_bhtd.size(0), q_bhtd.size(2), k_bksd.size(2));
    if (packing.keys.size() != 1) return {};
    return Packed(calls[0].window, std::move(packing), q_bhtd);
}

}  // namespace

void packed_forward(const FlashKernel& kernel, const at::Tensor& out_bhtd, const at::Tensor& lse_bht,
                    const at::Tensor& q_bhtd, const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                    const std::vector<Slice>& slices) {
    for (const FlashCall& call : flash_calls(slices)) {
        const Packed packed(call, q_bhtd);
        const FlashKernel::Output part = kernel.forward(packed.inputs(q_bhtd, k_bksd, v_bksd));
        merge_by_lse(tokens_first(packed.own(out_bhtd)), packed.own(lse_bht),
                     tokens_first(packed.apart(part.out)), packed.lse_apart(part.lse));
    }
}

void packed_backward(const FlashKernel& kernel, const FlashGradients& sums, const at::Tensor& dout_bhtd,
                     const at::Tensor& q_bhtd, const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                     const FlashOutput& whole, const std::vector<Slice>& slices) {
    const int64_t queries = q_bhtd.size(2), step = backward_step(kernel, q_bhtd);
    for (int64_t begin = 0; begin < queries; begin += step) {
        const bool all = step >= queries;
        for (const FlashCall& call :
             flash_calls(all ? slices : of_queries(slices, begin, std::min(queries, begin + step)))) {
            const Packed packed(call, q_bhtd);
            const FlashKernel::Gradients d =
                kernel.backward(packed.inputs(q_bhtd, k_bksd, v_bksd), packed.queries(dout_bhtd),
                                {packed.queries(whole.out_bhtd), packed.lse(whole.lse_bht)});
            packed.own(sums.dq_bhtd).add_(packed.apart(d.dq));
            packed.add_keys(sums.dk_bksd, d.dk);
            packed.add_keys(sums.dv_bksd, d.dv);
        }
    }
}

std::optional<FlashOutput> one_call_forward(const FlashKernel& kernel, const at::Tensor& q_bhtd,
                                            const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                                            const std::vector<Slice>& slices) {
    const std::optional<Packed> packed = in_one_call(q_bhtd, k_bksd, slices);
    if (!packed) return {};
    const FlashKernel::Output whole = kernel.forward(packed->inputs(q_bhtd, k_bksd, v_bksd));
    return FlashOutput{packed->apart(whole.out), packed->lse_apart(whole.lse)};
}

std::optional<FlashGradients> one_call_backward(const FlashKernel& kernel, const at::Tensor& dout_bhtd,
                                                const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                                                const at::Tensor& v_bksd, const FlashOutput& whole,
                                                const std::vector<Slice>& slices) {
    if (backward_step(kernel, q_bhtd) < q_bhtd.size(2)) return {};
    const std::optional<Packed> packed = in_one_call(q_bhtd, k_bksd, slices);
    if (!packed) return {};
    const FlashKernel::Gradients d =
        kernel.backward(packed->inputs(q_bhtd, k_bksd, v_bksd), packed->queries(dout_bhtd),
                        {packed->queries(whole.out_bhtd), packed->lse(whole.lse_bht)});
    return FlashGradients{packed->apart(d.dq), packed->apart(d.dk), packed->apart(d.dv)};
}

}  // namespace ringmaster
