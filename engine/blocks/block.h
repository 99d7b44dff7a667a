/// Defines a block: a part of a decoder layer with its forward, its backward and the tensors that it keeps
/// between them.
///
/// A block is written once, for a Machine that computes its operations. TensorMachine
/// (engine/model/tensor_machine.h) computes them on tensors. TraceMachine
/// (engine/plan/memory/trace_machine.h) only allocates and frees their memory, so that the plan's memory
/// follows the code that runs.
///
/// Letters: N this rank's tokens, C hidden, H heads, K key/value heads, D head_dim, I intermediate, W any
/// width.
#pragma once

#include <cstdint>

namespace ringmaster {

/// The tokens [begin, end) of a rank.
struct TokenRange {
    int64_t begin = 0;
    int64_t end = 0;
    int64_t size() const { return end - begin; }
};

/// Holds the tensors that one layer keeps in one micro-batch; each micro-batch makes new objects.
template <class Machine>
class Block {
  public:
    using Tensor = typename Machine::Tensor;
    virtual ~Block() = default;

    /// Returns residual_nc + the block's output for x_nc. Keeps what `backward` needs.
    virtual Tensor forward(Machine& machine, const Tensor& x_nc, const Tensor& residual_nc) = 0;
    /// Frees everything that `restore` and `backward` can recompute from x_nc.
    virtual void forget(Machine& machine) = 0;
    /// Prepares a backward pass after `forget`; does not compute what `backward` itself computes.
    virtual void restore(Machine& machine, const Tensor& x_nc) = 0;
    /// Recomputes the keys and values that other chunks of the sequence read, and passes them to the machine.
    /// The block keeps nothing.
    virtual void recall(Machine&, const Tensor&) {}
    /// Adds the gradient of x_nc to dx_nc, given dy_nc, the gradient of the block's output; both may be the
    /// same tensor. Sets the weights' gradients to beta · gradient + new gradient.
    virtual void backward(Machine& machine, const Tensor& dy_nc, Tensor dx_nc, double beta) = 0;
};

}  // namespace ringmaster
