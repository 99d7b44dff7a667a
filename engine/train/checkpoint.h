/// Saves and loads checkpoints, and places the final model. A checkpoint is written aside, flushed, marked
/// complete last and renamed; the oldest are pruned. engine/files/checkpoints.h says which are whole.
///
/// checkpoints/step-00000100/ holds a Hugging Face model (config.json, model*.safetensors in the master's
/// dtype, tokenizer files), optimizer.safetensors, trainer_state.json and, last, the file `complete`, which
/// lists the others with sizes and checksums computed while writing. Of an adapter it holds what PEFT saves
/// (adapter_config.json, adapter_model.safetensors) and not the frozen weights. `parameters` are those that
/// are trained.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "engine/model/parameters.h"
#include "engine/plan/plan.h"
#include "engine/train/optimizer.h"
#include "engine/train/run_folder.h"

namespace ringmaster {

/// Which evaluation was the best, for load_best_model_at_end and early_stopping_patience.
struct BestModel {
    std::optional<double> loss;
    int64_t step = 0;        ///< of that evaluation
    int64_t checkpoint = 0;  ///< the last one that was the best when a checkpoint was saved; 0: none
    int64_t waited = 0;      ///< evaluations since, without a better loss
};

/// Everything beside tensors that a run goes on from.
struct TrainerState {
    int64_t step = 0;           ///< completed optimizer steps
    int64_t consumed_rows = 0;  ///< the sampler's position
    int64_t rows = 0;           ///< of the data: another number cannot be resumed
    int64_t seed = 0;
    BestModel best = {};
};

/// Returns the checkpoint's folder. Throws Error(Refused) naming the file and why (a full disk); what was
/// half written is gone then, and the older checkpoints stay. All ranks call it: rank 0 writes, the others
/// send it what it does not hold, a unit at a time.
std::filesystem::path save_checkpoint(const RunFolder& run, const Plan& plan, Parameters& parameters,
                                      const Optimizer& optimizer, const TrainerState& state, int rank);

/// Each rank reads what it holds, whatever mesh and stage the checkpoint was written at.
TrainerState load_checkpoint(const std::filesystem::path& dir, Parameters& parameters, Optimizer& optimizer);

/// The finished model in plan.config.output_dir (claimed before), as Hugging Face reads it, or the adapter as
/// PEFT does; what another run left there of the other kind goes. Mixed-precision runs are written in the
/// base model's own dtype where its config.json names one, adapters in the master's. All ranks call it.
void export_model(const Plan& plan, Parameters& parameters, int rank);

}  // namespace ringmaster
