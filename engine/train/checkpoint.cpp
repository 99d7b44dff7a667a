#include "engine/train/checkpoint.h"

#include <ATen/ATen.h>

#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "engine/config/lora_targets.h"
#include "engine/error.h"
#include "engine/families/config_text.h"
#include "engine/families/peft_names.h"
#include "engine/families/score_class.h"
#include "engine/files/checkpoints.h"
#include "engine/files/durable.h"
#include "engine/files/text_file.h"
#include "engine/json_problem.h"
#include "engine/model/dtypes.h"
#include "engine/model/merge.h"
#include "engine/model/save_model.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr std::array kTokenizerFiles = {
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "tokenizer.model", "vocab.json",
    "merges.txt",     "added_tokens.json",     "chat_template.jinja",     "tekken.json",
};

constexpr const char* kGenerationFile = "generation_config.json";
constexpr const char* kAdapterConfig = "adapter_config.json";
constexpr const char* kModelConfig = "config.json";

using Files = std::vector<WrittenFile>;

void copy_file(const fs::path& from, const char* name, const fs::path& to, Files& written) {
    if (fs::is_regular_file(from / name))
        written.push_back(write_file_durably(to / name, read_file(from / name)));
}

/// Writes config.json with the dtype of the written weights, which are not quantised.
void write_model_config(const Plan& plan, const fs::path& dir, at::ScalarType dtype, Files& written) {
    nlohmann::ordered_json config = nlohmann::ordered_json::parse(
        with_finite_numbers(read_file(fs::path(plan.config.model_dir) / "config.json")));
    config[config.contains("dtype") ? "dtype" : "torch_dtype"] = config_name_of(dtype);
    config.erase("quantization_config");
    if (plan.model->num_labels > 0) describe_scores(*plan.model, config);
    written.push_back(write_file_durably(dir / kModelConfig, config.dump(2) + "\n"));
    copy_file(plan.config.model_dir, kGenerationFile, dir, written);
}

/// Returns the list as JSON; null for an empty list.
template <class T>
nlohmann::ordered_json list_or_null(const std::vector<T>& items) {
    return items.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(items);
}

/// Writes the adapter's settings as PEFT's LoraConfig does.
WrittenFile write_adapter_config(const Plan& plan, const fs::path& dir) {
    const Lora& lora = plan.config.lora;
    const std::string revision = plan.config.tokenization.value("revision_of_model", "");
    std::vector<std::string> parameters;
    for (const std::string& name : lora.parameters) parameters.push_back(peft_parameter(*plan.model, name));
    const nlohmann::ordered_json config = {
        {"peft_type", "LORA"},
        {"task_type", plan.model->num_labels == 0 ? "CAUSAL_LM"
                      : plan.model->head_bias     ? "TOKEN_CLS"
                                                  : "SEQ_CLS"},
        {"base_model_name_or_path", lora.base_model},
        {"revision", revision.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(revision)},
        {"inference_mode", true},
        {"r", lora.r},
        {"lora_alpha", lora.alpha},
        {"lora_dropout", lora.dropout},
        {"target_modules", targets_of(lora).names},
        {"use_rslora", lora.rslora},
        {"use_dora", lora.dora},
        {"bias", "none"},
        {"fan_in_fan_out", false},
        {"init_lora_weights", true},
        {"target_parameters", list_or_null(parameters)},
        {"modules_to_save", list_or_null(targets_of(lora).saved_modules())},
        {"layers_to_transform", list_or_null(lora.layers)},
        {"layers_pattern", nullptr},
        {"rank_pattern", nlohmann::ordered_json::object()},
        {"alpha_pattern", nlohmann::ordered_json::object()},
    };
    return write_file_durably(dir / kAdapterConfig, config.dump(2) + "\n");
}

/// Writes the weights, the settings of model or adapter, and the tokenizer's files.
Files write_model(const Plan& plan, Parameters& parameters, const fs::path& dir, at::ScalarType dtype) {
    // A base model's files may also hold image towers, heads that predict later tokens, and numbers that are
    // not trained.
    const ModelConfig& model = *plan.model;
    const bool is_part =
        !plan.config.lora.on() && !plan.config.reinit_weights &&
        (!model.weight_prefix.empty() || model.has_recurrent_layers() || !buffer_shapes(model).empty());
    Files written = is_part ? save_model(parameters, dir, dtype, plan.config.model_dir)
                            : save_weights(parameters, dir, dtype);
    if (plan.config.lora.on()) {
        written.push_back(write_adapter_config(plan, dir));
    } else {
        write_model_config(plan, dir, dtype, written);
    }
    const fs::path tokenizer =
        fs::is_directory(plan.config.tokenizer) ? plan.config.tokenizer : plan.config.model_dir;
    for (const char* file : kTokenizerFiles) copy_file(tokenizer, file, dir, written);
    return written;
}

/// Returns whether the file belongs to a saved model or adapter, and could be taken for part of a new one.
bool is_of_a_result(const std::string& name) {
    const bool is_weights = (name.starts_with("model") || name.starts_with("adapter_model")) &&
                            (name.ends_with(".safetensors") || name.ends_with(".safetensors.index.json"));
    return is_weights || name == kModelConfig || name == kGenerationFile || name == kAdapterConfig;
}

/// Returns the dtype for writing a finished model.
at::ScalarType export_dtype(const Plan& plan, const Parameters& parameters) {
    if (plan.config.precision == Precision::Bf16Full) return at::kBFloat16;
    if (plan.config.precision == Precision::Float32 || plan.config.lora.on()) return at::kFloat;
    nlohmann::json config = nlohmann::json::parse(read_file(fs::path(plan.config.model_dir) / "config.json"));
    const std::string dtype = config.value("dtype", config.value("torch_dtype", "float32"));
    return dtype == config_name_of(parameters.compute_dtype()) ? parameters.compute_dtype() : at::kFloat;
}

/// Returns whether this rank shares states with rank 0.
bool helps_to_save(Parameters& parameters) {
    Groups* groups = parameters.sharding_groups();
    return groups != nullptr && groups->mesh().coordinates(groups->rank()).dp_replicate == 0;
}

nlohmann::json best_to_json(const BestModel& best) {
    return {{"loss", best.loss ? nlohmann::json(*best.loss) : nlohmann::json()},
            {"step", best.step},
            {"checkpoint", best.checkpoint},
            {"waited", best.waited}};
}

BestModel best_from_json(const nlohmann::json& json) {
    BestModel best;
    if (json.is_null()) return best;
    if (!json.at("loss").is_null()) best.loss = json.at("loss").get<double>();
    best.step = json.at("step"), best.checkpoint = json.at("checkpoint"), best.waited = json.at("waited");
    return best;
}

nlohmann::json watched_to_json(const WatchedLoss& watched) {
    return {{"logged", watched.logged ? nlohmann::json(*watched.logged) : nlohmann::json()},
            {"sum", watched.sum},
            {"steps", watched.steps},
            {"high", watched.high}};
}

WatchedLoss watched_from_json(const nlohmann::json& json) {
    WatchedLoss watched;
    if (json.is_null()) return watched;
    if (!json.at("logged").is_null()) watched.logged = json.at("logged").get<double>();
    watched.sum = json.at("sum"), watched.steps = json.at("steps"), watched.high = json.at("high");
    return watched;
}

/// Removes old checkpoints. The best one stays and counts towards `keep`.
void prune(const RunFolder& run, int64_t keep, int64_t best) {
    const std::vector<int64_t> steps = complete_checkpoints(run.checkpoints());
    auto left = static_cast<int64_t>(steps.size());
    for (size_t i = 0; i + 1 < steps.size() && left > std::max<int64_t>(1, keep); ++i) {
        if (steps[i] == best) continue;
        remove_folder(run.checkpoint(steps[i]));
        --left;
    }
}

/// Moves a whole model into `folder`, which may hold an older one. Readers recognise a model by its
/// config.json or adapter_config.json. This file is removed first and placed last, so that nobody reads a mix
/// of two models' weights.
void place_model(const fs::path& aside, const Files& files, const fs::path& folder) {
    std::set<std::string> placed;
    for (const char* mark : {kModelConfig, kAdapterConfig}) remove_durably(folder / mark);
    const auto place = [&](const std::string& name) {
        rename_durably(aside / name, folder / name);
        placed.insert(name);
    };
    std::string mark;
    for (const WrittenFile& file : files) {
        if (file.name == kModelConfig || file.name == kAdapterConfig) {
            mark = file.name;
        } else {
            place(file.name);
        }
    }
    // An older model with another number of shards, or an older adapter, must not stay with the new one.
    std::vector<fs::path> former;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (is_of_a_result(name) && !placed.contains(name)) former.push_back(entry.path());
    }
    for (const fs::path& file : former) remove_durably(file);
    place(mark);
}

}  // namespace

fs::path save_checkpoint(const RunFolder& run, const Plan& plan, Parameters& parameters,
                         const Optimizer& optimizer, const TrainerState& state, int rank) {
    const fs::path target = run.checkpoint(state.step);
    const at::ScalarType dtype = parameters.master().values.scalar_type();
    if (rank != 0) {
        if (!helps_to_save(parameters)) return target;
        save_weights(parameters, {}, dtype, false);
        optimizer.save({}, false);
        return target;
    }
    FolderAside aside(target);
    Files written = write_model(plan, parameters, aside.path(), dtype);
    written.push_back(*optimizer.save(aside.path() / kOptimizerFile));
    const nlohmann::json trainer = {{"step", state.step},
                                    {"consumed_rows", state.consumed_rows},
                                    {"rows", state.rows},
                                    {"seed", state.seed},
                                    {"best", best_to_json(state.best)},
                                    {"skipped_steps", state.skipped_steps},
                                    {"loss_scale", state.loss_scale.scale},
                                    {"good_steps", state.loss_scale.good_steps},
                                    {"watched", watched_to_json(state.watched)}};
    written.push_back(write_file_durably(aside.path() / kTrainerStateFile, trainer.dump(2) + "\n"));
    write_file_durably(aside.path() / kCompleteFile, complete_text(written));
    aside.appear();
    if (plan.config.save_total_limit) prune(run, *plan.config.save_total_limit, state.best.checkpoint);
    return target;
}

TrainerState load_checkpoint(const fs::path& dir, Parameters& parameters, Optimizer& optimizer) {
    TrainerState state;
    try {
        const nlohmann::json trainer = nlohmann::json::parse(read_file(dir / kTrainerStateFile));
        state = {trainer.at("step"), trainer.at("consumed_rows"), trainer.at("rows"), trainer.at("seed"),
                 best_from_json(trainer.value("best", nlohmann::json()))};
        state.skipped_steps = trainer.value("skipped_steps", state.skipped_steps);
        state.loss_scale.scale = trainer.value("loss_scale", state.loss_scale.scale);
        state.loss_scale.good_steps = trainer.value("good_steps", state.loss_scale.good_steps);
        state.watched = watched_from_json(trainer.value("watched", nlohmann::json()));
    } catch (const nlohmann::json::exception& problem) {
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "is damaged: " + json_problem(problem),
                    (dir / kTrainerStateFile).string());
    }
    parameters.load(dir);
    optimizer.load(dir / kOptimizerFile, state.step - state.skipped_steps);
    return state;
}

void export_model(const Plan& plan, Parameters& parameters, int rank) {
    const at::ScalarType dtype = export_dtype(plan, parameters);
    if (rank != 0) {
        if (helps_to_save(parameters)) save_weights(parameters, {}, dtype, false);
        return;
    }
    const fs::path target = plan.config.output_dir;
    const FolderAside aside(target / "model");
    place_model(aside.path(), write_model(plan, parameters, aside.path(), dtype), target);
}

void write_policy(const Plan& plan, Parameters& parameters, int rank, const fs::path& folder) {
    const at::ScalarType dtype = export_dtype(plan, parameters);
    if (rank != 0) {
        if (helps_to_save(parameters)) save_weights(parameters, {}, dtype, false);
        return;
    }
    const bool merges = plan.config.lora.on();
    const fs::path written = merges ? fs::path(folder.string() + "-adapter") : folder;
    {
        FolderAside aside(written);
        write_model(plan, parameters, aside.path(), dtype);
        aside.appear();
    }
    if (!merges) return;
    Config config = plan.config;
    config.lora.model_dir = written.string();
    remove_folder(folder);
    merge_adapter(config, folder.string());
    remove_folder(written);
}

}  // namespace ringmaster
