/// Builds the process groups of a mesh over c10d, and lets the ranks find each other.
///
/// Each rank has one Groups. The world group carries gradients and the step's few scalars; ring and ulysses
/// carry keys and values; shard and replicas carry sharded states. The group expert_part carries experts'
/// states, and the group experts carries the tokens that experts compute. A group of one rank has no process
/// group: its transfers copy data at most. One meter counts all transfers of a Groups. All ranks of a group
/// make the same calls in the same order.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/comm/meter.h"
#include "engine/device.h"
#include "engine/events/progress.h"
#include "engine/layout/mesh.h"

namespace c10d {
class Store;
}

namespace ringmaster {

/// Holds this rank's identity and the address of rank 0's store. They come from torchrun's variables or
/// Slurm's; without either, this process is the only rank.
struct Rendezvous {
    int rank = 0;
    int world_size = 1;
    int local_rank = 0;
    int local_world_size = 1;
    std::string master_addr = "127.0.0.1";
    int master_port = 0;
    std::optional<int> store_fd;      ///< RINGMASTER_STORE_FD: rank 0's listening socket, opened by its agent
    bool store_is_elsewhere = false;  ///< true if torchrun serves the store (TORCHELASTIC_USE_AGENT_STORE)
    std::string key_prefix;           ///< prefix of this attempt's keys, unique to the attempt; not secret
    std::string secret;               ///< the run's secret (auth/run_secret.h), the same on all ranks
    std::string interface_name;       ///< GLOO_SOCKET_IFNAME, the network interface to use; chosen if empty
};

/// Reads the variables with `get`, which works like getenv. Throws Error(Usage) if one is missing or not a
/// number. RANK (from torchrun or our agent) wins over SLURM_PROCID, so a launcher inside a Slurm job works.
Rendezvous rendezvous_from_environment(const std::function<const char*(const char*)>& get);

/// Returns the first host of a Slurm node list: "gpu03" for "gpu[03-08,11],login".
std::string first_slurm_host(const std::string& node_list);

/// Represents a transfer under way and keeps its tensors alive until it is complete. The destructor waits for
/// completion, except while an exception unwinds the stack: the transfer then completes or fails unattended.
class Transfer {
  public:
    struct State;
    Transfer() = default;
    explicit Transfer(std::shared_ptr<State> state);
    Transfer(Transfer&&) noexcept = default;
    Transfer& operator=(Transfer&& other) noexcept;
    ~Transfer();
    /// Waits until received data may be read and sent data may be overwritten. Throws Error(Refused) if a
    /// peer is gone or does not answer in time: "rank 3 waits in layer 12, hop 5, for rank 2 to send keys and
    /// values (…): nothing came for 120 s".
    void wait();

  private:
    friend class Group;
    std::shared_ptr<State> state_;
    std::function<void()> then_;  ///< called after the wait to process the received data
    int exceptions_ = 0;          ///< number of uncaught exceptions when this object was made
};

enum class Reduce { Sum, Max };

class Group {
  public:
    struct Impl;
    explicit Group(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

    int rank() const;
    int size() const;

    /// Sends to group rank `to` while receiving from `from`; the lists match in order. Tensors are
    /// contiguous. Before wait() returns, a sent tensor must not be written, and a received tensor must not
    /// be read. An empty list sends or receives nothing. `what` completes an error's text: "rank 0 to send
    /// keys and values".
    Transfer exchange(std::vector<at::Tensor> send, int to, std::vector<at::Tensor> recv, int from,
                      const std::string& what = "data");
    Transfer all_reduce(at::Tensor tensor, Reduce op = Reduce::Sum);  ///< reduces in place
    /// Splits dim 0 equally: chunk i of `send` goes to rank i, chunk i of `recv` comes from rank i.
    Transfer all_to_all(at::Tensor recv, at::Tensor send, const std::string& what = "all-to-all");
    /// Takes tensors of one dimension: sends `send_counts[i]` elements to rank i, receives `recv_counts[i]`.
    Transfer all_to_all(at::Tensor recv, at::Tensor send, std::vector<int64_t> recv_counts,
                        std::vector<int64_t> send_counts, const std::string& what = "all-to-all");
    Transfer broadcast(at::Tensor tensor, int root);
    /// Takes tensors of one dimension; `whole` has one equal chunk per rank. Sums `whole` over all ranks,
    /// always in the same order, and writes this rank's chunk of the sum to `own`, which may lie in `whole`.
    Transfer reduce_scatter(at::Tensor own, at::Tensor whole, const std::string& what = "reduce-scatter");
    /// Fills chunk i of `whole` with rank i's `own`. `own` may be this rank's chunk of `whole`.
    Transfer all_gather(at::Tensor whole, at::Tensor own, const std::string& what = "all-gather");
    void barrier();

    RankProgress& progress();  ///< progress of the Groups that this group belongs to

  private:
    static Transfer brought_back(Transfer transfer, std::vector<at::Tensor> arrived,
                                 std::vector<at::Tensor> to);

    std::shared_ptr<Impl> impl_;
};

class Groups {
  public:
    struct Impl;
    explicit Groups(std::shared_ptr<Impl> impl);

    int rank() const;  ///< global rank
    const Mesh& mesh() const;
    at::Device device() const;  ///< device that holds this rank's tensors
    Group& world();
    Group& ring();     ///< ranks that differ in the ring coordinate only, ordered by it
    Group& ulysses();  ///< ranks that differ in the ulysses coordinate only, ordered by it
    // The next two groups exist only if GroupOptions::shards_states is set.
    Group& shard();     ///< ranks with the same dp_replicate coordinate, which share one copy of the states
    Group& replicas();  ///< ranks that differ in the dp_replicate coordinate only; they hold the same states
    // The next two groups exist only if the mesh has expert parallelism too.
    Group& expert_part();  ///< ranks of one replica that compute the same experts
    Group& experts();      ///< one rank of each part, in the order of the parts

    RankProgress& progress();  ///< this rank's position in the step, for error messages and for its agent
    /// Sets the timeout of transfers from now on.
    void set_timeout(std::chrono::milliseconds timeout);

    CommTotals take_totals();  ///< returns the totals since the last call

  private:
    std::shared_ptr<Impl> impl_;
};

struct GroupOptions {
    Device device = Device::Cpu;
    std::chrono::milliseconds timeout = std::chrono::minutes(30);         ///< time limit of one transfer
    std::chrono::milliseconds meeting_timeout = std::chrono::minutes(1);  ///< time limit for the rendezvous
    /// The only address that Gloo listens on. If empty: 127.0.0.1 if all ranks are on this machine, otherwise
    /// the address of the interface that reaches rank 0's machine.
    std::string interface_address;
    int device_index = 0;  ///< CUDA device; connect overwrites it with the local rank
    /// Sends transfers over Gloo and copies in host memory, so that ranks can share a GPU (for tests);
    /// connect then assigns the GPUs round-robin.
    bool through_host = false;
    std::string key;  ///< key that Gloo's peers must prove to hold; connect derives it from the secret
    bool shards_states = false;              ///< if true, also makes the groups shard and replicas
    std::shared_ptr<RankProgress> progress;  ///< if null, Groups makes a new object
};

/// Meets the other ranks at the rendezvous. On the CPU the store stops listening after all have connected.
/// Throws Error(Unreachable) if the port is in use, ranks are missing (it names them), or this machine has no
/// such CUDA device. Throws Error(Refused) if a stranger took a rank's place. A single rank opens no socket.
Groups connect(const Rendezvous& rendezvous, const Mesh& mesh, const GroupOptions& options);

/// Makes the groups like connect(), over a store that exists already (tests run ranks as threads over one
/// HashStore). The store is null for one rank.
Groups make_groups(const c10::intrusive_ptr<c10d::Store>& store, int rank, const Mesh& mesh,
                   const GroupOptions& options);

}  // namespace ringmaster
