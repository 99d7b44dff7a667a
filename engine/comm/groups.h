/// The process groups of a mesh over c10d, and how the ranks find each other.
///
/// One Groups per rank. World carries gradients and the step's few scalars; ring and ulysses carry keys and
/// values; shard and replica carry states that are sharded. A group of one rank has no process group: its
/// transfers are copies at most. Every transfer of a Groups is metered together. All ranks of a group make
/// the same calls in the same order.
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
#include "engine/events/progress.h"
#include "engine/plan/mesh.h"
#include "engine/plan/plan.h"

namespace c10d {
class Store;
}

namespace ringmaster {

/// Who this rank is and where rank 0's store listens, from torchrun's variables, else Slurm's, else one rank
/// alone.
struct Rendezvous {
    int rank = 0;
    int world_size = 1;
    int local_rank = 0;
    int local_world_size = 1;
    std::string master_addr = "127.0.0.1";
    int master_port = 0;
    std::optional<int> store_fd;      ///< RINGMASTER_STORE_FD: rank 0's listening socket, opened by its agent
    bool store_is_elsewhere = false;  ///< torchrun's agent serves the store (TORCHELASTIC_USE_AGENT_STORE)
    std::string key_prefix;  ///< keys of this attempt, so that two runs or attempts never meet; not secret
    std::string secret;      ///< of the run (auth/run_secret.h), equal on all ranks; not in the environment
    std::string interface_name;  ///< GLOO_SOCKET_IFNAME: the network interface to use; empty: found
};

/// `get` is getenv-like. Throws Error(Usage) naming the variable that is missing or no number. RANK
/// (torchrun, and our own agent) comes before SLURM_PROCID: a launcher inside a Slurm job counts.
Rendezvous rendezvous_from_environment(const std::function<const char*(const char*)>& get);

/// First host of a Slurm node list: "gpu[03-08,11],login" is "gpu03".
std::string first_slurm_host(const std::string& node_list);

/// A transfer under way. Tensors are kept alive until it is complete; destroying it unwaited waits, except
/// where an exception is on its way: then it is left to end by itself.
class Transfer {
  public:
    struct State;
    Transfer() = default;
    explicit Transfer(std::shared_ptr<State> state);
    Transfer(Transfer&&) noexcept = default;
    Transfer& operator=(Transfer&& other) noexcept;
    ~Transfer();
    /// Returns when the received data may be read and the sent may be written over. Throws Error(Refused)
    /// where a peer is gone or does not answer in time: "rank 3 waits in layer 12, hop 5, for rank 2 to send
    /// keys and values (…): nothing came for 120 s".
    void wait();

  private:
    friend class Group;
    std::shared_ptr<State> state_;
    std::function<void()> then_;  ///< what is left to do with what was received
    int exceptions_ = 0;          ///< under way when this was made
};

enum class Reduce { Sum, Max };

class Group {
  public:
    struct Impl;
    explicit Group(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

    int rank() const;
    int size() const;

    /// Sends to group rank `to` while receiving from `from`; lists are matched in order. Tensors are
    /// contiguous; a tensor must not be written (sent) or read (received) until the transfer is waited for.
    /// An empty list sends, or receives, nothing. `what` is said in an error: "rank 0 to send keys and
    /// values".
    Transfer exchange(std::vector<at::Tensor> send, int to, std::vector<at::Tensor> recv, int from,
                      const std::string& what = "data");
    Transfer all_reduce(at::Tensor tensor, Reduce op = Reduce::Sum);  ///< in place
    /// Equal splits along dim 0: chunk i of `send` goes to rank i, chunk i of `recv` comes from it.
    Transfer all_to_all(at::Tensor recv, at::Tensor send, const std::string& what = "all-to-all");
    /// Of one dimension, `send_counts[i]` elements to rank i and `recv_counts[i]` from it.
    Transfer all_to_all(at::Tensor recv, at::Tensor send, std::vector<int64_t> recv_counts,
                        std::vector<int64_t> send_counts, const std::string& what = "all-to-all");
    Transfer broadcast(at::Tensor tensor, int root);
    /// Tensors of one dimension. `whole` is as many equal chunks as there are ranks; of the sum of all ranks'
    /// this one receives its own chunk, always added in the same order. `own` may lie in `whole`.
    Transfer reduce_scatter(at::Tensor own, at::Tensor whole, const std::string& what = "reduce-scatter");
    /// Chunk i of `whole` comes from rank i. `own` may be this rank's chunk of it.
    Transfer all_gather(at::Tensor whole, at::Tensor own, const std::string& what = "all-gather");
    void barrier();

    Progress& progress();  ///< that of Groups

  private:
    static Transfer brought_back(Transfer transfer, std::vector<at::Tensor> arrived,
                                 std::vector<at::Tensor> to);

    std::shared_ptr<Impl> impl_;
};

class Groups {
  public:
    struct Impl;
    explicit Groups(std::shared_ptr<Impl> impl);

    int rank() const;  ///< global
    const Mesh& mesh() const;
    at::Device device() const;  ///< where this rank's tensors live
    Group& world();
    Group& ring();     ///< ranks that differ in the ring coordinate only, in its order
    Group& ulysses();  ///< ranks that differ in the ulysses coordinate only, in its order
    // With GroupOptions::shards_states only:
    Group& shard();     ///< ranks of one dp_replicate coordinate, which share one copy of the states
    Group& replicas();  ///< ranks that differ in the dp_replicate coordinate only: they hold the same states

    Progress& progress();  ///< where this rank is: errors, and its agent, say it
    /// Of a transfer, from now on: how long one is waited for that nobody answers.
    void set_timeout(std::chrono::milliseconds timeout);

    CommTotals take_totals();  ///< since the last call

  private:
    std::shared_ptr<Impl> impl_;
};

struct GroupOptions {
    Device device = Device::Cpu;
    std::chrono::milliseconds timeout = std::chrono::minutes(30);         ///< of one transfer
    std::chrono::milliseconds meeting_timeout = std::chrono::minutes(1);  ///< of finding the other ranks
    /// Gloo listens on this address only. Empty: 127.0.0.1 where all ranks are on this machine, else that of
    /// the interface which reaches rank 0's machine.
    std::string interface_address;
    int device_index = 0;  ///< of CUDA; connect takes the local rank
    /// For tests: transfers go by Gloo over copies in host memory, so that ranks can share a GPU; connect
    /// then deals the GPUs out in turns.
    bool through_host = false;
    std::string key;             ///< that Gloo's peers prove to hold; connect makes it of the run's secret
    bool shards_states = false;  ///< makes the groups shard and replicas
    std::shared_ptr<Progress> progress;  ///< null: one of their own
};

/// Meets the other ranks at the rendezvous; on the CPU the store stops listening once all are connected.
/// Throws Error(Unreachable): port in use, nobody there (the missing ranks are named), no CUDA in this build
/// or on this machine. Throws Error(Refused): a stranger took a rank's place. One rank alone opens no socket.
Groups connect(const Rendezvous& rendezvous, const Mesh& mesh, const GroupOptions& options);

/// The same over a store that exists already (tests run ranks as threads over one HashStore); null for one
/// rank.
Groups make_groups(const c10::intrusive_ptr<c10d::Store>& store, int rank, const Mesh& mesh,
                   const GroupOptions& options);

}  // namespace ringmaster
