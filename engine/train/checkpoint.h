/// Saves and loads checkpoints, and places the final model. A checkpoint is written to a temporary folder,
/// flushed, marked complete last and renamed; the oldest checkpoints are removed. engine/files/checkpoints.h
/// finds intact checkpoints.
///
/// checkpoints/step-00000100/ holds a Hugging Face model (config.json, model*.safetensors in the master's
/// dtype, tokenizer files), optimizer.safetensors, trainer_state.json, and the file `complete`. `complete` is
/// written last and lists the other files with the sizes and checksums computed while writing. An adapter's
/// checkpoint holds, in place of the model, the files that PEFT saves (adapter_config.json,
/// adapter_model.safetensors), without the frozen weights. `parameters` are the trained parameters.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "engine/model/parameters.h"
#include "engine/optimizers/optimizer.h"
#include "engine/plan/plan.h"
#include "engine/train/loss_scale.h"
#include "engine/train/loss_watchdog.h"
#include "engine/train/run_folder.h"

namespace ringmaster {

/// Records the best evaluation, for load_best_model_at_end and early_stopping_patience.
struct BestModel {
    std::optional<double> loss;
    int64_t step = 0;        ///< step of the best evaluation
    int64_t checkpoint = 0;  ///< step of the latest checkpoint that was best when saved, or 0
    int64_t waited = 0;      ///< number of evaluations since `step`, none of them better
};

/// Holds the state from which a run resumes, besides tensors.
struct TrainerState {
    int64_t step = 0;           ///< completed optimizer steps
    int64_t consumed_rows = 0;  ///< the sampler's position
    int64_t rows = 0;           ///< number of rows in the data; must be the same on resume
    int64_t seed = 0;
    BestModel best = {};
    int64_t skipped_steps = 0;  ///< total number of steps without an update
    LossScale loss_scale = {};
    WatchedLoss watched = {};
};

/// Saves a checkpoint and returns its folder. Throws Error(Refused) with the file and the reason (such as a
/// full disk) after removing the incomplete checkpoint; older checkpoints stay. All ranks call it: rank 0
/// writes, the others send the parts that rank 0 does not hold, one unit at a time.
std::filesystem::path save_checkpoint(const RunFolder& run, const Plan& plan, Parameters& parameters,
                                      const Optimizer& optimizer, const TrainerState& state, int rank);

/// Loads a checkpoint. Each rank reads its part; the checkpoint may come from another mesh and ZeRO stage.
TrainerState load_checkpoint(const std::filesystem::path& dir, Parameters& parameters, Optimizer& optimizer);

/// Writes the finished model to plan.config.output_dir (which the run has claimed), in Hugging Face's format,
/// or the adapter in PEFT's format. Removes an earlier result of the other kind. Models of mixed-precision
/// runs get the base model's dtype if its config.json names one, adapters get the master's dtype. All ranks
/// call it.
void export_model(const Plan& plan, Parameters& parameters, int rank);

/// Writes the current weights to `folder`, as a complete model in Hugging Face's format, with an adapter
/// merged into its base. Replaces a folder of that name. All ranks call it.
void write_policy(const Plan& plan, Parameters& parameters, int rank, const std::filesystem::path& folder);

}  // namespace ringmaster
