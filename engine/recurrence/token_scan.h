/// Runs the selective scan (engine/kernels/scan.h) on tensors, for some channels of all rows. On the CPU it
/// uses the kernels: threads share the rows and the groups of kScanLanes channels, and results do not depend
/// on the number of threads. On other devices, and in tests, it uses LibTorch's operations
/// (ScanByOperations), which compute one position of all chunks of kScanChunk tokens at a time.
///
/// Letters: B rows, T tokens of a row, C channels, a multiple of kScanLanes, G groups of them, L =
/// kScanLanes, K numbers of a channel's state. All tensors are float32 or float64, and packed.
#pragma once

#include <ATen/core/Tensor.h>

#include <utility>

namespace ringmaster {

/// The tokens [first, first + count) of every row.
struct TokenSpan {
    int64_t first = 0, count = 0;
};

class TokenScan {
  public:
    struct Inputs {
        at::Tensor x_btc, steps_btc;
        at::Tensor rates_gkl;
        at::Tensor keys_btk, queries_btk;
    };
    struct Gradients {
        at::Tensor dx_btc, dsteps_btc, drates_gkl, dkeys_btk, dqueries_btk;
    };

    explicit TokenScan(Inputs inputs) : TokenScan(std::move(inputs), false) {}
    TokenScan(Inputs inputs, bool by_operations)
        : in_(std::move(inputs)), by_operations_(by_operations || !in_.x_btc.is_cpu()) {}

    at::Tensor zero_state() const;  ///< [B, G, K, L]
    Gradients zero_gradients() const;
    /// Replaces state_bgkl by the state after the span. Writes the span's tokens of y_btc if it is defined.
    void forward(const TokenSpan& span, const at::Tensor& state_bgkl, const at::Tensor& y_btc) const;
    /// Replaces dstate_bgkl, the gradient of the state after the span, by that of the state before it.
    void state_gradient(const TokenSpan& span, const at::Tensor& dy_btc, const at::Tensor& dstate_bgkl) const;
    /// Does the same as state_gradient, writes the gradients of the span's x and steps, and adds to the other
    /// gradients. state_bgkl is the state before the span; it is overwritten.
    void backward(const TokenSpan& span, const at::Tensor& dy_btc, const at::Tensor& state_bgkl,
                  const at::Tensor& dstate_bgkl, const Gradients& gradients) const;

  private:
    const Inputs in_;
    const bool by_operations_;
};

/// Computes one span of a scan with LibTorch's operations. Call `forward` before the gradients.
class ScanByOperations {
  public:
    ScanByOperations(const TokenScan::Inputs& in, const TokenSpan& span);

    void forward(const at::Tensor& state_bgkl, const at::Tensor& y_btc);
    void state_gradient(const at::Tensor& dy_btc, const at::Tensor& dstate_bgkl) const;
    void backward(const at::Tensor& dy_btc, const at::Tensor& state_bgkl, const at::Tensor& dstate_bgkl,
                  const TokenScan::Gradients& gradients);

  private:
    struct Position;  ///< views the same position of all chunks
    Position at(int64_t position) const;
    at::Tensor in_chunks(const at::Tensor& x_btw) const;
    /// Returns the gradient of the state after each chunk, [B, N, C, K], and replaces dstate_bgkl.
    at::Tensor gradients_after(const at::Tensor& dy_bnmc, const at::Tensor& dstate_bgkl) const;
    void find_begins(const at::Tensor& state_bgkl);

    const TokenSpan span_;
    int64_t chunks_;  ///< N, of M positions each
    at::Tensor rates_ck, x_bnmc, steps_bnmc, keys_bnmk, queries_bnmk;
    at::Tensor decays_bnck;  ///< decay over each chunk
    at::Tensor begins_bnck;  ///< states before each chunk
};

}  // namespace ringmaster
