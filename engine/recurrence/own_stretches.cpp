#include "engine/recurrence/own_stretches.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace ringmaster {

namespace {

using Table = std::vector<int64_t>;

at::Tensor on(at::Device device, const Table& table) {
    return at::tensor(table, at::kLong).to(device);
}

/// Calls `visit` for each of the `reach` positions before stretch `index` in its document, with the stretch
/// that holds the position.
template <class Visit>
void for_positions_before(const Stretches& stretches, size_t index, int64_t reach, const Visit& visit) {
    const int64_t begin = stretches.all[index].begin;
    for (size_t i = index; stretches.all[i].has_before;) {
        const Stretch& before = stretches.all[--i];
        if (before.end <= begin - reach) break;
        for (int64_t at = std::max(before.begin, begin - reach); at < before.end; ++at) visit(before, at);
    }
}

}  // namespace

OwnStretches::OwnStretches(const Stretches& all, int rank, int64_t tokens_, int64_t taps_, at::Device device)
    : stretches(all), tokens(tokens_), taps(taps_) {
    const int64_t reach = taps - 1;
    for (size_t i = 0; i < all.all.size(); ++i) {
        const Stretch& stretch = all.all[i];
        if (stretch.rank != rank) continue;
        const int64_t count = (stretch.size() + kChunkTokens - 1) / kChunkTokens;
        own.push_back({i, chunks, chunks + count});
        chunks += count;
        if (stretch.has_before) ++received;
    }
    const int64_t none = sources(), P = positions();
    Table source(static_cast<size_t>(taps * P), none), target(static_cast<size_t>(taps * none), P);
    Table token(static_cast<size_t>(P), tokens), position(static_cast<size_t>(tokens), P);
    Table tails(static_cast<size_t>(all.most_sent * reach), tokens);
    Table before(static_cast<size_t>(received * reach), all.ranks * all.most_sent * reach);
    Table tail_tokens, tail_rows;
    for (const OwnStretch& mine : own) {
        const Stretch& stretch = at(mine);
        const int64_t at_first = mine.first_chunk * kChunkTokens;
        for (int64_t i = 0; i < stretch.size(); ++i) {
            token[size_t(at_first + i)] = stretch.first + i;
            position[size_t(stretch.first + i)] = at_first + i;
            for (int64_t tap = 0; tap < taps; ++tap) {
                const int64_t back = i - reach + tap;  // index in the stretch that the tap reads
                if (back < 0 && !stretch.has_before) continue;
                const int64_t from =
                    back >= 0 ? stretch.first + back : tokens + stretch.received * reach + reach + back;
                source[size_t(tap * P + at_first + i)] = from;
                target[size_t(tap * none + from)] = at_first + i;
            }
        }
        if (stretch.has_after) {
            for (int64_t i = std::max<int64_t>(0, reach - stretch.size()); i < reach; ++i)
                tails[size_t(stretch.sent * reach + i)] = stretch.first + stretch.size() - reach + i;
        }
        for_positions_before(all, mine.index, reach, [&](const Stretch& from, int64_t at_position) {
            before[size_t(stretch.received * reach + reach - (stretch.begin - at_position))] =
                (from.rank * all.most_sent + from.sent) * reach + reach - (from.end - at_position);
        });
        for (size_t later = mine.index; all.all[later].has_after;) {
            const Stretch& reader = all.all[++later];
            for_positions_before(all, later, reach, [&](const Stretch& from, int64_t at_position) {
                if (from.begin != stretch.begin) return;
                tail_tokens.push_back(stretch.first + at_position - stretch.begin);
                tail_rows.push_back((reader.rank * all.most_received + reader.received) * reach + reach -
                                    (reader.begin - at_position));
            });
            if (reader.begin - reach >= stretch.end) break;
        }
    }
    sources_jp = on(device, source).view({taps, P});
    targets_js = on(device, target).view({taps, none});
    tokens_p = on(device, token);
    positions_t = on(device, position);
    tails_r = on(device, tails);
    before_r = on(device, before);
    tail_tokens_m = on(device, tail_tokens);
    tail_rows_m = on(device, tail_rows);
}

at::Tensor with_zero_row(const at::Tensor& x_br) {
    return at::constant_pad_nd(x_br.flatten(2), {0, 0, 0, 1});
}

at::Tensor tokens_before(Groups& groups, const OwnStretches& stretches, const at::Tensor& tails_brc) {
    const at::Tensor all = gather_of_context(groups, tails_brc, "tokens before a stretch");
    return with_zero_row(all.transpose(0, 1).flatten(1, 2)).index_select(1, stretches.before_r);
}

at::Tensor gradients_of_tails(Groups& groups, const OwnStretches& stretches, const at::Tensor& dbefore_brc) {
    const int64_t rows = stretches.stretches.most_received * (stretches.taps - 1);
    const at::Tensor padded = at::constant_pad_nd(dbefore_brc, {0, 0, 0, rows - dbefore_brc.size(1)});
    const at::Tensor all = gather_of_context(groups, padded, "gradients of tokens before a stretch")
                               .transpose(0, 1)
                               .flatten(1, 2);
    if (stretches.tail_rows_m.size(0) == 0) return {};
    return all.index_select(1, stretches.tail_rows_m);
}

at::Tensor convolution_of(const OwnStretches& stretches, const at::Tensor& sources_bsc,
                          const at::Tensor& taps_cj) {
    at::Tensor mixed_bpc;
    for (int64_t j = 0; j < stretches.taps; ++j) {
        const at::Tensor read =
            sources_bsc.index_select(1, stretches.sources_jp[j]).mul_(taps_cj.select(1, j));
        mixed_bpc = j == 0 ? read : mixed_bpc.add_(read);
    }
    return mixed_bpc;
}

at::Tensor sources_gradient(const OwnStretches& stretches, const at::Tensor& dmixed_bpc,
                            const at::Tensor& sources_bsc, const at::Tensor& taps_cj,
                            const at::Tensor& dtaps_cj) {
    const at::Tensor inner_bpc = dmixed_bpc.narrow(1, 0, stretches.positions());
    at::Tensor dsources_bsc;
    for (int64_t j = 0; j < stretches.taps; ++j) {
        dtaps_cj.select(1, j).copy_(
            sources_bsc.index_select(1, stretches.sources_jp[j]).mul_(inner_bpc).sum(at::IntArrayRef{0, 1}));
        const at::Tensor back =
            dmixed_bpc.index_select(1, stretches.targets_js[j]).mul_(taps_cj.select(1, j));
        dsources_bsc = j == 0 ? back : dsources_bsc.add_(back);
    }
    return dsources_bsc;
}

at::Tensor gather_of_context(Groups& groups, const at::Tensor& own, const char* what) {
    at::Tensor joined = own.contiguous();
    for (Group* group : {&groups.ulysses(), &groups.ring()}) {
        if (group->size() == 1) continue;
        at::Tensor whole = at::empty({group->size() * joined.numel()}, own.options());
        group->all_gather(whole, joined.view({-1}), what).wait();
        joined = whole;
    }
    std::vector<int64_t> sizes = own.sizes().vec();
    const Mesh& mesh = groups.mesh();
    sizes.insert(sizes.begin(), mesh.context_parallel_size());
    return joined.view(sizes);
}

}  // namespace ringmaster
