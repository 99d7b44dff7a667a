/// Runs the Python step: tokenizes rows into a file that the engine maps, and fetches models from the hub. It
/// runs in the installed environment and in a new session, so that only this process can end it.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/config/config.h"
#include "engine/families/model_config.h"
#include "engine/plan/plan.h"
#include "launcher/base/places.h"
#include "launcher/base/progress.h"

namespace ringmaster {

struct TokenizedRows {
    PreparedData data;
    int64_t read = 0, dropped_long = 0, dropped_short = 0, truncated = 0,
            kept = 0;  ///< numbers of training rows, by what the length rules did to them
    int64_t tokens_total = 0;
    int64_t longest = 0;
    int64_t documents = 0;          ///< documents packed into rows; 0: no packing
    double packing_efficiency = 0;  ///< share of the rows' capacity that is used
    PromptSharing shared_prompts;   ///< work saved by computing shared prompts once
    bool cached = false;            ///< true if an earlier result was reused
};

/// Returns the request to the Python step, which reads a stream until it has made `row_limit` rows.
nlohmann::json tokenize_request(const Config& config, const std::optional<ModelConfig>& model,
                                std::optional<int64_t> row_limit = std::nullopt);

/// Writes `request_file`, runs the step and waits. Throws Error (naming the file and line of a broken row;
/// Unreachable if Python or the hub is missing) or Cancelled.
TokenizedRows tokenize(const nlohmann::json& request, const std::filesystem::path& request_file,
                       const Places& places, const Progress& progress);

/// Runs the step with other arguments (ringmaster_tokenize.py names them) and returns its result. Throws
/// Error with `code`, or Cancelled.
nlohmann::json run_python_step(const std::vector<std::string>& arguments, const char* code,
                               const Places& places, const Progress& progress);

/// Returns true if the file adds or changes tokens, or asks for another number of embeddings.
bool changes_vocabulary(const Config& config);

/// The tokenizer and the model after transformers added the tokens that the file asks for.
struct GrownModel {
    std::string tokenizer;  ///< folder of the tokenizer
    std::string model_dir;  ///< folder of the model; empty if its embeddings stay unchanged
};
GrownModel grow_model(const Config& config, const std::filesystem::path& run_dir, const Places& places,
                      const Progress& progress);

/// Downloads the base model from the hub, at the revision that the file names, and returns its folder.
std::filesystem::path fetch_model(const Config& config, const Places& places, const Progress& progress);

/// Returns "1,204 rows read, 1,200 kept, 4 longer than sequence_len dropped", and how full packed rows are;
/// empty if every row was kept unchanged.
std::string describe_losses(const TokenizedRows& rows);

}  // namespace ringmaster
