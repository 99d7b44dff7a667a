#include "launcher/rows/generate.h"

#include <algorithm>
#include <fstream>

#include "engine/error.h"
#include "engine/plan/plan.h"
#include "engine/plan/resolve/plan_json.h"
#include "launcher/base/child.h"
#include "launcher/base/files.h"
#include "launcher/rows/short_lived_folder.h"
#include "launcher/run/prompts.h"

namespace ringmaster {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr const char* kCode = "GENERATE-MODEL";

json read_object(const fs::path& path, const char* code) {
    std::ifstream file(path);
    json read = json::parse(file, nullptr, /*allow_exceptions=*/false);
    if (!read.is_object()) throw Error(Failure::Refused, Code(code), "is no JSON object", path.string());
    return read;
}

/// Returns the precision in which a folder's weights are saved.
Precision precision_of(const fs::path& model_dir, const char* code) {
    const json model = read_object(model_dir / "config.json", code);
    const json dtype = model.value("dtype", model.value("torch_dtype", json()));
    return dtype == "float32" ? Precision::Float32 : Precision::Bf16Full;
}

/// Returns whether a folder's model or adapter gives scores in place of text.
bool gives_scores(const fs::path& folder) {
    if (fs::exists(folder / "adapter_config.json")) {
        const json task = read_object(folder / "adapter_config.json", kCode).value("task_type", json());
        return task == "SEQ_CLS" || task == "TOKEN_CLS";
    }
    const json classes = read_object(folder / "config.json", kCode).value("architectures", json::array());
    return std::any_of(classes.begin(), classes.end(), [](const json& name) {
        return name.is_string() && name.get<std::string>().ends_with("Classification");
    });
}

void refuse_scores(const fs::path& folder) {
    if (gives_scores(folder))
        throw Error(Failure::Refused, Code(kCode), "holds a model that gives scores, and writes no text",
                    folder.string());
}

Config config_of_model(const fs::path& folder) {
    Config config = read_config_text(json{{"base_model", folder.string()}}.dump(), folder.string()).config;
    config.model_dir = folder.string();
    config.precision = precision_of(folder, kCode);
    config.quantization = read_model_config(folder.string()).quantization;
    return config;
}

Config without_adapter(Config config) {
    config.lora = {};
    return config;
}

bool has_weights(const fs::path& folder) {
    return fs::exists(folder / "model.safetensors") || fs::exists(folder / "model.safetensors.index.json");
}

json request_of(const ModelsToTry& models, const GenerateOptions& options, json request) {
    const auto named = [](const NamedModel& model) {
        return json{{"name", model.name}, {"config", config_to_json(model.config)}};
    };
    request.update({{"models", json::array()},
                    {"device", options.device},
                    {"max_new_tokens", options.max_new_tokens},
                    {"temperature", options.temperature},
                    {"top_k", options.top_k},
                    {"top_p", options.top_p},
                    {"seed", options.seed}});
    if (options.compares) request["models"].push_back(named(models.base));
    request["models"].push_back(named(models.trained));
    return request;
}

Error error_of(const json& line) {
    const int status = line.value("exit", 1);
    const Failure failure = status == 2   ? Failure::Usage
                            : status == 3 ? Failure::Unreachable
                                          : Failure::Refused;
    return Error(failure, Code(line.value("code", "PROGRAM-FAILED")), line.value("message", ""),
                 line.value("where", ""), line.value("hint", ""));
}

}  // namespace

Config config_of_adapter(const fs::path& folder, const std::string& base, const char* code) {
    const json saved = read_object(folder / "adapter_config.json", code);
    const json named = saved.value("base_model_name_or_path", json());
    const std::string model = !base.empty() ? base : named.is_string() ? named.get<std::string>() : "";
    const json text = {{"base_model", model}, {"adapter", "lora"}, {"lora_model_dir", folder.string()}};
    const ConfigReading reading = read_config_text(text.dump(), (folder / "adapter_config.json").string());
    for (const Diagnostic& found : reading.diagnostics) {
        if (found.severity == Severity::Error && (found.code == "CFG-LORA" || found.key == "base_model"))
            throw Error(Failure::Refused, Code(code), found.message, folder.string(), found.hint);
    }
    Config config = reading.config;
    if (config.model_dir.empty())
        throw Error(Failure::Usage, Code(code), "belongs to '" + model + "', which is no folder here",
                    folder.string(), "--base FOLDER names the base model's folder");
    config.precision = precision_of(config.model_dir, code);
    config.quantization = read_model_config(config.model_dir).quantization;
    return config;
}

Config config_of_trained_adapter(const RunDirectory& run, const char* code) {
    Config config = read_plan(run.plan().string()).config;
    if (!config.lora.on())
        throw Error(Failure::Refused, Code(code), "trained all weights: there is no adapter to merge",
                    run.name(), "its model is in " + config.output_dir);
    config.lora.model_dir = config.output_dir;
    if (!fs::exists(fs::path(config.output_dir) / "adapter_model.safetensors"))
        throw Error(Failure::Refused, Code(code), "holds no adapter_model.safetensors yet", config.output_dir,
                    "the run writes it when it completes");
    return config;
}

ModelsToTry models_of_folder(const fs::path& folder, const std::string& base) {
    if (fs::exists(folder / "adapter_config.json")) {
        refuse_scores(folder);
        const Config config = config_of_adapter(folder, base, kCode);
        return {{"trained", config},
                {"base", without_adapter(config)},
                tokenizer_among({folder, config.model_dir})};
    }
    if (!has_weights(folder))
        throw Error(Failure::Usage, Code(kCode), "holds neither a model nor an adapter", folder.string(),
                    "name a run, or a folder with config.json and model.safetensors");
    refuse_scores(folder);
    const Config config = config_of_model(folder);
    return {{"trained", config},
            {"base", base.empty() ? config : config_of_model(base)},
            tokenizer_among({folder})};
}

ModelsToTry models_of_run(const RunDirectory& run) {
    const Config config = read_plan(run.plan().string()).config;
    const std::vector<fs::path> tokenizers = {config.output_dir, config.tokenizer, config.model_dir};
    if (config.lora.on()) {
        const Config trained = config_of_trained_adapter(run, kCode);
        refuse_scores(config.output_dir);
        return {{"trained", trained}, {"base", without_adapter(trained)}, tokenizer_among(tokenizers)};
    }
    if (!has_weights(config.output_dir))
        throw Error(Failure::Refused, Code(kCode), "holds no model yet", config.output_dir,
                    "the run writes it when it completes");
    refuse_scores(config.output_dir);
    Config trained = config;
    trained.model_dir = config.output_dir;
    trained.reinit_weights = false;
    trained.precision = precision_of(config.output_dir, kCode);
    return {{"trained", trained}, {"base", config}, tokenizer_among(tokenizers)};
}

void generate_text(const ModelsToTry& models, const GenerateOptions& options, const Places& places,
                   const Progress& progress, const OnGenerated& on_line) {
    const ShortLivedFolder folder("generate");
    const json encoded = encode_prompts(models.trained.config, models.tokenizer, options.prompts,
                                        folder.path(), places, progress);
    const fs::path request = folder.path() / "request.json";
    write_file(request, request_of(models, options, encoded).dump());
    json failure;
    ChildWatch watch;
    watch.line = [&](const std::string& text) {
        const json line = json::parse(text, nullptr, false);
        if (!line.is_object() || !line.contains("type")) return true;
        if (line["type"] == "error")
            failure = line;
        else
            on_line(line);
        return false;
    };
    try {
        run_child({places.engine().string(),
                   {"--generate", request.string()},
                   "ringmaster-engine --generate",
                   "`ringmaster --version` tells whether the engine starts"},
                  watch, progress);
    } catch (const Error&) {
        if (failure.is_object()) throw error_of(failure);
        throw;
    }
}

}  // namespace ringmaster
