#include "engine/attention/head_exchange.h"

#include <ATen/ATen.h>

#include <numeric>

#include "engine/error.h"

namespace ringmaster {

namespace {

int64_t part_begin(int64_t whole, int64_t part, int64_t parts) {
    return whole / parts * part + std::min(part, whole % parts);
}

HeadRange part_of(int64_t whole, int64_t part, int64_t parts) {
    const int64_t begin = part_begin(whole, part, parts);
    return {begin, part_begin(whole, part + 1, parts) - begin};
}

/// Returns `rank`'s heads if there are fewer key heads than ranks: several ranks get the same key head and
/// divide its query heads among them.
OwnedHeads share_of_one_head(int64_t query_heads, int64_t key_heads, int rank, int ranks) {
    const int64_t group = query_heads / key_heads;
    int64_t head = 0;
    while (part_begin(ranks, head + 1, key_heads) <= rank) ++head;
    const HeadRange sharers = part_of(ranks, head, key_heads);
    HeadRange queries = part_of(group, rank - sharers.begin, sharers.count);
    queries.begin += head * group;
    return {queries, {head, 1}};
}

}  // namespace

std::vector<OwnedHeads> split_heads(int64_t query_heads, int64_t key_heads, int ranks) {
    if (query_heads < ranks) {
        throw Error(
            Failure::Refused, Code("PLAN-LAYOUT"),
            std::to_string(query_heads) + " query heads cannot be divided among " + std::to_string(ranks) +
                " ranks",
            "ulysses_size",
            "at most " + std::to_string(query_heads) + "; the ring takes the rest of context_parallel_size");
    }
    std::vector<OwnedHeads> owned;
    for (int rank = 0; rank < ranks; ++rank) {
        if (key_heads < ranks) {
            owned.push_back(share_of_one_head(query_heads, key_heads, rank, ranks));
            continue;
        }
        const int64_t group = query_heads / key_heads;
        const HeadRange keys = part_of(key_heads, rank, ranks);
        owned.push_back({{keys.begin * group, keys.count * group}, keys});
    }
    return owned;
}

int64_t HeadExchange::all_tokens() const {
    return std::accumulate(tokens.begin(), tokens.end(), int64_t{0});
}

at::Tensor ByHeads::wait() {
    transfer.wait();
    return std::exchange(owned_sbnd, {});
}

ByHeads tokens_to_heads(Group& group, const HeadExchange& exchange, const at::Tensor& x_tbnd,
                        const std::string& what) {
    const int64_t B = x_tbnd.size(1), D = x_tbnd.size(3);
    const auto me = static_cast<size_t>(group.rank());
    std::vector<int64_t> send_counts, recv_counts;
    std::vector<at::Tensor> parts;
    for (size_t rank = 0; rank < exchange.heads.size(); ++rank) {
        const HeadRange& heads = exchange.heads[rank];
        parts.push_back(x_tbnd.narrow(2, heads.begin, heads.count).reshape({-1}));
        send_counts.push_back(parts.back().numel());
        recv_counts.push_back(exchange.tokens[rank] * B * exchange.heads[me].count * D);
    }
    ByHeads by_heads;
    by_heads.owned_sbnd =
        at::empty({exchange.all_tokens(), B, exchange.heads[me].count, D}, x_tbnd.options());
    by_heads.transfer =
        group.all_to_all(by_heads.owned_sbnd.view({-1}), at::cat(parts), recv_counts, send_counts, what);
    return by_heads;
}

ByTokens heads_to_tokens(Group& group, const HeadExchange& exchange, const at::Tensor& owned_sbnd,
                         const std::string& what) {
    const int64_t B = owned_sbnd.size(1), D = owned_sbnd.size(3);
    const auto me = static_cast<size_t>(group.rank());
    std::vector<int64_t> send_counts, recv_counts;
    int64_t received = 0;
    for (size_t rank = 0; rank < exchange.heads.size(); ++rank) {
        send_counts.push_back(exchange.tokens[rank] * B * exchange.heads[me].count * D);
        recv_counts.push_back(exchange.tokens[me] * B * exchange.heads[rank].count * D);
        received += recv_counts.back();
    }
    ByTokens by_tokens;
    by_tokens.exchange = exchange;
    by_tokens.received = at::empty({received}, owned_sbnd.options());
    by_tokens.like_tbnd = at::empty({exchange.tokens[me], B, 0, D}, owned_sbnd.options());
    by_tokens.transfer =
        group.all_to_all(by_tokens.received, owned_sbnd.reshape({-1}), recv_counts, send_counts, what);
    return by_tokens;
}

at::Tensor ByTokens::wait_and_join() {
    transfer.wait();
    const int64_t t = like_tbnd.size(0), B = like_tbnd.size(1), D = like_tbnd.size(3);
    std::vector<at::Tensor> parts;
    int64_t at = 0;
    bool summed = false;
    for (size_t rank = 0; rank < exchange.heads.size(); ++rank) {
        const int64_t count = exchange.heads[rank].count;
        const at::Tensor part = received.narrow(0, at, t * B * count * D).view({t, B, count, D});
        at += part.numel();
        if (rank > 0 && exchange.heads[rank] == exchange.heads[rank - 1]) {  // these ranks share a head
            parts.back() = parts.back().to(at::kFloat).add(part);
            summed = true;
        } else {
            parts.push_back(part);
        }
    }
    if (!summed) return at::cat(parts, 2);
    for (at::Tensor& part : parts) part = part.to(received.scalar_type());
    return at::cat(parts, 2);
}

}  // namespace ringmaster
