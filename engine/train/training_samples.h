/// Lets a run generate texts while it trains, so that a user sees what the model has learned. This does not
/// change the training: it draws no numbers from the generators that training uses.
///
/// RUN/samples.json is the request (engine/sample/request.h) with the prompts as the user wrote them in
/// "asked". Rank 0 adds a line to RUN/samples.jsonl for each prompt:
///
///     {"step","prompt","asked","text","ids","log_probabilities","stopped"}
///
/// A later line for the same step and prompt replaces an earlier one.
///
/// To ask for more texts, a user writes a request of the same form to a temporary file and renames the file
/// to RUN/samples_wanted.json. The run answers after its current step and removes the file. These prompts are
/// numbered after those of samples.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/comm/groups.h"
#include "engine/events/event.h"
#include "engine/model/decoder.h"
#include "engine/sample/request.h"

namespace ringmaster {

class TrainingSamples {
  public:
    /// Returns null if the run has no request. `divided_by` is the number by which training divides the
    /// model's logits. Throws Error for a prompt that cannot be continued.
    static std::unique_ptr<TrainingSamples> of_run(const std::filesystem::path& run_dir,
                                                   const ModelConfig& model, double divided_by);

    /// Reads a request for samples that are generated once; its prompts are numbered from `first_number`.
    /// Throws Error for a damaged request, or a prompt that cannot be continued.
    TrainingSamples(const std::filesystem::path& run_dir, const nlohmann::json& read,
                    const ModelConfig& model, double divided_by, int64_t first_number = 0);

    int64_t prompts() const { return static_cast<int64_t>(request_.prompts.size()); }

    /// Generates once per step. Every rank generates the same samples, because all ranks must take part in
    /// gathering sharded weights. Returns the event on rank 0, nullopt on the others.
    std::optional<SamplesEvent> take(int64_t step, Decoder& decoder, at::ScalarType dtype,
                                     bool shards_weights, Groups& groups);

  private:
    SamplesEvent write(int64_t step, const std::vector<Completion>& completions) const;

    const std::filesystem::path file_;
    const ModelConfig& model_;
    nlohmann::json asked_;
    GenerationRequest request_;
    const int64_t first_number_;
    int64_t taken_at_ = -1;
};

/// Returns whether a user has asked for samples.
bool samples_are_wanted(const std::filesystem::path& run_dir);

/// Returns the user's request on every rank, and removes its file; null if the request is damaged or too
/// long. All ranks take part; rank 0 reads.
nlohmann::json take_wanted_samples(const std::filesystem::path& run_dir, Groups& groups);

}  // namespace ringmaster
