#include "engine/config/read_config.h"

#include <algorithm>
#include <filesystem>

#include "engine/config/accelerate.h"
#include "engine/config/document.h"
#include "engine/config/finding_record.h"
#include "engine/config/keys.h"
#include "engine/config/paths.h"
#include "engine/config/samples.h"
#include "engine/config/sections.h"

namespace ringmaster {
namespace {

namespace fs = std::filesystem;

/// Returns the file's bytes, up to one above the limit. If the file cannot be opened, sets `problem` instead.
std::optional<std::string> read_bytes(const std::string& path, std::string& problem) {
    if (auto text = read_at_most(path, kMaxConfigBytes + 1)) return text;
    problem =
        is_folder(path) ? path + " is a folder" : (exists(path) ? "cannot read " : "no such file: ") + path;
    return std::nullopt;
}

/// Moves the line number into the message, because the number belongs to a file other than the configuration.
Diagnostic in_other_file(Diagnostic diagnostic, const std::string& name) {
    if (diagnostic.line > 0) {
        diagnostic.parameters[kOtherFile] = name;
        diagnostic.parameters[kOtherFileLine] = diagnostic.line;
        diagnostic.message = message_in("en", diagnostic);
    }
    diagnostic.line = 0;
    return diagnostic;
}

void take_import(const AccelerateImport& import, Config& config) {
    config.ranks = import.ranks;
    config.nodes = import.nodes;
    config.padding.fixed_length = import.fixed_length;
    if (import.zero_stage) config.zero_stage_asked = *import.zero_stage;
}

void read_sections(const Document& document, const AccelerateImport& import, ConfigReading& reading) {
    KeyReader keys(document, reading.diagnostics);
    read_model(keys, reading.config);
    read_preference(keys, reading.config);
    read_data(keys, reading.config);
    read_batch(keys, reading.config);
    read_optimizer(keys, reading.config);
    read_precision(keys, reading.config);
    read_lora(keys, reading.config);
    read_quantization(keys, reading.config);
    read_saving(keys, reading.config);
    read_evaluation(keys, reading.config);
    read_run_control(keys, reading.config);
    read_noise(keys, reading.config);
    settle_preference(keys, reading.config);
    read_parallel(keys, reading.config);
    read_sharding(keys, reading.config);
    read_checkpointing(keys, reading.config);
    take_import(import, reading.config);
    check_samples(keys);
    check_rules(keys, reading.config);
    reading.config.lines = document.lines;
    // A flag that is off counts as unset, because the plan takes PEFT's all-linear only if the flag is unset.
    if (const nlohmann::json* flag = document.find("lora_target_linear"); flag && !is_on(*flag))
        reading.config.lines.erase("lora_target_linear");
}

/// Clears other names of a key set by --set, so that they do not contradict it.
void settle_synonyms(Document& document, const std::string& path) {
    const auto silence = [&](const std::string& key) {
        if (key != path && document.find(key)) document.values[key] = nullptr;
    };
    if (path == "context_parallel_size" || path == "sequence_parallel_degree") {
        const std::string other =
            path == "context_parallel_size" ? "sequence_parallel_degree" : "context_parallel_size";
        if (document.find(other)) document.values[other] = document.values[path];
    }
    const std::vector<std::string> flags = attention_flags();
    const bool is_flag = std::find(flags.begin(), flags.end(), path) != flags.end();
    if (path != "attn_implementation" && !(is_flag && is_on(document.values[path]))) return;
    silence("attn_implementation");
    for (const std::string& flag : flags) silence(flag);
}

/// Reads accelerate's settings: the file given alone or with the configuration, then the environment.
struct Accelerate {
    Document document;
    AccelerateSource source;
};

bool read_accelerate_file(const std::string& path, Accelerate& accelerate, Diagnostics& diagnostics) {
    std::string problem;
    const auto text = read_bytes(path, problem);
    if (!text) {
        diagnostics.push_back(finding(Severity::Error, Form("ACC-FILE"), "", 0, {{"problem", problem}}));
        return false;
    }
    const std::string name = fs::path(path).filename().string();
    Document document;
    Diagnostics found;
    const bool readable = read_document(*text, document, found);
    if (readable) judge_accelerate_keys(document, found);
    for (Diagnostic& diagnostic : found) diagnostics.push_back(in_other_file(std::move(diagnostic), name));
    if (accelerate.source.alone) {
        apply_over(document, accelerate.document);
    } else {
        accelerate.document = std::move(document);
        accelerate.source.name = name;
        accelerate.source.base_dir = parent_of(full_path(path));
    }
    return readable;
}

AccelerateImport import_all(Accelerate& accelerate, const ReadOptions& options, Document& document,
                            Diagnostics& diagnostics) {
    Diagnostics found;
    apply_environment(options.environment, accelerate.document, found);
    AccelerateImport import;
    if (!accelerate.document.values.empty()) {
        if (accelerate.source.name.empty()) accelerate.source.name = "the environment";
        import = import_accelerate(accelerate.document, accelerate.source, document, found);
    }
    for (Diagnostic& diagnostic : found) {
        const bool elsewhere = !accelerate.source.alone && diagnostic.code != "ACC-OVERRIDES";
        diagnostics.push_back(elsewhere ? in_other_file(std::move(diagnostic), accelerate.source.name)
                                        : diagnostic);
    }
    return import;
}

void apply_set(const ReadOptions& options, Accelerate& accelerate, Document& document,
               Diagnostics& diagnostics, bool of_accelerate) {
    for (const auto& [path, value] : options.set) {
        const bool theirs = accelerate.source.alone && is_accelerate_key(path.substr(0, path.find('.')));
        if (theirs != of_accelerate) continue;
        set_path(theirs ? accelerate.document : document, path, value, diagnostics);
        if (!theirs) settle_synonyms(document, path);
    }
}

/// Lists a key as unsupported if it is read but its value asks for something that is not supported.
void move_unsupported(ConfigReading& reading) {
    for (const Diagnostic& diagnostic : reading.diagnostics) {
        if (diagnostic.code != "KEY-UNSUPPORTED") continue;
        const auto found = std::find(reading.keys.used.begin(), reading.keys.used.end(), diagnostic.key);
        if (found == reading.keys.used.end()) continue;
        reading.keys.used.erase(found);
        reading.keys.unsupported.push_back({diagnostic.key, diagnostic.message});
    }
}

bool said(const ConfigReading& reading, std::string_view code) {
    return std::any_of(reading.diagnostics.begin(), reading.diagnostics.end(),
                       [&](const Diagnostic& diagnostic) { return diagnostic.code == code; });
}

void append(KeyVerdicts& into, KeyVerdicts&& from) {
    into.used.insert(into.used.end(), from.used.begin(), from.used.end());
    into.no_effect.insert(into.no_effect.end(), from.no_effect.begin(), from.no_effect.end());
    into.unsupported.insert(into.unsupported.end(), from.unsupported.begin(), from.unsupported.end());
}

}  // namespace

ConfigReading read_config_text(std::string_view text, const std::string& file, const ReadOptions& options) {
    ConfigReading reading;
    Config& config = reading.config;
    config.file = full_path(file);
    config.base_dir = options.base_dir.empty() ? parent_of(config.file) : full_path(options.base_dir);
    Document document;
    reading.readable = read_document(text, document, reading.diagnostics);
    if (!reading.readable) {
        for (Diagnostic& diagnostic : reading.diagnostics) {
            diagnostic.message = fs::path(config.file).filename().string() + ": " + diagnostic.message;
        }
        return reading;
    }
    Accelerate accelerate;
    if (is_accelerate(document)) {
        config.accelerate_only = true;
        accelerate = {std::move(document),
                      {fs::path(config.file).filename().string(), config.base_dir, true}};
        document = Document();
    }
    if (!options.accelerate_file.empty()) {
        reading.readable = read_accelerate_file(options.accelerate_file, accelerate, reading.diagnostics);
        if (!reading.readable) return reading;
    }
    apply_set(options, accelerate, document, reading.diagnostics, /*of_accelerate=*/true);
    if (config.accelerate_only)
        reading.keys = judge_accelerate_keys(accelerate.document, reading.diagnostics);
    const AccelerateImport import = import_all(accelerate, options, document, reading.diagnostics);
    apply_set(options, accelerate, document, reading.diagnostics, /*of_accelerate=*/false);
    append(reading.keys, judge_keys(document, reading.diagnostics));
    read_sections(document, import, reading);
    if (said(reading, "CFG-SET")) reading.readable = false;
    if (config.accelerate_only) say_plan_only(document, reading.diagnostics);
    move_unsupported(reading);
    sort_by_line(reading.diagnostics);
    return reading;
}

ConfigReading read_config(const std::string& path, const ReadOptions& options) {
    std::string problem;
    const auto text = read_bytes(path, problem);
    if (text) return read_config_text(*text, path, options);
    ConfigReading reading;
    reading.readable = false;
    reading.config.file = full_path(path);
    reading.diagnostics.push_back(finding(Severity::Error, Form("CFG-FILE"), "", 0, {{"problem", problem}}));
    return reading;
}

}  // namespace ringmaster
