#include "engine/attention/head_exchange.h"

#include <ATen/ATen.h>

#include "engine/error.h"

namespace ringmaster {

void require_divisible_heads(int64_t query_heads, int64_t key_heads, int ranks) {
    const bool keys_fit = key_heads % ranks == 0 || ranks % key_heads == 0;
    if (query_heads % ranks == 0 && keys_fit) return;
    std::string sizes;
    for (int size = 1; size <= query_heads; ++size) {
        if (query_heads % size == 0 && (key_heads % size == 0 || size % key_heads == 0)) {
            sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
        }
    }
    throw Error(Failure::Refused,
                std::to_string(query_heads) + " query and " + std::to_string(key_heads) +
                    " key/value heads cannot be divided among " + std::to_string(ranks) + " ranks",
                "ulysses_size",
                "sizes that can: " + sizes + "; the ring takes the rest of context_parallel_size");
}

int64_t owned_heads(int64_t heads, int ranks) {
    return heads >= ranks ? heads / ranks : 1;
}

Transfer tokens_to_heads(Group& group, const at::Tensor& x_btnd, const at::Tensor& owned_sbnd,
                         const std::string& what) {
    const int64_t ranks = group.size(), heads = x_btnd.size(2);
    at::Tensor by_owner;  // [U, t, B, n, D]
    if (heads >= ranks) {
        by_owner = x_btnd.unflatten(2, {ranks, heads / ranks}).permute({2, 1, 0, 3, 4}).contiguous();
    } else {
        const int64_t B = x_btnd.size(0), tokens = x_btnd.size(1), D = x_btnd.size(3);
        by_owner = x_btnd.unsqueeze(3)
                       .expand({B, tokens, heads, ranks / heads, D})
                       .permute({2, 3, 1, 0, 4})
                       .contiguous()
                       .view({ranks, tokens, B, 1, D});
    }
    return group.all_to_all(owned_sbnd, by_owner, what);
}

HeadsOnTheirWay heads_to_tokens(Group& group, const at::Tensor& owned_bsnd, const std::string& what) {
    const int64_t ranks = group.size();
    const at::Tensor owned_sbnd = owned_bsnd.transpose(0, 1).contiguous();
    const auto sizes = owned_sbnd.sizes();
    HeadsOnTheirWay way;
    way.received_utbnd =
        at::empty({ranks, sizes[0] / ranks, sizes[1], sizes[2], sizes[3]}, owned_sbnd.options());
    way.transfer = group.all_to_all(way.received_utbnd, owned_sbnd, what);
    return way;
}

at::Tensor HeadsOnTheirWay::wait_and_join(int64_t heads) {
    transfer.wait();
    const at::Tensor& x = received_utbnd;
    const int64_t ranks = x.size(0), tokens = x.size(1), B = x.size(2), D = x.size(4);
    if (heads >= ranks) return x.permute({2, 1, 0, 3, 4}).reshape({B, tokens, heads, D});
    const at::Tensor sum_ntbd = x.view({heads, ranks / heads, tokens, B, D}).sum(1, false, at::kFloat);
    return sum_ntbd.permute({2, 1, 0, 3}).to(x.scalar_type()).contiguous();
}

}  // namespace ringmaster
