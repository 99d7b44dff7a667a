#include "engine/recurrence/delta_rule.h"

#include <ATen/ATen.h>

namespace ringmaster {

namespace {

at::Tensor transposed(const at::Tensor& x) {
    return x.transpose(-2, -1);
}

/// Solves (1 + the part of `system` below the diagonal) · X = right, or its transpose's system.
at::Tensor solve(const at::Tensor& system, const at::Tensor& right, bool transpose) {
    return at::linalg_solve_triangular(transpose ? transposed(system) : system, right, transpose, true, true);
}

/// Returns Σ over the last dimension of a · b.
at::Tensor row_dots(const at::Tensor& a, const at::Tensor& b) {
    return (a * b).sum(-1);
}

/// Adds to d_i and subtracts from d_j the elements of x_ij = ∂/∂(s_i − s_j).
void add_differences(at::Tensor& d, const at::Tensor& x) {
    d.add_(x.sum(-1)).sub_(x.sum(-2));
}

}  // namespace

DeltaRule::DeltaRule(const DeltaInputs& inputs) : in_(inputs) {
    sums_nmgl = in_.log_decay_nmgl.cumsum(-1);
    decay_nmgll = (sums_nmgl.unsqueeze(-1) - sums_nmgl.unsqueeze(-2)).tril_().exp_().tril_();
    scores_nmgll = at::matmul(in_.q_nm1lk, transposed(in_.k_nm1lk)) * decay_nmgll;
    const at::Tensor from_begin = sums_nmgl.exp().unsqueeze(-1), last = sums_nmgl.narrow(-1, -1, 1);
    q_nmglk = in_.q_nm1lk * from_begin;
    k_end_nmglk = in_.k_nm1lk * (last - sums_nmgl).exp_().unsqueeze(-1);
    last_nmg11 = last.exp().unsqueeze(-1);
    if (!removes()) return;
    const at::Tensor beta = in_.beta_nmgl.unsqueeze(-1);
    k_begin_nmglk = in_.k_nm1lk * from_begin;
    system_nmgll = (at::matmul(in_.k_nm1lk, transposed(in_.k_nm1lk)) * decay_nmgll).mul_(beta).tril_(-1);
    solved_v_nmglv = solve(system_nmgll, in_.v_nmglv * beta, false);
    solved_k_nmglk = solve(system_nmgll, k_begin_nmglk * beta, false);
}

at::Tensor DeltaRule::zero_state() const {
    const auto sizes = in_.v_nmglv.sizes();
    return at::zeros({sizes[1], sizes[2], in_.k_nm1lk.size(-1), sizes[4]}, in_.v_nmglv.options());
}

at::Tensor DeltaRule::written(int64_t chunk, const at::Tensor& state) const {
    if (!removes()) return in_.v_nmglv[chunk];
    return solved_v_nmglv[chunk] - at::matmul(solved_k_nmglk[chunk], state);
}

at::Tensor DeltaRule::forward(const ChunkRange& range, at::Tensor state, const at::Tensor& out_nmglv) const {
    for (int64_t n = range.begin; n < range.end; ++n) {
        const at::Tensor written = this->written(n, state);
        if (out_nmglv.defined())
            out_nmglv[n].copy_(at::matmul(q_nmglk[n], state).add_(at::matmul(scores_nmgll[n], written)));
        state = (state * last_nmg11[n]).add_(at::matmul(transposed(k_end_nmglk[n]), written));
    }
    return state;
}

at::Tensor DeltaRule::transition(const ChunkRange& range) const {
    if (!removes()) return last_nmg11.slice(0, range.begin, range.end).prod(0);
    const int64_t K = in_.k_nm1lk.size(-1);
    at::Tensor made = at::eye(K, in_.k_nm1lk.options());
    for (int64_t n = range.begin; n < range.end; ++n)
        made = (made * last_nmg11[n])
                   .sub_(at::matmul(transposed(k_end_nmglk[n]), at::matmul(solved_k_nmglk[n], made)));
    return made;
}

DeltaRule::Backward DeltaRule::begin_backward(at::Tensor dout_nmglv) const {
    const auto sizes = in_.v_nmglv.sizes();
    const at::Tensor states =
        at::empty({sizes[0], sizes[1], sizes[2], in_.k_nm1lk.size(-1), sizes[4]}, in_.v_nmglv.options());
    return {std::move(dout_nmglv), states, at::empty_like(states),
            removes() ? at::empty_like(in_.v_nmglv) : in_.v_nmglv};
}

void DeltaRule::remember(const ChunkRange& range, at::Tensor state, Backward& backward) const {
    for (int64_t n = range.begin; n < range.end; ++n) {
        backward.states_nmgkv[n].copy_(state);
        const at::Tensor written = this->written(n, state);
        if (removes()) backward.written_nmglv[n].copy_(written);
        state = (state * last_nmg11[n]).add_(at::matmul(transposed(k_end_nmglk[n]), written));
    }
}

at::Tensor DeltaRule::state_gradient(const ChunkRange& range, at::Tensor dstate,
                                     const Backward& backward) const {
    for (int64_t n = range.end - 1; n >= range.begin; --n) {
        backward.dstates_nmgkv[n].copy_(dstate);
        const at::Tensor& dout = backward.dout_nmglv[n];
        const at::Tensor dbefore = (dstate * last_nmg11[n]).add_(at::matmul(transposed(q_nmglk[n]), dout));
        if (removes()) {
            const at::Tensor dwritten =
                at::matmul(transposed(scores_nmgll[n]), dout).add_(at::matmul(k_end_nmglk[n], dstate));
            dbefore.sub_(at::matmul(transposed(solved_k_nmglk[n]), dwritten));
        }
        dstate = dbefore;
    }
    return dstate;
}

DeltaInputs DeltaRule::finish(const Backward& backward) const {
    const auto& [dout, states, dstates, written] = backward;
    const at::Tensor from_begin = sums_nmgl.exp().unsqueeze(-1);
    const at::Tensor to_end = (sums_nmgl.narrow(-1, -1, 1) - sums_nmgl).exp_().unsqueeze(-1);
    DeltaInputs d;
    at::Tensor dsums = at::zeros_like(sums_nmgl), dlast = dsums.narrow(-1, -1, 1);
    // The state after the chunk: S' = last · S + k_endᵀ · written.
    dlast.add_(row_dots(states.flatten(-2), dstates.flatten(-2)).unsqueeze(-1).mul_(last_nmg11.squeeze(-1)));
    const at::Tensor dk_end = at::matmul(written, transposed(dstates));
    // The last token reaches the chunk's end without a decay. It is left out, because its large terms would
    // cancel, but their rounding errors would not.
    const int64_t others = dsums.size(-1) - 1;
    const at::Tensor of_end = row_dots(dk_end, k_end_nmglk).narrow(-1, 0, others);
    dlast.add_(of_end.sum(-1, true));
    dsums.narrow(-1, 0, others).sub_(of_end);
    d.k_nm1lk = (dk_end * to_end).sum(2, true);
    // The output: q · S + scores · written.
    const at::Tensor dq = at::matmul(dout, transposed(states));
    dsums.add_(row_dots(dq, q_nmglk));
    d.q_nm1lk = (dq * from_begin).sum(2, true);
    at::Tensor dwritten = at::matmul(transposed(scores_nmgll), dout).add_(at::matmul(k_end_nmglk, dstates));
    const at::Tensor dscores = at::matmul(dout, transposed(written));
    add_differences(dsums, (dscores * scores_nmgll).tril_(-1));  // leaves out tokens' scores with themselves
    const at::Tensor dqk = (dscores * decay_nmgll).sum(2, true);
    d.q_nm1lk.add_(at::matmul(dqk, in_.k_nm1lk));
    d.k_nm1lk.add_(at::matmul(transposed(dqk), in_.q_nm1lk));
    const auto made = [&] {
        d.log_decay_nmgl = dsums.flip(-1).cumsum(-1).flip(-1);
        return d;
    };
    d.v_nmglv = dwritten;
    if (!removes()) return made();
    // The written values solve (1 + system) · written = β · (v − k_begin · S).
    const at::Tensor beta = in_.beta_nmgl.unsqueeze(-1);
    dwritten = solve(system_nmgll, dwritten, true);
    const at::Tensor wanted = in_.v_nmglv - at::matmul(k_begin_nmglk, states);
    d.beta_nmgl = row_dots(dwritten, wanted);
    d.v_nmglv = dwritten * beta;
    const at::Tensor dk_begin = at::matmul(d.v_nmglv, transposed(states)).neg_();
    dsums.add_(row_dots(dk_begin, k_begin_nmglk));
    d.k_nm1lk.add_((dk_begin * from_begin).sum(2, true));
    const at::Tensor dsystem = at::matmul(dwritten, transposed(written)).neg_().tril_(-1);
    add_differences(dsums, dsystem * system_nmgll);
    const at::Tensor dkk_of_beta = dsystem.mul_(decay_nmgll);  // gradient of k · kᵀ, before β
    const at::Tensor kk = at::matmul(in_.k_nm1lk, transposed(in_.k_nm1lk));
    d.beta_nmgl.add_((dkk_of_beta * kk).sum(-1));
    const at::Tensor dkk = (dkk_of_beta * beta).sum(2, true);
    d.k_nm1lk.add_(at::matmul(dkk, in_.k_nm1lk)).add_(at::matmul(transposed(dkk), in_.k_nm1lk));
    return made();
}

}  // namespace ringmaster
