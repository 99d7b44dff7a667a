/// Follows a posted transfer to its completion and meters it. On the CPU, a thread waits for the c10d::Work
/// objects; on a CUDA device, events mark the completion and are read later. Each process group has one
/// `Watch`, for the CPU or for a device.
///
/// On the CPU, the waiting thread measures how long it has waited for a transfer. It counts only the time in
/// which it runs, so that a suspended process does not time out. On a device, NCCL's watchdog measures the
/// time and aborts.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

#include "engine/comm/failure.h"
#include "engine/comm/groups.h"
#include "engine/comm/meter.h"
#include "engine/error.h"
#include "engine/events/progress.h"

namespace ringmaster {

/// Holds one posted c10d::Work and the ranks that it waits for.
struct Operation {
    c10::intrusive_ptr<c10d::Work> work;
    Partner partner;
};

/// Holds what all transfers of a group share.
struct GroupContext {
    std::string name;  ///< name of the group, such as "ring"
    int rank = 0;      ///< global rank
    std::shared_ptr<Meter> meter;
    std::shared_ptr<RankProgress> progress;
    std::shared_ptr<std::atomic<std::chrono::milliseconds>> timeout;  ///< time limit of one wait
    std::shared_ptr<std::atomic<bool>> is_broken;  ///< true after a transfer of this rank failed in any group

    /// Marks the groups as broken and returns an error such as
    /// "rank 3 waits in layer 12, hop 5, for rank 2 to send keys and values (…): nothing came for 120 s"
    Error broken(const Awaited& awaited, const TransferFailure& failure) const;
};

struct Transfer::State {
    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    virtual ~State() = default;
    virtual void wait() = 0;

    std::vector<Operation> operations;
    std::vector<at::Tensor> tensors;  ///< tensors kept alive until all operations are complete
    Place place;                      ///< position in the step where the transfer was posted
    int64_t sequence = 0;             ///< number of the transfer in its group
};

class Watch {
  public:
    Watch() = default;
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    virtual ~Watch() = default;

    /// Starts a transfer before its operations are posted. Time in flight counts from this call.
    virtual std::shared_ptr<Transfer::State> begin() = 0;
    /// Follows the transfer after posting, when the state holds the operations and the tensors.
    virtual void posted(const std::shared_ptr<Transfer::State>& state) = 0;
    /// Ends a transfer whose posting threw an exception, so that nothing is in flight.
    virtual void failed(const std::shared_ptr<Transfer::State>& state) = 0;
    /// Aborts the transfers still under way. Returns false if one cannot be aborted: the backend must then
    /// outlive this object.
    virtual bool stop() = 0;
    /// Adds to the meter what has been measured so far.
    virtual void collect() = 0;
};

std::unique_ptr<Watch> watch_on_host(std::shared_ptr<const GroupContext> context);  ///< for the CPU
std::unique_ptr<Watch> watch_on_device(std::shared_ptr<const GroupContext> context, at::Device device);

}  // namespace ringmaster
