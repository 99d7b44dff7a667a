/// Keeps the log-probabilities that a run's data had under the weights it started with. They are computed
/// before the first step, for the rows that the run will read. The run directory keeps them, so that a
/// resumed run reads the same numbers. If some are missing, a resumed run computes them before it loads its
/// checkpoint.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>

#include "engine/comm/groups.h"
#include "engine/data/sampler.h"
#include "engine/data/tokens.h"
#include "engine/plan/plan.h"
#include "engine/train/preference_pass.h"

namespace ringmaster {

class ReferenceLogProbs {
  public:
    /// Rank 0 reads the file if it was made from these tokens, and sends the log-probabilities to all ranks.
    ReferenceLogProbs(const Plan& plan, Groups& groups, const TokenFile& tokens, std::filesystem::path file);

    /// Computes the missing log-probabilities of the rows that the sampler's next `steps` optimizer steps
    /// need. Returns false if a rank wants to stop; what was computed is kept.
    bool compute(MeshPass& pass, Sampler sampler, int64_t steps, const std::function<bool()>& wants_stop,
                 const std::function<void(int64_t done, int64_t total)>& told);

    double of(const DocumentKey& key) const;
    PreferenceFacts facts() const;

  private:
    struct Wanted {
        std::vector<std::vector<int64_t>> rows;  ///< missing rows, at most a global batch at a time
        /// The rows of each step whose mismatched rows (KTO) are missing.
        std::vector<std::vector<int64_t>> mismatched;
    };
    Wanted missing(Sampler sampler, int64_t steps) const;
    bool knows(const std::vector<DocumentKey>& keys) const;
    std::vector<Row> sequences(const std::vector<int64_t>& rows) const;
    void add(MeshPass& pass, const std::vector<Row>& rows, const std::vector<DocumentKey>& keys);
    void read();
    void write() const;
    void share();

    const Plan& plan_;
    Groups& groups_;
    const TokenFile& tokens_;
    const std::filesystem::path file_;
    std::map<DocumentKey, double> values_;
};

}  // namespace ringmaster
