/// Keeps the local run directory of a run elsewhere as it is there: events and logs by byte offset, run.json
/// as its first named node tells it. A thread and a session for each node that the person named; connections
/// that break are made again. Nothing here starts or stops anything of the run. The final model of a
/// completed run is fetched into output_dir, which this machine chose at launch, unless the run is adopted.
///
/// A node adds to its own record files alone (record_files), at their end; plan.json, config.yaml and
/// remote.json are never taken from it.
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

class RunMirror {
  public:
    /// `sessions` are used as long as they last; empty ones are opened. Another process that mirrors this run
    /// directory goes first: then this one waits for its end.
    RunMirror(const RunDirectory& run, std::vector<std::unique_ptr<SshSession>> sessions);
    RunMirror(const RunMirror&) = delete;
    RunMirror& operator=(const RunMirror&) = delete;
    ~RunMirror();

    std::string trouble() const;  ///< why a node is not heard just now; empty: all are
    std::string note() const;     ///< "fetching model.safetensors 1.2 of 3.4 GB"; else empty

  private:
    struct NodeWatch {
        std::unique_ptr<SshSession> session;
        std::thread thread;
        std::string trouble, last_reason;
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
    size_t lead_;             ///< the first named node
    std::string output_dir_;  ///< of plan.json, as it was when this began
    mutable std::mutex mutex_;
    std::condition_variable ending_;
    std::atomic<bool> stop_ = false;
    int lock_ = -1;
    std::string note_;
    std::vector<NodeWatch> nodes_;
};

}  // namespace ringmaster
