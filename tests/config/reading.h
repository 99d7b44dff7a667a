/// Reads texts for the tests of engine/config, and lists what was reported.
#pragma once

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "engine/config/read_config.h"

namespace ringmaster {

/// Makes a temporary folder for one test, and removes it with the object.
class TemporaryFolder {
  public:
    TemporaryFolder() {
        m_path = std::filesystem::temp_directory_path() /
                 ("ringmaster-config-" + std::to_string(std::random_device{}()));
        std::filesystem::create_directories(m_path);
    }
    ~TemporaryFolder() { std::filesystem::remove_all(m_path); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string operator/(const std::string& name) const { return (m_path / name).string(); }
    std::string path() const { return m_path.string(); }

    std::string write(const std::string& name, const std::string& text) const {
        std::filesystem::create_directories((m_path / name).parent_path());
        std::ofstream(m_path / name) << text;
        return (m_path / name).string();
    }

  private:
    std::filesystem::path m_path;
};

/// Holds the lines that every configuration needs, so that a test writes only the lines that it is about.
inline const std::string kBase =
    "base_model: NousResearch/Llama-3.2-1B\n"
    "datasets: [{path: owner/rows, type: completion}]\n"
    "learning_rate: 0.0001\n"
    "micro_batch_size: 1\n"
    "gradient_accumulation_steps: 1\n"
    "output_dir: out\n"
    "bf16: auto\n"
    "warmup_steps: 10\n";
constexpr int kBaseLines = 8;

inline ConfigReading read(const std::string& text, const ReadOptions& options = {}) {
    return read_config_text(text, "/files/config.yaml", options);
}

/// Reads kBase followed by `text`, whose first line is line 9.
inline ConfigReading read_more(const std::string& text, const ReadOptions& options = {}) {
    return read(kBase + text, options);
}

inline ConfigReading read_set(const std::string& text, const std::string& path, const std::string& value) {
    ReadOptions options;
    options.set = {{path, value}};
    return read(text, options);
}

inline const Diagnostic* said(const ConfigReading& reading, const std::string& code,
                              const std::string& key = {}) {
    for (const Diagnostic& diagnostic : reading.diagnostics) {
        if (diagnostic.code == code && (key.empty() || diagnostic.key == key)) return &diagnostic;
    }
    return nullptr;
}

/// Returns every diagnostic, one per line, for failure messages.
inline std::string all_said(const ConfigReading& reading) {
    std::string text;
    for (const Diagnostic& d : reading.diagnostics) {
        text += std::string(to_string(d.severity)) + ' ' + d.code + ' ' + d.key + ':' +
                std::to_string(d.line) + ' ' + d.message + " | " + d.hint + '\n';
    }
    return text;
}

/// Returns the list that holds the key: "used", "no_effect", "unsupported", "" (none) or "several".
inline std::string list_of(const ConfigReading& reading, const std::string& key) {
    std::string found;
    const auto in = [&](const std::string& list) { found = found.empty() ? list : "several"; };
    for (const std::string& used : reading.keys.used) {
        if (used == key) in("used");
    }
    for (const auto& reason : reading.keys.no_effect) {
        if (reason.key == key) in("no_effect");
    }
    for (const auto& reason : reading.keys.unsupported) {
        if (reason.key == key) in("unsupported");
    }
    return found;
}

}  // namespace ringmaster
