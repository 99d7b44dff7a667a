/// Turns "my tokens, all heads" into "my heads, the group's tokens" by an all-to-all, and back (Ulysses).
///
/// Letters: B rows, N heads, U ranks of the group, t a rank's tokens, S the group's tokens, D head_dim, n the
/// heads that a rank owns. Heads and tokens need not divide evenly: ranks own nearly equal numbers. If there
/// are fewer key/value heads than ranks, some ranks own the same head, and its gradients are summed on the
/// way back. Source: Jacobs et al. 2023, "DeepSpeed Ulysses", section 3.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/comm/groups.h"

namespace ringmaster {

/// The heads [begin, begin + count).
struct HeadRange {
    int64_t begin = 0;
    int64_t count = 0;

    bool operator==(const HeadRange&) const = default;
};

/// The heads that one rank of the group owns; queries.count is a multiple of keys.count.
struct OwnedHeads {
    HeadRange queries;
    HeadRange keys;
};

/// Returns the heads of every rank. Throws Error(Refused) if there are fewer query heads than ranks.
std::vector<OwnedHeads> split_heads(int64_t query_heads, int64_t key_heads, int ranks);

/// Describes one direction of an exchange: which rank owns which heads and which tokens.
struct HeadExchange {
    std::vector<HeadRange> heads;  ///< heads of each rank
    std::vector<int64_t> tokens;   ///< tokens of each rank

    int64_t all_tokens() const;
};

/// Exchanges x_tbnd [t, B, N, D], any strides. wait() returns this rank's heads of all tokens, in the order
/// of the group's ranks: [S, B, n, D].
struct ByHeads {
    at::Tensor owned_sbnd;
    Transfer transfer;

    at::Tensor wait();
};
ByHeads tokens_to_heads(Group& group, const HeadExchange& exchange, const at::Tensor& x_tbnd,
                        const std::string& what);

/// Sends owned_sbnd [S, B, n, D], any strides, to the ranks that own its tokens; `wait_and_join` returns [t,
/// B, N, D].
struct ByTokens {
    HeadExchange exchange;
    at::Tensor received;
    at::Tensor like_tbnd;  ///< empty tensor that carries B, D and t
    Transfer transfer;

    at::Tensor wait_and_join();
};
ByTokens heads_to_tokens(Group& group, const HeadExchange& exchange, const at::Tensor& owned_sbnd,
                         const std::string& what);

}  // namespace ringmaster
