/// Gives a run the rows of each step while it trains, if they are not prepared beforehand: the run samples
/// them (sampled_rollouts.h), or another program puts them into a folder (folder_rollouts.h). Rank 0 alone
/// gets them and gives them to all ranks, which hold the same rows whatever the mesh. A step's rows are a
/// file RUN/rollouts/rank-N.safetensors of each rank, which is mapped like prepared ones.
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

/// Thrown on every rank alike if a step's rows cannot be had. Nothing has changed then: the run can be saved,
/// and resumed with the same step.
struct MissingRollouts : Error {
    using Error::Error;
};

/// The model that samples, and how rank 0 tells that it waits and is told to stop.
struct Policy {
    Decoder& decoder;
    at::ScalarType dtype;
    bool shards_weights = false;
    /// Writes the present weights to a folder; every rank calls it.
    std::function<void(const std::filesystem::path& folder)> write = {};
    std::function<void(const std::string& text)> warn = {};
    /// Called while rows are waited for, with the seconds so far and those allowed.
    std::function<void(int64_t seconds, int64_t allowed)> waits = {};
    std::function<bool()> stops = {};  ///< whether this rank has been asked to stop
};

class RolloutSource {
  public:
    /// Returns null if the run's rows are prepared.
    static std::unique_ptr<RolloutSource> of_run(const std::filesystem::path& run_dir, const Plan& plan,
                                                 Groups& groups);
    virtual ~RolloutSource() = default;

    /// Returns how many prepared rows, or rows of the folder, a step takes. Throws Error(Refused) if a step's
    /// completions are no whole groups.
    virtual int64_t rows_per_step() const = 0;
    /// Throws Error(Refused) if prepared rows cannot be used. `prepared` is null for a folder.
    virtual void check(const TokenFile* prepared) const = 0;
    /// Gets the rows of `step` (the first is 1) from the prepared rows `chosen`, or, for a folder, the rows
    /// with these numbers in the order of their coming. Every rank calls it. Throws MissingRollouts. Returns
    /// false if rank 0 was asked to stop while it waited.
    virtual bool next(int64_t step, const TokenFile* prepared, const std::vector<int64_t>& chosen,
                      const Policy& policy) = 0;
    /// Returns how long the ranks may wait for rank 0, besides what they wait in any case.
    virtual std::chrono::milliseconds patience() const = 0;
    /// Returns where the rows come from, for warnings: an address or a path.
    virtual std::string place() const = 0;
    /// Adds the newest rows' figures to rollouts.jsonl, on rank 0, if there are any.
    virtual void record(int64_t step) const = 0;
    virtual SamplingFigures figures() const = 0;

    /// Return the newest step's rows.
    const TokenFile& tokens() const { return *tokens_; }
    const Rollouts& rollouts() const { return *rollouts_; }
    std::vector<int64_t> rows() const;  ///< all of tokens()

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

/// Says what became of rank 0's question for rows.
enum class Obtained : int64_t { Rows, Failed, Stopped };

/// Returns on every rank what rank 0 passes.
Obtained agree_on_rows(Groups& groups, Obtained own);

/// Throws rank 0's error as MissingRollouts on every rank, so that the first rank that ends gives the run's
/// reason.
[[noreturn]] void fail_everywhere(Groups& groups, const std::optional<Error>& problem);

}  // namespace ringmaster
