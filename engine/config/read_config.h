/// Reads an axolotl YAML (both generations of keys) into a Config, with overrides from an accelerate YAML,
/// PARALLELISM_CONFIG_* variables and --set. Every problem becomes a Diagnostic with its line, and every key
/// of the file ends up in exactly one of three lists.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/config/config.h"
#include "engine/config/diagnostic.h"

namespace ringmaster {

struct ReadOptions {
    std::vector<std::pair<std::string, std::string>>
        set;                      ///< --set: dotted path, and value read as YAML; later entries win
    std::string accelerate_file;  ///< empty: none
    std::map<std::string, std::string> environment;  ///< only its PARALLELISM_CONFIG_* variables are read
    std::string base_dir;                            ///< empty: the file's folder
};

/// Sorts the top-level keys of the file (and of --set) into lists, each key into exactly one.
struct KeyVerdicts {
    struct Reason {
        std::string key;
        std::string why;
    };
    std::vector<std::string> used;
    std::vector<Reason> no_effect;  ///< keys that axolotl uses but that have no effect here, with the reason
    std::vector<Reason> unsupported;  ///< keys that would change what is trained, which is an error
};

struct ConfigReading {
    /// False if the file is missing, or YAML or --set is malformed (exit status 2). The diagnostics then name
    /// the fault and its place.
    bool readable = true;
    Config config;
    Diagnostics diagnostics;
    KeyVerdicts keys;
};

ConfigReading read_config(const std::string& path, const ReadOptions& options = {});

/// Reads text that is not saved yet; `file` is the path that the text belongs to.
ConfigReading read_config_text(std::string_view text, const std::string& file,
                               const ReadOptions& options = {});

}  // namespace ringmaster
