// merge: merges an adapter into its base model's weights, with the engine.
#include <unistd.h>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/plan/plan.h"
#include "launcher/child.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/interrupts.h"
#include "launcher/cli/live.h"

namespace ringmaster {

namespace {

namespace fs = std::filesystem;

/// Writes the engine's configuration into a temporary file, which is removed with this object.
class ConfigFile {
  public:
    explicit ConfigFile(const Config& config) {
        std::string name = (fs::temp_directory_path() / "ringmaster-merge-XXXXXX").string();
        const int file = ::mkstemp(name.data());
        if (file < 0) throw Error(Failure::Refused, Code("FILE-WRITE"), "cannot be written", name);
        ::close(file);
        path_ = name;
        std::ofstream(path_) << config_to_json(config).dump();
    }
    ~ConfigFile() {
        std::error_code ignored;
        fs::remove(path_, ignored);
    }
    ConfigFile(const ConfigFile&) = delete;
    ConfigFile& operator=(const ConfigFile&) = delete;

    std::string path() const { return path_.string(); }

  private:
    fs::path path_;
};

/// Returns the run's configuration with its base, quantized as it was, and the adapter in output_dir.
Config config_of_run(const RunDirectory& run) {
    Config config = read_plan(run.plan().string()).config;
    if (!config.lora.on())
        throw Error(Failure::Refused, Code("MERGE-ADAPTER"),
                    "trained all weights: there is no adapter to merge", run.name(),
                    "its model is in " + config.output_dir);
    config.lora.model_dir = config.output_dir;
    if (!fs::exists(fs::path(config.output_dir) / "adapter_model.safetensors"))
        throw Error(Failure::Refused, Code("MERGE-ADAPTER"), "holds no adapter_model.safetensors yet",
                    config.output_dir, "the run writes it when it completes");
    return config;
}

nlohmann::json read_object(const fs::path& path) {
    std::ifstream file(path);
    nlohmann::json read = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
    if (!read.is_object())
        throw Error(Failure::Refused, Code("MERGE-ADAPTER"), "is no JSON object", path.string());
    return read;
}

/// Returns the precision for the merged weights: that of the base model.
Precision precision_of(const std::string& model_dir) {
    const nlohmann::json model = read_object(fs::path(model_dir) / "config.json");
    const nlohmann::json dtype = model.value("dtype", model.value("torch_dtype", nlohmann::json()));
    return dtype == "float32" ? Precision::Float32 : Precision::Bf16Full;
}

/// Reads an adapter's folder as a configuration that continues training from it; the folder names its base.
Config config_of_adapter(const fs::path& folder, const std::string& base) {
    const nlohmann::json saved = read_object(folder / "adapter_config.json");
    const nlohmann::json named = saved.value("base_model_name_or_path", nlohmann::json());
    const std::string model = !base.empty() ? base : named.is_string() ? named.get<std::string>() : "";
    const nlohmann::json text = {
        {"base_model", model}, {"adapter", "lora"}, {"lora_model_dir", folder.string()}};
    const ConfigReading reading = read_config_text(text.dump(), (folder / "adapter_config.json").string());
    for (const Diagnostic& found : reading.diagnostics) {
        if (found.severity == Severity::Error && (found.code == "CFG-LORA" || found.key == "base_model"))
            throw Error(Failure::Refused, Code("MERGE-ADAPTER"), found.message, folder.string(), found.hint);
    }
    Config config = reading.config;
    if (config.model_dir.empty())
        throw Error(Failure::Usage, Code("MERGE-ADAPTER"),
                    "belongs to '" + model + "', which is no folder here", folder.string(),
                    "--base FOLDER names the base model's folder");
    config.precision = precision_of(config.model_dir);
    config.quantization = read_model_config(config.model_dir).quantization;
    return config;
}

Config config_of(const Arguments& arguments, const Session& session) {
    const fs::path folder = absolute_path(arguments.operand());
    if (fs::exists(folder / "adapter_config.json"))
        return config_of_adapter(folder, arguments.text("--base"));
    return config_of_run(run_of(arguments, session));
}

/// Runs the engine. If it starts but fails, the adapter, the base or the disk is at fault.
void merge_by_engine(const ChildProgram& engine, const Progress& progress) {
    try {
        run_child(engine, {}, progress);
    } catch (const Error& problem) {
        if (problem.code != "PROGRAM-FAILED") throw;
        throw Error(Failure::Refused, Code("MERGE-ADAPTER"), problem.what());
    }
}

int run_merge(const Arguments& arguments, const Session& session) {
    if (arguments.text("--to").empty())
        throw Error(Failure::Usage, Code("ARGUMENT-MISSING"), "is missing", "--to", "--to FOLDER");
    const std::string to = absolute_path(arguments.text("--to")).string();
    const ConfigFile config(config_of(arguments, session));
    const Interrupts interrupts;
    ProgressPrinter printer(session, interrupts);
    const ChildProgram engine{session.places.engine().string(),
                              {"--merge", config.path(), "--to", to},
                              "ringmaster-engine --merge",
                              "`ringmaster --version` tells whether the engine starts"};
    merge_by_engine(engine, printer.progress());
    printer.clear();
    if (session.json)
        print_json({{"path", to}});
    else
        print("the merged model is in " + to + "\n");
    return 0;
}

}  // namespace

Command merge_command() {
    return {{"merge",
             "RUN|ADAPTER",
             true,
             "Adds an adapter to its base model's weights and writes a whole model folder.",
             {{"--to", "DIR", "a new folder"},
              {"--base", "DIR", "the base model's folder, if the adapter names another place"},
              runs_dir_option(),
              json_option()},
             "ADAPTER is a folder that PEFT or a run saved. The adapter of a RUN is added to the weights "
             "with which it was trained: quantized "
             "weights are dequantized."},
            run_merge};
}

}  // namespace ringmaster
