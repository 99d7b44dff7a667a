/// Runs Slurm's commands and reads the run directory that a job sees, on this machine or on a login node
/// reached by SSH.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/nodes/remote_run.h"
#include "launcher/run/run_directory.h"
#include "launcher/ssh/session.h"

namespace ringmaster {

struct CommandEnd {
    int status = -1;
    std::string out, errors;
};

class SlurmSite {
  public:
    explicit SlurmSite(std::string run_dir) : run_dir_(std::move(run_dir)) {}
    virtual ~SlurmSite() = default;

    const std::string& run_dir() const { return run_dir_; }
    virtual std::string host() const = 0;  ///< empty: this machine

    /// Runs one of Slurm's commands to its end. Throws Error(Unreachable) if the command is missing, takes
    /// too long or the connection is lost.
    virtual CommandEnd run(const std::vector<std::string>& command, const std::string& input = {}) = 0;

    // Access to files of the run directory.
    /// Returns the end of a file, at most 64 KiB.
    virtual std::optional<std::string> read(const std::string& name) = 0;
    virtual void write(const std::string& name, const std::string& content) = 0;
    virtual void remove(const std::string& name) = 0;

  private:
    std::string run_dir_;
};

std::unique_ptr<SlurmSite> local_site(const std::filesystem::path& run_dir);

/// Returns the Slurm site that `session` reaches. Only one thread at a time may use the session.
std::unique_ptr<SlurmSite> ssh_site(std::shared_ptr<SshSession> session, const std::string& run_dir);

}  // namespace ringmaster
