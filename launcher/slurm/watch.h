/// Looks at a run's job now and then while somebody follows the run: what it waits for, and how it ended
/// where the run itself cannot say.
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

    /// "Slurm job 42 waits: Resources", or why Slurm is not heard; empty while it simply runs.
    std::string note() const;

    /// Once run.json says that the run is over: waits for what Slurm says of a run that failed or was ended
    /// from outside. False where the run goes on after all (it is in the queue again).
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
