#include "engine/config/read_config.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "engine/config/document.h"
#include "engine/config/keys.h"
#include "engine/config/paths.h"
#include "engine/config/sections.h"

namespace ringmaster {
namespace {

namespace fs = std::filesystem;

/// The file's bytes, a byte more than is read at most; nullopt and `problem` where it cannot be opened.
std::optional<std::string> read_bytes(const std::string& path, std::string& problem) {
    if (is_folder(path)) {
        problem = path + " is a folder";
        return std::nullopt;
    }
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        problem = (exists(path) ? "cannot read " : "no such file: ") + path;
        return std::nullopt;
    }
    std::string text(kMaxConfigBytes + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

void read_sections(const Document& document, ConfigReading& reading) {
    KeyReader keys(document, reading.diagnostics);
    read_model(keys, reading.config);
    read_data(keys, reading.config);
    read_batch(keys, reading.config);
    read_optimizer(keys, reading.config);
    read_precision(keys, reading.config);
    read_saving(keys, reading.config);
    read_evaluation(keys, reading.config);
    read_parallel(keys, reading.config);
    read_sharding(keys, reading.config);
    reading.config.lines = document.lines;
}

/// A key that is read, but whose value asks for what is not built, belongs to the unsupported.
void move_unsupported(ConfigReading& reading) {
    for (const Diagnostic& diagnostic : reading.diagnostics) {
        if (diagnostic.code != "KEY-UNSUPPORTED") continue;
        const auto found = std::find(reading.keys.used.begin(), reading.keys.used.end(), diagnostic.key);
        if (found == reading.keys.used.end()) continue;
        reading.keys.used.erase(found);
        reading.keys.unsupported.push_back({diagnostic.key, diagnostic.message});
    }
}

}  // namespace

ConfigReading read_config_text(std::string_view text, const std::string& file, const ReadOptions& options) {
    ConfigReading reading;
    Config& config = reading.config;
    config.file = fs::absolute(file).lexically_normal().string();
    config.base_dir = options.base_dir.empty() ? fs::path(config.file).parent_path().string()
                                               : fs::absolute(options.base_dir).lexically_normal().string();
    Document document;
    reading.readable = read_document(text, document, reading.diagnostics);
    if (!reading.readable) return reading;
    for (const auto& [path, value] : options.set) set_path(document, path, value, reading.diagnostics);
    reading.keys = judge_keys(document, reading.diagnostics);
    read_sections(document, reading);
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
    reading.config.file = fs::absolute(path).lexically_normal().string();
    reading.diagnostics.push_back({Severity::Error, "CFG-FILE", "", 0, problem, ""});
    return reading;
}

}  // namespace ringmaster
