/// Runs ranks as threads of one process, with one HashStore and Gloo on 127.0.0.1.
///
///   run_ranks(mesh, [&](int rank, Groups& groups) { … });
#pragma once

#include <ATen/Parallel.h>

#include <csignal>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <vector>

#include "engine/comm/groups.h"
#include "engine/error.h"

namespace ringmaster {

inline Mesh ring_mesh(int ring) {
    Mesh mesh;
    mesh.ring = ring;
    return mesh;
}

/// Keeps the first failure of any rank.
class FirstFailure {
  public:
    void note(int rank, std::exception_ptr exception) {
        std::lock_guard lock(mutex_);
        if (!exception_) {
            rank_ = rank;
            exception_ = std::move(exception);
        }
    }

    /// Throws the failure, if there is one, with its rank before the message. An Error is thrown as an Error.
    void rethrow() const {
        if (!exception_) return;
        const std::string who = "rank " + std::to_string(rank_) + ": ";
        try {
            std::rethrow_exception(exception_);
        } catch (const Error& error) {
            throw Error(error.failure, Code(error.code), who + error.what(), error.where, error.hint);
        } catch (const std::exception& error) {
            throw std::runtime_error(who + error.what());
        }
    }

  private:
    std::mutex mutex_;
    int rank_ = 0;
    std::exception_ptr exception_;
};

/// Runs `body` once per rank of the mesh, with one ATen thread each, and rethrows the first failure with its
/// rank. A rank that fails or returns leaves its groups, so the others' transfers with it fail at once.
inline void run_ranks(const Mesh& mesh, const GroupOptions& options,
                      const std::function<void(int, Groups&)>& body) {
    std::signal(SIGPIPE, SIG_IGN);  // as in the engine, a write to a lost rank only returns an error
    const auto store = c10::make_intrusive<c10d::HashStore>();
    FirstFailure failure;
    std::vector<std::thread> threads;
    for (int rank = 0; rank < mesh.ranks(); ++rank) {
        threads.emplace_back([&, rank] {
            try {
                at::set_num_threads(1);
                Groups groups = make_groups(store, rank, mesh, options);
                body(rank, groups);
            } catch (...) {
                failure.note(rank, std::current_exception());
            }
        });
    }
    for (auto& thread : threads) thread.join();
    failure.rethrow();
}

inline GroupOptions options_of_ranks(std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
    GroupOptions options;
    options.timeout = timeout;
    options.shards_states = true;
    return options;
}

inline void run_ranks(const Mesh& mesh, const std::function<void(int, Groups&)>& body,
                      std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
    run_ranks(mesh, options_of_ranks(timeout), body);
}

/// Runs ranks that share the first GPU and transfer through host memory.
inline void run_ranks_on_gpu(const Mesh& mesh, const std::function<void(int, Groups&)>& body) {
    GroupOptions options = options_of_ranks();
    options.device = Device::Cuda;
    options.through_host = true;
    run_ranks(mesh, options, body);
}

/// Runs the ranks of the mesh. Throws std::logic_error if the mesh does not have `ranks` ranks.
inline void run_ranks(int ranks, const Mesh& mesh, const std::function<void(int, Groups&)>& body) {
    if (ranks != mesh.ranks()) throw std::logic_error("run_ranks: the mesh has another number of ranks");
    run_ranks(mesh, body);
}

}  // namespace ringmaster
