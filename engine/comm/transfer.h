/// How a posted transfer is followed to its completion and metered: on the CPU by a thread that waits for
/// c10d's works, on a CUDA device by events that are read later. `Watch` is one of the two, one for each
/// process group.
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

#include "engine/comm/groups.h"
#include "engine/comm/meter.h"

namespace ringmaster {

/// One work of c10d and what is said when it fails: "waiting for keys and values from rank 0".
struct Operation {
    c10::intrusive_ptr<c10d::Work> work;
    std::string what;
};

struct Transfer::State {
    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    virtual ~State() = default;
    virtual void wait() = 0;

    std::vector<Operation> operations;
    std::vector<at::Tensor> tensors;  ///< alive until the works are complete
};

class Watch {
  public:
    Watch() = default;
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    virtual ~Watch() = default;

    /// Before the works are posted: time in flight counts from here.
    virtual std::shared_ptr<Transfer::State> begin() = 0;
    /// After: the state holds the works and the tensors.
    virtual void posted(const std::shared_ptr<Transfer::State>& state) = 0;
    /// Where posting threw: nothing is in flight.
    virtual void failed(const std::shared_ptr<Transfer::State>& state) = 0;
    /// Gives up what is still under way. False where a work cannot be given up: the backend must then outlive
    /// this.
    virtual bool stop() = 0;
    /// Moves what is measured by now to the meter.
    virtual void collect() = 0;
};

/// `who` begins an error: "rank 1 (ring 1)"; a work that takes longer than `timeout` is one.
std::unique_ptr<Watch> watch_on_host(std::shared_ptr<Meter> meter, std::string who,
                                     std::chrono::milliseconds timeout);
std::unique_ptr<Watch> watch_on_device(std::shared_ptr<Meter> meter, std::string who, at::Device device);

}  // namespace ringmaster
