/// accelerate's YAML and PARALLELISM_CONFIG_* variables, as parallel sizes of a configuration.
/// Source of the rules: huggingface/accelerate, src/accelerate/parallelism_config.py and
/// commands/config/config_args.py.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "engine/config/diagnostic.h"
#include "engine/config/document.h"
#include "engine/config/read_config.h"

namespace ringmaster {

/// Whether a file is accelerate's and not axolotl's.
bool is_accelerate(const Document& document);

bool is_accelerate_key(std::string_view key);

/// The top-level keys of an accelerate file, sorted and judged as judge_keys does.
KeyVerdicts judge_accelerate_keys(const Document& document, Diagnostics& diagnostics);

/// Puts what the PARALLELISM_CONFIG_* variables say over an accelerate file's values (empty where there is no
/// file).
void apply_environment(const std::map<std::string, std::string>& environment, Document& accelerate,
                       Diagnostics& diagnostics);

/// Puts one accelerate file's values over another's.
void apply_over(const Document& from, Document& into);

struct AccelerateSource {
    std::string name;      ///< what overrides are said to come from: the file's name, or "the environment"
    std::string base_dir;  ///< that the file's relative paths start from
    bool alone = false;    ///< the accelerate file is the configuration itself
};

/// What has no key in an axolotl file.
struct AccelerateImport {
    std::optional<int64_t> ranks;
    std::optional<int64_t> nodes;
    std::optional<int64_t> fixed_length;
    std::optional<int> zero_stage;
};

/// Puts the sizes and the precision into `config`, where they override what stands there (said as a
/// diagnostic).
AccelerateImport import_accelerate(const Document& accelerate, const AccelerateSource& source,
                                   Document& config, Diagnostics& diagnostics);

/// What an accelerate file given alone lacks to be launched, as one diagnostic.
void say_plan_only(const Document& config, Diagnostics& diagnostics);

}  // namespace ringmaster
