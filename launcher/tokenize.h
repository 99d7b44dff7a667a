/// The Python step: rows tokenized into what the engine maps, and models fetched from the hub. It runs in the
/// recorded environment, in a session of its own, so that only we end it.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "engine/config/config.h"
#include "engine/families/model_config.h"
#include "engine/plan/plan.h"
#include "launcher/places.h"
#include "launcher/progress.h"

namespace ringmaster {

struct TokenizedRows {
    PreparedData data;
    int64_t read = 0, dropped_long = 0, dropped_short = 0, truncated = 0,
            kept = 0;  ///< training rows, as the length rules treated them
    int64_t tokens_total = 0;
    int64_t longest = 0;
    int64_t documents = 0;          ///< that were packed into rows; 0: rows are not packed
    double packing_efficiency = 0;  ///< share of the rows' room that they fill
    bool cached = false;            ///< nothing had to be done
};

/// Returns the request to the Python step. A stream is read until it has made `row_limit` rows.
nlohmann::json tokenize_request(const Config& config, const std::optional<ModelConfig>& model,
                                std::optional<int64_t> row_limit = std::nullopt);

/// Writes `request_file`, runs the step, waits. Throws Error (a broken row by file and line; Unreachable
/// where Python or the hub is not there) or Cancelled.
TokenizedRows tokenize(const nlohmann::json& request, const std::filesystem::path& request_file,
                       const Places& places, const Progress& progress);

/// Returns whether the file adds tokens, changes the text of some, or asks for another number of embeddings.
bool changes_vocabulary(const Config& config);

/// The tokenizer and the model with the tokens that the file asks for, as transformers makes them.
struct GrownModel {
    std::string tokenizer;  ///< a folder
    std::string model_dir;  ///< a folder; empty if the model's embeddings stay as they are
};
GrownModel grow_model(const Config& config, const std::filesystem::path& run_dir, const Places& places,
                      const Progress& progress);

/// Downloads a model of the hub; the folder where it lies.
std::filesystem::path fetch_model(const std::string& hub_id, const Places& places, const Progress& progress);

/// "1,204 rows read, 1,200 kept, 4 longer than sequence_len dropped", and how full packed rows are; empty
/// where every row was kept as it is.
std::string describe_losses(const TokenizedRows& rows);

}  // namespace ringmaster
