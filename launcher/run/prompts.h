/// Prepares prompts for the engine: the Python step turns them into tokens, and a table of their bytes turns
/// the engine's tokens into text.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "engine/config/config.h"
#include "engine/plan/plan.h"
#include "launcher/base/places.h"
#include "launcher/base/progress.h"
#include "launcher/run/request.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

/// Returns the first of these folders that has a tokenizer.json. Throws Error(Usage) if none has.
std::filesystem::path tokenizer_among(const std::vector<std::filesystem::path>& folders);

/// Runs the Python step ringmaster_rows/prompts.py on a request; returns {"ids", "stop_ids"}. Throws Error or
/// Cancelled.
nlohmann::json tokenize_prompts(const std::filesystem::path& request_file, const Places& places,
                                const Progress& progress);

/// Returns prompts (texts, or lists of chat messages) as tokens, and the tokens that end an answer, as
/// {"prompts", "stop_ids", "texts"}; writes its files into `folder`. Throws Error or Cancelled.
nlohmann::json encode_prompts(const Config& config, const std::filesystem::path& tokenizer,
                              const nlohmann::json& prompts, const std::filesystem::path& folder,
                              const Places& places, const Progress& progress);

/// Writes RUN/samples.json (engine/train/training_samples.h) if the request's file has sample_prompts, else
/// removes it. Throws Error or Cancelled.
void write_samples(const RunDirectory& run, const Request& request, const Config& config,
                   const Places& places, const Progress& progress);

/// Writes RUN/sampling.json (engine/train/sampled_rollouts.h) and RUN/rewards.json
/// (ringmaster_rows/judge.py) if the run samples completions of its rows, or RUN/rollout_folder.json if its
/// rows come from a folder (engine/train/folder_rollouts.h), else removes them. Throws Error or Cancelled.
void write_sampling(const RunDirectory& run, const Plan& plan, const Config& config, const Places& places,
                    const Progress& progress);

}  // namespace ringmaster
