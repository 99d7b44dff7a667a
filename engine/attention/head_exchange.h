/// Ulysses: an all-to-all turns "my tokens, all heads" into "my heads, the group's tokens" and back.
///
/// Letters: B rows, N heads, U ranks of the group, t a rank's tokens, S the group's, D head_dim, n the heads
/// that a rank owns. Neither heads nor tokens need divide: ranks own as equal numbers as there are. Where
/// there are fewer key/value heads than ranks, some ranks own the same one, whose gradients add up on the way
/// back. Source: Jacobs et al. 2023, "DeepSpeed Ulysses", section 3.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/comm/groups.h"

namespace ringmaster {

/// Heads [begin, begin + count).
struct HeadRange {
    int64_t begin = 0;
    int64_t count = 0;

    bool operator==(const HeadRange&) const = default;
};

/// What one rank of the group owns; queries.count is a multiple of keys.count, and of their own heads.
struct OwnedHeads {
    HeadRange queries;
    HeadRange keys;
};

/// Of every rank. Throws Error(Refused) where there are fewer query heads than ranks.
std::vector<OwnedHeads> split_heads(int64_t query_heads, int64_t key_heads, int ranks);

/// One direction's shape: whose heads and whose tokens.
struct HeadExchange {
    std::vector<HeadRange> heads;  ///< of each rank
    std::vector<int64_t> tokens;   ///< of each rank

    int64_t all_tokens() const;
};

/// x_tbnd [t, B, N, D], any strides. What is waited for holds this rank's heads of all tokens, in the order
/// of the group's ranks: [S, B, n, D].
struct ByHeads {
    at::Tensor owned_sbnd;
    Transfer transfer;

    at::Tensor wait();
};
ByHeads tokens_to_heads(Group& group, const HeadExchange& exchange, const at::Tensor& x_tbnd,
                        const std::string& what);

/// The way back: owned_sbnd [S, B, n, D], any strides. `wait_and_join` gives [t, B, N, D].
struct ByTokens {
    HeadExchange exchange;
    at::Tensor received;
    at::Tensor like_tbnd;  ///< an empty tensor that says B, D and t
    Transfer transfer;

    at::Tensor wait_and_join();
};
ByTokens heads_to_tokens(Group& group, const HeadExchange& exchange, const at::Tensor& owned_sbnd,
                         const std::string& what);

}  // namespace ringmaster
