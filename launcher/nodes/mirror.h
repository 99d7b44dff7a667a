/// Keeps the local run directory of a remote run up to date: events and logs by byte offset, run.json from
/// the run's first named node. Uses a thread and a session for each named node and reconnects after failures.
/// It never starts or stops a part of the run. It fetches the final model of a completed run into output_dir,
/// which this machine chose at launch, unless the run is adopted.
///
/// A node can only append to its own record files (record_files); plan.json, config.yaml and remote.json are
/// never taken from it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "launcher/nodes/from_node.h"
#include "launcher/nodes/remote_run.h"

namespace ringmaster {

/// Says why a node is silent.
struct NodeTrouble {
    std::string host, words = {};  ///< the node, and the problem in English; both empty if no node is silent
    std::string code = {};         ///< code of the Error; empty for another exception
    NodeFinding finding = {};      ///< the problem as a finding, if the machine could not be reached

    bool empty() const { return words.empty(); }
    std::string text() const { return empty() ? words : host + ": " + words; }
};

class RunMirror {
  public:
    /// Uses `sessions` while they last and opens those that are empty. If another process already mirrors
    /// this run directory, waits until that process ends.
    RunMirror(const RunDirectory& run, std::vector<std::unique_ptr<SshSession>> sessions);
    RunMirror(const RunMirror&) = delete;
    RunMirror& operator=(const RunMirror&) = delete;
    ~RunMirror();

    NodeTrouble trouble() const;  ///< trouble of the first node that is silent
    RunNote note() const;         ///< "fetching model.safetensors" and how much has been fetched; else empty

  private:
    struct NodeWatch {
        std::unique_ptr<SshSession> session;
        std::thread thread;
        NodeTrouble trouble;
        std::string last_reason;
        bool over = false;
        std::chrono::steady_clock::time_point heard;
    };
    void watch(size_t index);
    bool follow(size_t index);
    bool take(size_t index, const FollowFrame& frame, std::optional<RunState>& last);
    void take_state(const RunState& told) const;
    void finish(const RunState& told);
    void wait_for_others();
    void fetch_model();
    void give_up_on_first(const std::string& why);
    bool wait(std::chrono::milliseconds time);
    bool lock();

    RunDirectory run_;
    RemoteRun remote_;
    size_t lead_;             ///< index of the first named node
    std::string output_dir_;  ///< output_dir of plan.json when the mirror started
    mutable std::mutex mutex_;
    std::condition_variable ending_;
    std::atomic<bool> stop_ = false;
    int lock_ = -1;
    RunNote note_;
    std::vector<NodeWatch> nodes_;
};

}  // namespace ringmaster
