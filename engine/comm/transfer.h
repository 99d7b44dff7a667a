/// How a posted transfer is followed to its completion and metered: on the CPU by a thread that waits for
/// c10d's works, on a CUDA device by events that are read later. `Watch` is one of the two, one for each
/// process group.
///
/// How long a transfer may be waited for is counted on the CPU by the thread that waits, and only while it
/// runs: a process that was suspended has not waited. On a device NCCL's watchdog counts, and aborts.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

#include "engine/comm/groups.h"
#include "engine/comm/meter.h"
#include "engine/error.h"
#include "engine/events/progress.h"

namespace ringmaster {

/// One work of c10d and whom it waits for: "rank 0 to send keys and values".
struct Operation {
    c10::intrusive_ptr<c10d::Work> work;
    std::string whom;
};

/// What a group's transfers have in common.
struct GroupContext {
    std::string name;  ///< "ring"
    int rank = 0;      ///< global
    std::shared_ptr<Meter> meter;
    std::shared_ptr<Progress> progress;
    std::shared_ptr<std::atomic<std::chrono::milliseconds>> timeout;  ///< of one wait
    std::shared_ptr<std::atomic<bool>> is_broken;  ///< a transfer of this rank failed, in whatever group

    /// Notes that the groups are broken.
    /// "rank 3 waits in layer 12, hop 5, for rank 2 to send keys and values (…): nothing came for 120 s"
    Error broken(const Awaited& awaited, const std::string& cause) const;
};

struct Transfer::State {
    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    virtual ~State() = default;
    virtual void wait() = 0;

    std::vector<Operation> operations;
    std::vector<at::Tensor> tensors;  ///< alive until the works are complete
    Place place;                      ///< where it was posted
    int64_t sequence = 0;             ///< its number in the group
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

std::unique_ptr<Watch> watch_on_host(std::shared_ptr<const GroupContext> context);
std::unique_ptr<Watch> watch_on_device(std::shared_ptr<const GroupContext> context, at::Device device);

}  // namespace ringmaster
