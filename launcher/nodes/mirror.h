/// Keeps the local run directory of a run elsewhere as it is there: events and logs by byte offset, run.json
/// as node 0 tells it. A thread and a session for each node; connections that break are made again. Nothing
/// here starts or stops anything of the run. The final model of a completed run is fetched into output_dir,
/// unless the run is adopted.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

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
    void take_bytes(const std::string& file, int64_t offset, const std::string& bytes) const;
    void take_state(const std::string& text);
    void finish(const std::string& state);
    void fetch_model();
    void give_up_on_first(const std::string& why);
    bool wait(std::chrono::milliseconds time);
    bool lock();

    RunDirectory run_;
    RemoteRun remote_;
    mutable std::mutex mutex_;
    std::condition_variable ending_;
    std::atomic<bool> stop_ = false;
    int lock_ = -1;
    std::string note_;
    std::vector<NodeWatch> nodes_;
};

}  // namespace ringmaster
