/// The process groups of a mesh over c10d, and how the ranks find each other.
///
/// One Groups per rank. World carries gradients and the step's few scalars; ring and ulysses carry keys and values. A group
/// of one rank has no process group, its transfers are no-ops. Every transfer of a Groups is metered together.
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/comm/meter.h"
#include "engine/plan/mesh.h"
#include "engine/plan/plan.h"

namespace c10d {
class Store;
}

namespace ringmaster {

/// Who this rank is and where rank 0's store listens, from torchrun's variables, else Slurm's, else one rank alone.
struct Rendezvous {
    int rank = 0;
    int world_size = 1;
    int local_rank = 0;
    int local_world_size = 1;
    std::string master_addr = "127.0.0.1";
    int master_port = 0;
    std::optional<int> store_fd;      ///< RINGMASTER_STORE_FD: rank 0's listening socket, opened by its agent
    bool store_is_elsewhere = false;  ///< torchrun's agent serves the store (TORCHELASTIC_USE_AGENT_STORE)
    std::string key_prefix;           ///< keys of this attempt, so that two runs or attempts never meet
};

/// `get` is getenv-like. Throws Error(Usage) naming the variable that is missing or no number.
Rendezvous rendezvous_from_environment(const std::function<const char*(const char*)>& get);

/// First host of a Slurm node list: "gpu[03-08,11],login" is "gpu03".
std::string first_slurm_host(const std::string& node_list);

/// A transfer under way. Tensors are kept alive until it is waited for; destroying it unwaited waits.
class Transfer {
  public:
    struct State;
    Transfer() = default;
    explicit Transfer(std::shared_ptr<State> state) : state_(std::move(state)) {}
    Transfer(Transfer&&) noexcept = default;
    Transfer& operator=(Transfer&& other) noexcept;
    ~Transfer();
    /// Returns when the received data may be read and the sent may be written over. Throws Error(Refused) where a peer is
    /// gone or does not answer in time, naming the group, the operation and the peer.
    void wait();

  private:
    std::shared_ptr<State> state_;
};

enum class Reduce { Sum, Max };

class Group {
  public:
    struct Impl;
    explicit Group(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

    int rank() const;
    int size() const;

    /// Sends to group rank `to` while receiving from `from`; lists are matched in order. Tensors are contiguous; a tensor
    /// must not be written (sent) or read (received) until the transfer is waited for.
    Transfer exchange(std::vector<at::Tensor> send, int to, std::vector<at::Tensor> recv, int from);
    Transfer all_reduce(at::Tensor tensor, Reduce op = Reduce::Sum);  ///< in place
    /// Equal splits along dim 0: chunk i of `send` goes to rank i, chunk i of `recv` comes from it.
    Transfer all_to_all(at::Tensor recv, at::Tensor send);
    Transfer broadcast(at::Tensor tensor, int root);
    void barrier();

  private:
    std::shared_ptr<Impl> impl_;
};

class Groups {
  public:
    struct Impl;
    explicit Groups(std::shared_ptr<Impl> impl);

    int rank() const;          ///< global
    const Mesh& mesh() const;
    Group& world();
    Group& ring();             ///< ranks that differ in the ring coordinate only, in its order
    Group& ulysses();          ///< ranks that differ in the ulysses coordinate only, in its order

    CommTotals take_totals();  ///< since the last call

  private:
    std::shared_ptr<Impl> impl_;
};

struct GroupOptions {
    Device device = Device::Cpu;
    std::chrono::milliseconds timeout = std::chrono::minutes(30);
    std::string interface_address = "127.0.0.1";  ///< Gloo listens on this address only
};

/// Meets the other ranks at the rendezvous. Throws Error(Unreachable): port in use, nobody there, no NCCL in this build.
Groups connect(const Rendezvous& rendezvous, const Mesh& mesh, const GroupOptions& options);

/// The same over a store that exists already (tests run ranks as threads over one HashStore).
Groups make_groups(const std::shared_ptr<void>& keep_alive, c10d::Store& store, int rank, const Mesh& mesh,
                   const GroupOptions& options);

}  // namespace ringmaster
