/// Lets a run train on rollouts that another program puts into a folder while the run trains (RolloutFolder):
/// each step takes the next rows of the files, in the order of their names. Rank 0 asks a Python process for
/// the rows (launcher/tokenize/ringmaster_rows/rollout_folder.py). The process reads the files with the
/// parser of prepared rows, so that the engine does not parse rows. The process records the rows that were
/// taken in RUN/rollouts/taken.jsonl, so that a resumed run trains on the same rows.
///
/// The launcher writes RUN/sampling.json: {"rollout_command": [program, arguments]}.
#pragma once

#include "engine/train/reward_process.h"
#include "engine/train/rollout_source.h"

namespace ringmaster {

class FolderRollouts : public RolloutSource {
  public:
    static std::unique_ptr<RolloutSource> of_run(const std::filesystem::path& run_dir, const Plan& plan,
                                                 Groups& groups);

    int64_t rows_per_step() const override { return plan_.batch.global; }
    void check(const TokenFile*) const override {}  // each step's rows are checked when they arrive
    bool next(int64_t step, const TokenFile* prepared, const std::vector<int64_t>& chosen,
              const Policy& policy) override;
    std::chrono::milliseconds patience() const override;
    std::string place() const override { return plan_.config.policy->folder->path; }
    void record(int64_t) const override {}
    SamplingFigures figures() const override { return {}; }

  private:
    FolderRollouts(const std::filesystem::path& run_dir, const Plan& plan, Groups& groups,
                   std::vector<std::string> command);
    bool asks(const std::vector<int64_t>& chosen, const Policy& policy);
    void check_rows(int64_t count) const;
    void share_file();

    const Plan& plan_;
    const RewardCommand command_;
    std::unique_ptr<RewardProcess> process_;  ///< set on rank 0 only
};

/// Returns the command in a run's sampling.json. Throws Error(Refused) if the file is damaged.
std::vector<std::string> rollout_command(const nlohmann::json& read);

}  // namespace ringmaster
