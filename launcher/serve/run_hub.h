/// Holds the runs that are served. Each is read once for all viewers, and only while somebody views it.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "launcher/run/run_directory.h"

namespace ringmaster {

/// The newest text of a run's page.
struct PageText {
    int64_t version = 0;  ///< increases with every change
    std::shared_ptr<const std::string> json;
};

class RunHub {
  public:
    /// Serves one run, or all runs of a folder.
    explicit RunHub(RunDirectory run);
    explicit RunHub(std::filesystem::path runs_dir);
    ~RunHub();

    /// Returns [{"name", "state", "step", "total_steps", "loss", ...}] as JSON, without folders.
    std::string list() const;

    /// Returns nothing for a run that is not served. Safe to call from several threads.
    std::optional<PageText> page(const std::string& name);

  private:
    struct Served;
    void forget_idle();
    std::shared_ptr<Served> served(const std::string& name);
    std::optional<RunDirectory> find(const std::string& name) const;

    std::optional<RunDirectory> one_;
    std::filesystem::path runs_dir_;
    std::mutex lock_;
    std::map<std::string, std::shared_ptr<Served>> runs_;
};

}  // namespace ringmaster
