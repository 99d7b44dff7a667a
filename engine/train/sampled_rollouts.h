/// Lets a run sample its own completions (Config::sampling): in each step, every rank continues a part of the
/// step's prompts, or rank 0 asks a server for completions (SamplingRule::server). Rank 0 then asks the
/// reward functions. The completions with their advantages are the step's rows. All ranks hold the same rows,
/// which do not depend on the mesh. The step and the seed decide the random numbers, so that a resumed run
/// samples the same tokens.
///
/// The engine does not run Python itself: the launcher writes RUN/sampling.json, which names the command that
/// rank 0 starts to judge completions (engine/train/reward_process.h), and the tokens that end a completion:
///
///     {"stop_ids": [ids], "reward_command": [program, arguments], "reward_timeout": seconds}
///
/// Rank 0 adds a line to RUN/rollouts.jsonl for each step: {"step", "completions", "reward", "reward_std",
/// "rewards": {name: {"mean", "std"}}, "completion_tokens", "cut_share", "even_share"}.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "engine/sample/generate.h"
#include "engine/train/reward_process.h"
#include "engine/train/rollout_source.h"
#include "engine/train/served_completions.h"

namespace ringmaster {

struct SamplingRequest {
    Generation generation;
    RewardCommand rewards;
};

/// Reads RUN/sampling.json for a plan that samples. Throws Error(Refused) if it is damaged.
SamplingRequest sampling_request(const nlohmann::json& read, const Config& config);

class SampledRollouts : public RolloutSource {
  public:
    static std::unique_ptr<RolloutSource> of_run(const std::filesystem::path& run_dir, const Plan& plan,
                                                 Groups& groups);

    /// Returns the prompts of a whole step. Throws Error(Refused) if its completions do not form whole
    /// groups.
    int64_t rows_per_step() const override;
    /// Throws Error(Refused) if a prompt has no room for its completion in sequence_len.
    void check(const TokenFile* prompts) const override;

    /// Samples and judges completions of the prompts of `step` (the first is 1). Every rank calls it.
    /// Throws MissingRollouts if the server or the reward functions fail. Returns false if rank 0 was asked
    /// to stop while it waited for a server that had failed.
    bool next(int64_t step, const TokenFile* prompts, const std::vector<int64_t>& rows,
              const Policy& policy) override;
    std::chrono::milliseconds patience() const override;
    std::string place() const override;
    void record(int64_t step) const override;
    SamplingFigures figures() const override { return figures_; }

  private:
    SampledRollouts(const std::filesystem::path& run_dir, const Plan& plan, Groups& groups,
                    SamplingRequest request);
    std::vector<Completion> completions_of(int64_t step, const std::vector<Prompt>& prompts,
                                           const Policy& policy);
    std::optional<std::vector<Completion>> served(int64_t step, const std::vector<Prompt>& prompts,
                                                  const Policy& policy);
    std::optional<std::vector<Completion>> answer_of_server(const ServedQuestion& question,
                                                            const Policy& policy);
    ServedQuestion question_of(int64_t step, const std::vector<Prompt>& prompts,
                               const std::filesystem::path& weights) const;
    RewardProcess& process();
    bool has_log_probabilities() const { return rule_.server && rule_.server->corrects; }
    void share(std::vector<Completion>& completions);
    void share_log_probabilities(std::vector<Completion>& completions);
    Rewards rewards_of(int64_t step, const std::vector<int64_t>& rows,
                       const std::vector<Completion>& completions);
    Rewards shared(const Rewards& rewards, size_t count, const std::optional<Error>& problem);
    void write(const std::vector<Prompt>& prompts, const std::vector<Completion>& completions,
               const std::vector<double>& advantages);
    void take_figures(const std::vector<Completion>& completions, const Advantages& advantages);

    const Plan& plan_;
    const SamplingRule& rule_;
    const SamplingRequest request_;
    SamplingFigures figures_;
    std::vector<RewardFigures> of_functions_;
    int64_t completions_ = 0;
    std::unique_ptr<RewardProcess> process_;  ///< set on rank 0 only
};

}  // namespace ringmaster
