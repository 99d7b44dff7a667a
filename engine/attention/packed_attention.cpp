#include "engine/attention/packed_attention.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/attention/merge.h"
#include "engine/layout/flash_blocks.h"

namespace ringmaster {

namespace {

/// Converts one call's tensors between [B, H, T, D] and a kernel's layout. One segment makes a dense call,
/// whose tensors are views. Several segments make a packed call, whose tensors are views if no keys are
/// shared and B is 1, and copies otherwise.
class Packed {
  public:
    Packed(FlashPacking packing, int64_t rows) : packing_(std::move(packing)), rows_(rows) {}

    FlashInputs inputs(const at::Tensor& q_bhtd, const at::Tensor& k_bksd, const at::Tensor& v_bksd) const {
        FlashInputs it{queries(q_bhtd), keys(k_bksd), keys(v_bksd), {}, {}, 0, 0, packing_.window};
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
    /// Adds the gradients of keys to the sum at the keys' positions, or writes them there if no gradients
    /// were added yet (`begins`).
    void add_keys(const at::Tensor& sum_bksd, const at::Tensor& x, bool begins) const {
        each_range(x, [&](const KeyRange& range, const at::Tensor& part_bksd) {
            add_to_sum(tokens_first(sum_bksd.narrow(2, range.begin, range.size())), tokens_first(part_bksd),
                       begins);
        });
    }
    bool reads_all(int64_t keys) const { return packing_.keys == KeyRanges{{0, keys}}; }
    int64_t first_query() const { return packing_.queries.begin; }
    void put_keys(const at::Tensor& to_bksd, const at::Tensor& x) const {
        each_range(x, [&](const KeyRange& range, const at::Tensor& part_bksd) {
            to_bksd.narrow(2, range.begin, range.size()).copy_(part_bksd);
        });
    }

  private:
    template <typename Visit>
    void each_range(const at::Tensor& x, const Visit& visit) const {
        int64_t at = 0;
        const at::Tensor x_bksd = apart(x);
        for (const KeyRange& range : packing_.keys) {
            visit(range, x_bksd.narrow(2, at, range.size()));
            at += range.size();
        }
    }

    bool dense() const { return packing_.dense; }

    at::Tensor joined_rows(const at::Tensor& x_bthd) const { return dense() ? x_bthd : x_bthd.flatten(0, 1); }

    /// Copies from pinned memory, so that the host does not wait.
    static at::Tensor ends(const std::vector<int32_t>& values, at::Device device) {
        const auto options = at::TensorOptions().dtype(at::kInt).pinned_memory(device.is_cuda());
        const at::Tensor on_host = at::empty({static_cast<int64_t>(values.size())}, options);
        std::copy(values.begin(), values.end(), static_cast<int32_t*>(on_host.data_ptr()));
        return on_host.to(device, true);
    }

    FlashPacking packing_;
    int64_t rows_;
};

int64_t backward_step(const FlashKernel& kernel, const at::Tensor& q_bhtd) {
    return kernel.queries_at_once ? kernel.queries_at_once(q_bhtd) : q_bhtd.size(2);
}

at::Tensor some_heads(const at::Tensor& x_bht, int64_t begin, int64_t count) {
    return x_bht.narrow(1, begin, count);
}

/// Holds one launch of a call's backward, for some of its segments and heads.
struct Part {
    Packed packed;
    FlashShare share;
    int64_t group;
    int64_t first_query = 0, query_heads = 0;  ///< number of query heads, if the part has only some heads of
                                               ///< one group; 0: the part has whole groups

    bool is_of_one_group() const { return query_heads > 0; }
    at::Tensor of_queries(const at::Tensor& x_bht) const {
        const int64_t first = share.first_head * group;
        return is_of_one_group() ? some_heads(x_bht, first + first_query, query_heads)
                                 : some_heads(x_bht, first, share.heads * group);
    }
    at::Tensor of_keys(const at::Tensor& x_bks) const {
        return some_heads(x_bks, share.first_head, share.heads);
    }
    AttentionPart queries(const at::Tensor& dq, const PartsOfHeads& all) const {
        return {tokens_first(packed.apart(dq)),
                {},
                packed.first_query(),
                all.first_head + share.first_head * group + first_query};
    }

    FlashKernel::Gradients run(const FlashKernel& kernel, const at::Tensor& dout_bhtd,
                               const at::Tensor& q_bhtd, const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                               const FlashOutput& whole) const {
        return kernel.backward(
            packed.inputs(of_queries(q_bhtd), of_keys(k_bksd), of_keys(v_bksd)),
            packed.queries(of_queries(dout_bhtd)),
            {packed.queries(of_queries(whole.out_bhtd)), packed.lse(of_queries(whole.lse_bht))});
    }
};

int64_t heads_at_once(const FlashKernel& kernel, const at::Tensor& q_bhtd, int64_t group) {
    return kernel.heads_at_once ? kernel.heads_at_once(q_bhtd, group) : q_bhtd.size(1);
}

std::vector<FlashShare> shares_of(const FlashKernel& kernel, const FlashCall& call, const at::Tensor& q_bhtd,
                                  const at::Tensor& k_bksd) {
    const int64_t key_heads = k_bksd.size(1);
    const int64_t multiprocessors = kernel.multiprocessors ? kernel.multiprocessors(q_bhtd) : 0;
    if (multiprocessors == 0) {
        const int64_t group = q_bhtd.size(1) / key_heads;
        return shares_of_heads(static_cast<int64_t>(call.segments.size()), key_heads,
                               std::max<int64_t>(1, heads_at_once(kernel, q_bhtd, group) / group));
    }
    return flash_shares(call, {q_bhtd.size(0), key_heads, q_bhtd.size(1) / key_heads, q_bhtd.size(3)},
                        multiprocessors);
}

std::vector<Part> backward_parts(const FlashKernel& kernel, const FlashCall& call, const at::Tensor& q_bhtd,
                                 const at::Tensor& k_bksd) {
    std::vector<Part> parts;
    const int64_t rows = q_bhtd.size(0), group = q_bhtd.size(1) / k_bksd.size(1);
    const int64_t at_once = heads_at_once(kernel, q_bhtd, group);
    for (const FlashShare& share : shares_of(kernel, call, q_bhtd, k_bksd)) {
        const auto first = call.segments.begin() + share.first_segment;
        for (FlashPacking& packing : pack({call.window, {first, first + share.segments}}, rows)) {
            const Packed packed(std::move(packing), rows);
            if (share.heads > 1 || at_once >= group) parts.push_back({packed, share, group});
            for (int64_t query = 0; share.heads == 1 && at_once < group && query < group; query += at_once)
                parts.push_back({packed, share, group, query, std::min(at_once, group - query)});
        }
    }
    return parts;
}

/// Returns true if no two parts share query heads, and each part computes all segments of its heads.
bool have_own_heads(const std::vector<Part>& parts, int64_t segments) {
    int64_t next = 0;
    return std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
        const bool is_next =
            part.share.first_head * part.group + part.first_query == next && part.share.segments == segments;
        next += part.is_of_one_group() ? part.query_heads : part.share.heads * part.group;
        return is_next;
    });
}

/// Returns the launches of all calls. If the kernel cannot take all queries at once, each block of queries
/// gets its own calls.
std::vector<Part> all_backward_parts(const FlashKernel& kernel, const at::Tensor& q_bhtd,
                                     const at::Tensor& k_bksd, const std::vector<Slice>& slices) {
    std::vector<Part> parts;
    const int64_t queries = q_bhtd.size(2), step = backward_step(kernel, q_bhtd);
    for (int64_t begin = 0; begin < queries; begin += step) {
        const bool all = step >= queries;
        for (const FlashCall& call :
             flash_calls(all ? slices : of_queries(slices, begin, std::min(queries, begin + step)))) {
            for (Part& part : backward_parts(kernel, call, q_bhtd, k_bksd)) parts.push_back(std::move(part));
        }
    }
    return parts;
}

/// Returns true if no two parts share key heads, and each part has all keys of its heads.
bool write_each_key_once(const std::vector<Part>& parts, const at::Tensor& k_bksd) {
    int64_t heads = 0;
    for (const Part& part : parts) {
        if (!part.packed.reads_all(k_bksd.size(2)) || part.share.first_head != heads) return false;
        heads += part.share.heads;
    }
    return heads == k_bksd.size(1);
}

/// Holds the single call that computes all slices, and its packing.
struct OneCall {
    FlashCall call;
    FlashPacking packing;
};
std::optional<OneCall> one_call(const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                                const std::vector<Slice>& slices) {
    std::vector<FlashCall> calls = flash_calls(slices);
    if (calls.size() != 1) return {};
    auto packing = pack_whole(calls[0], q_bhtd.size(0), q_bhtd.size(2), k_bksd.size(2));
    if (!packing) return {};
    return OneCall{std::move(calls[0]), std::move(*packing)};
}

at::Tensor float_like(const at::Tensor& x_bhtd) {
    return tokens_first(at::empty(tokens_first(x_bhtd).sizes(), x_bhtd.options().dtype(at::kFloat)));
}

/// Allocates memory in B T H D order. Set `zeros` to fill it, if the launches do not write all of it.
at::Tensor gradients_like(const at::Tensor& x_bhtd, bool zeros) {
    const std::vector<int64_t> sizes = tokens_first(x_bhtd).sizes().vec();
    return tokens_first(zeros ? at::zeros(sizes, x_bhtd.options()) : at::empty(sizes, x_bhtd.options()));
}

}  // namespace

void packed_forward(const FlashKernel& kernel, const PartsOfHeads& out, const at::Tensor& q_bhtd,
                    const at::Tensor& k_bksd, const at::Tensor& v_bksd, const std::vector<Slice>& slices) {
    for (const FlashCall& call : flash_calls(slices)) {
        for (FlashPacking& packing : pack(call, q_bhtd.size(0))) {
            const Packed packed(std::move(packing), q_bhtd.size(0));
            const FlashKernel::Output part = kernel.forward(packed.inputs(q_bhtd, k_bksd, v_bksd));
            out.sums.add({tokens_first(packed.apart(part.out)), packed.lse_apart(part.lse),
                          packed.first_query(), out.first_head});
        }
    }
}

void packed_backward(const FlashKernel& kernel, const PartsOfHeads& dq, KeyGradients& keys,
                     const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                     const at::Tensor& v_bksd, const FlashOutput& whole, const std::vector<Slice>& slices) {
    const std::vector<Part> parts = all_backward_parts(kernel, q_bhtd, k_bksd, slices);
    const bool made = !keys.dk_bksd.defined(), once = write_each_key_once(parts, k_bksd);
    const bool adopted = made && once && parts.size() == 1;
    KeyGradients sums = keys;
    if (made && !adopted) sums = {float_like(k_bksd), float_like(v_bksd), true};
    const bool begins = sums.begin && once;
    if (sums.begin && !begins) {
        sums.dk_bksd.zero_();
        sums.dv_bksd.zero_();
    }
    for (const Part& part : parts) {
        const FlashKernel::Gradients d = part.run(kernel, dout_bhtd, q_bhtd, k_bksd, v_bksd, whole);
        dq.sums.add(part.queries(d.dq, dq));
        if (adopted) {
            keys = {part.packed.apart(d.dk), part.packed.apart(d.dv)};
            return;
        }
        part.packed.add_keys(part.of_keys(sums.dk_bksd), d.dk, begins);
        part.packed.add_keys(part.of_keys(sums.dv_bksd), d.dv, begins);
    }
    if (made) keys = {sums.dk_bksd.to(k_bksd.scalar_type()), sums.dv_bksd.to(v_bksd.scalar_type())};
}

std::optional<FlashOutput> one_call_forward(const FlashKernel& kernel, const at::Tensor& q_bhtd,
                                            const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                                            const std::vector<Slice>& slices) {
    std::optional<OneCall> one = one_call(q_bhtd, k_bksd, slices);
    if (!one) return {};
    const Packed packed(std::move(one->packing), q_bhtd.size(0));
    const FlashKernel::Output whole = kernel.forward(packed.inputs(q_bhtd, k_bksd, v_bksd));
    return FlashOutput{packed.apart(whole.out), packed.lse_apart(whole.lse)};
}

std::optional<FlashGradients> one_call_backward(const FlashKernel& kernel, const at::Tensor& dout_bhtd,
                                                const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                                                const at::Tensor& v_bksd, const FlashOutput& whole,
                                                const std::vector<Slice>& slices, bool overwrites) {
    if (backward_step(kernel, q_bhtd) < q_bhtd.size(2)) return {};
    std::optional<OneCall> one = one_call(q_bhtd, k_bksd, slices);
    if (!one) return {};
    const std::vector<Part> parts = backward_parts(kernel, one->call, q_bhtd, k_bksd);
    if (parts.size() == 1) {
        const Part all{Packed(std::move(one->packing), q_bhtd.size(0)), parts[0].share, parts[0].group};
        const FlashKernel::Gradients d = all.run(kernel, dout_bhtd, q_bhtd, k_bksd, v_bksd, whole);
        return FlashGradients{all.packed.apart(d.dq), all.packed.apart(d.dk), all.packed.apart(d.dv)};
    }
    const bool gaps = one->packing.gaps;
    const auto segments = static_cast<int64_t>(one->call.segments.size());
    const bool in_place = overwrites && !gaps && have_own_heads(parts, segments);
    const auto memory_for = [&](const at::Tensor& x) { return in_place ? x : gradients_like(x, gaps); };
    const bool adds = parts[0].is_of_one_group();  // if launches share keys, sum their gradients in float32
    const auto memory_for_keys = [&](const at::Tensor& x) {
        if (!adds) return memory_for(x);
        return tokens_first(at::zeros(tokens_first(x).sizes(), x.options().dtype(at::kFloat)));
    };
    const FlashGradients sums{memory_for(q_bhtd), memory_for_keys(k_bksd), memory_for_keys(v_bksd)};
    for (const Part& part : parts) {
        const FlashKernel::Gradients d = part.run(kernel, dout_bhtd, q_bhtd, k_bksd, v_bksd, whole);
        part.packed.own(part.of_queries(sums.dq_bhtd)).copy_(part.packed.apart(d.dq));
        const auto put = [&](const at::Tensor& sum_bksd, const at::Tensor& x) {
            adds ? part.packed.add_keys(part.of_keys(sum_bksd), x, false)
                 : part.packed.put_keys(part.of_keys(sum_bksd), x);
        };
        put(sums.dk_bksd, d.dk);
        put(sums.dv_bksd, d.dv);
    }
    return sums;
}

}  // namespace ringmaster
