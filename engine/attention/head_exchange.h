/// Ulysses: an all-to-all turns "my tokens, all heads" into "my heads, the group's tokens" and back.
///
/// Letters: B rows, N heads, U ranks of the group, t a rank's tokens, D head_dim. A rank owns n = N/U heads;
/// where there are fewer key/value heads than ranks, n = 1 and U/N ranks own copies of the same one, whose
/// gradients add up on the way back. Source: Jacobs et al. 2023, "DeepSpeed Ulysses", section 3.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/comm/groups.h"

namespace ringmaster {

/// Throws Error(Refused) where the heads cannot be divided: query heads must be a multiple of U, key/value
/// heads a multiple or a divisor.
void require_divisible_heads(int64_t query_heads, int64_t key_heads, int ranks);

/// Heads that one rank owns of `heads`.
int64_t owned_heads(int64_t heads, int ranks);

/// x_btnd [B, t, N, D], any strides. `owned_sbnd` [U·t, B, n, D], contiguous, holds this rank's heads of all
/// tokens when the transfer is waited for, in the order of the group's ranks.
Transfer tokens_to_heads(Group& group, const at::Tensor& x_btnd, const at::Tensor& owned_sbnd,
                         const std::string& what);

/// The way back: owned_bsnd [B, U·t, n, D], any strides. `wait_and_join` gives [B, t, N, D], contiguous, for
/// `heads` = N.
struct HeadsOnTheirWay {
    at::Tensor received_utbnd;
    Transfer transfer;

    at::Tensor wait_and_join(int64_t heads);
};
HeadsOnTheirWay heads_to_tokens(Group& group, const at::Tensor& owned_bsnd, const std::string& what);

}  // namespace ringmaster
