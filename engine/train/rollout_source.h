/// Provides the rows of each step while a run trains, if they are not prepared beforehand: the run samples
/// them (sampled_rollouts.h), or another program puts them into a folder (folder_rollouts.h). Rank 0 gets the
/// rows and sends them to all ranks, which hold the same rows on any mesh. Each rank stores a step's rows in
/// RUN/rollouts/rank-N.safetensors, which it maps like prepared rows.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/comm/groups.h"
#include "engine/data/rollouts.h"
#include "engine/data/tokens.h"
#include "engine/error.h"
#include "engine/events/event.h"
#include "engine/model/decoder.h"
#include "engine/plan/plan.h"

namespace ringmaster {

/// Thrown on every rank if a step's rows cannot be obtained. Nothing has changed by then: the run can be
/// saved, and resumed with the same step.
struct MissingRollouts : Error {
    using Error::Error;
};

/// Holds the model that samples, and callbacks by which rank 0 reports that it waits and learns that it has
/// to stop.
struct Policy {
    Decoder& decoder;
    at::ScalarType dtype;
    bool shards_weights = false;
    /// Writes the current weights to a folder; every rank calls it.
    std::function<void(const std::filesystem::path& folder)> write = {};
    std::function<void(const std::string& text)> warn = {};
    /// Called while rank 0 waits for rows, with the seconds so far and the seconds allowed.
    std::function<void(int64_t seconds, int64_t allowed)> waits = {};
    std::function<bool()> stops = {};  ///< returns whether this rank has been asked to stop
};

class RolloutSource {
  public:
    /// Returns null if the run's rows are prepared.
    static std::unique_ptr<RolloutSource> of_run(const std::filesystem::path& run_dir, const Plan& plan,
                                                 Groups& groups);
    virtual ~RolloutSource() = default;

    /// Returns how many prepared rows, or rows of the folder, a step takes. Throws Error(Refused) if a step's
    /// completions do not form whole groups.
    virtual int64_t rows_per_step() const = 0;
    /// Throws Error(Refused) if prepared rows cannot be used. `prepared` is null for a folder.
    virtual void check(const TokenFile* prepared) const = 0;
    /// Gets the rows of `step`, counted from 1. `chosen` holds indices of prepared rows; for a folder, it
    /// holds indices of rows in the order of arrival. Every rank calls this. Returns false if rank 0 was
    /// asked to stop while it waited. Throws MissingRollouts.
    virtual bool next(int64_t step, const TokenFile* prepared, const std::vector<int64_t>& chosen,
                      const Policy& policy) = 0;
    /// Returns how much longer than usual the ranks may have to wait for rank 0.
    virtual std::chrono::milliseconds patience() const = 0;
    /// Returns where the rows come from, for warnings: an address or a path.
    virtual std::string place() const = 0;
    /// Adds the newest rows' figures to rollouts.jsonl, on rank 0, if there are any.
    virtual void record(int64_t step) const = 0;
    virtual SamplingFigures figures() const = 0;

    /// Return the newest step's rows.
    const TokenFile& tokens() const { return *tokens_; }
    const Rollouts& rollouts() const { return *rollouts_; }
    std::vector<int64_t> rows() const;  ///< 0, 1, …: the indices of all rows of tokens()

  protected:
    RolloutSource(const std::filesystem::path& run_dir, Groups& groups);

    /// Returns the path of this rank's file of rows.
    std::filesystem::path own_file() const;
    /// Maps this rank's file of rows. Throws Error(Refused) if it is damaged.
    void map_own_file();

    const std::filesystem::path dir_;
    Groups& groups_;

  private:
    std::unique_ptr<TokenFile> tokens_;
    std::unique_ptr<Rollouts> rollouts_;
};

/// Says how rank 0's request for rows ended.
enum class Obtained : int64_t { Rows, Failed, Stopped };

/// Returns rank 0's argument on every rank.
Obtained agree_on_rows(Groups& groups, Obtained own);

/// Throws rank 0's error as MissingRollouts on every rank, so that all ranks report the same reason,
/// whichever rank ends first.
[[noreturn]] void fail_everywhere(Groups& groups, const std::optional<Error>& problem);

}  // namespace ringmaster
