/// Checks a run's job regularly while a program follows the run: what the job waits for, and how it ended if
/// the run itself cannot say.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "launcher/slurm/slurm_run.h"

namespace ringmaster {

class SlurmWatch {
  public:
    SlurmWatch(RunDirectory run, std::unique_ptr<SlurmSite> site);
    SlurmWatch(const SlurmWatch&) = delete;
    SlurmWatch& operator=(const SlurmWatch&) = delete;
    ~SlurmWatch();

    /// Returns "Slurm job 42 waits: Resources", or why Slurm does not answer; empty while it runs normally.
    std::string note() const;

    /// Call this once run.json says that the run is over. Waits for Slurm's view of a run that failed or was
    /// ended from outside. Returns false if the run continues (its job was requeued).
    bool is_really_over(const std::function<bool()>& given_up);

  private:
    void watch();
    void look();

    RunDirectory run_;
    std::unique_ptr<SlurmSite> site_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::string note_;
    bool ending_ = false, hurry_ = false;
    std::thread thread_;
};

}  // namespace ringmaster
