/// Lets a run sample its own completions (`rl: grpo` with reward functions): in each step the ranks continue
/// the step's prompts, each rank its part, rank 0 asks the reward functions, and the completions with their
/// advantages are the step's rows. All ranks hold the same rows, which do not depend on the mesh. The step
/// and the seed decide the random numbers, so that a resumed run samples the same tokens.
///
/// RUN/sampling.json is the request:
///
///     {"generations", "max_new_tokens", "top_k", "top_p", "stop_ids": [ids], "seed",
///      "scale_rewards": "group" | "batch" | "none", "reward_weights": [numbers], "reward_functions":
///      [names], "reward_command": [program, arguments], "reward_timeout": seconds}
///
/// Rank 0 adds a line to RUN/rollouts.jsonl for each step: {"step", "completions", "reward", "reward_std",
/// "rewards": {name: {"mean", "std"}}, "completion_tokens", "cut_share", "even_share"}.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "engine/comm/groups.h"
#include "engine/data/rollouts.h"
#include "engine/data/tokens.h"
#include "engine/model/decoder.h"
#include "engine/plan/plan.h"
#include "engine/sample/generate.h"
#include "engine/train/reward_process.h"

namespace ringmaster {

struct SamplingRequest {
    int64_t generations = 8;  ///< completions of each prompt
    Generation generation;
    AdvantageRule rule;
    RewardCommand rewards;
};

/// Reads RUN/sampling.json. Throws Error(Refused) if it is damaged or asks for what cannot be.
SamplingRequest sampling_request(const nlohmann::json& read);

class SampledRollouts {
  public:
    /// Returns null if the run has no request.
    static std::unique_ptr<SampledRollouts> of_run(const std::filesystem::path& run_dir, const Plan& plan,
                                                   Groups& groups);

    /// Returns the prompts of a whole step. Throws Error(Refused) if its completions are no whole groups.
    int64_t prompts_per_step() const;
    /// Throws Error(Refused) if a prompt has no room for its completion in sequence_len.
    void check(const TokenFile& prompts) const;

    /// Samples and judges completions of the prompts of `step` (the first is 1). Every rank calls it.
    /// Throws Error on every rank if the reward functions fail.
    void sample(int64_t step, const TokenFile& prompts, const std::vector<int64_t>& rows, Decoder& decoder,
                at::ScalarType dtype, bool shards_weights);

    /// Return the newest completions, a row each: a prompt's lie one after the other.
    const TokenFile& tokens() const { return *tokens_; }
    const Rollouts& rollouts() const { return *rollouts_; }
    std::vector<int64_t> rows() const;  ///< all of tokens()

  private:
    SampledRollouts(const std::filesystem::path& run_dir, const Plan& plan, Groups& groups,
                    SamplingRequest request);
    std::vector<Completion> completions_of(int64_t step, const std::vector<Prompt>& prompts, Decoder& decoder,
                                           at::ScalarType dtype, bool shards_weights);
    void share(std::vector<Completion>& completions);
    Rewards rewards_of(int64_t step, const std::vector<int64_t>& rows,
                       const std::vector<Completion>& completions);
    Rewards shared(const Rewards& rewards, size_t count, bool failed);
    void write(const std::vector<Prompt>& prompts, const std::vector<Completion>& completions,
               const std::vector<double>& advantages);
    void log(int64_t step, const std::vector<Completion>& completions, const Advantages& advantages) const;

    const std::filesystem::path dir_;
    const Plan& plan_;
    Groups& groups_;
    const SamplingRequest request_;
    std::unique_ptr<RewardProcess> process_;  ///< on rank 0
    std::unique_ptr<TokenFile> tokens_;
    std::unique_ptr<Rollouts> rollouts_;
};

}  // namespace ringmaster
