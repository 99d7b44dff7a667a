/// Imports accelerate's YAML and PARALLELISM_CONFIG_* variables as parallel sizes of a configuration. Source
/// of the rules: huggingface/accelerate, src/accelerate/parallelism_config.py and
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

/// Returns whether the file is accelerate's rather than axolotl's.
bool is_accelerate(const Document& document);

bool is_accelerate_key(std::string_view key);  ///< returns whether accelerate defines this top-level key

/// Sorts the top-level keys of an accelerate file into the lists of KeyVerdicts, like judge_keys.
KeyVerdicts judge_accelerate_keys(const Document& document, Diagnostics& diagnostics);

/// Replaces an accelerate file's values by those of the PARALLELISM_CONFIG_* variables. `accelerate` is empty
/// if there is no file.
void apply_environment(const std::map<std::string, std::string>& environment, Document& accelerate,
                       Diagnostics& diagnostics);

/// Copies the values of `from` into `into`, and replaces those that `into` already has.
void apply_over(const Document& from, Document& into);

struct AccelerateSource {
    std::string name;      ///< source named in messages: the file's name, or "the environment"
    std::string base_dir;  ///< folder that the file's relative paths start from
    bool alone = false;    ///< the accelerate file is the configuration itself
};

/// Holds values that have no key in an axolotl file.
struct AccelerateImport {
    std::optional<int64_t> ranks;
    std::optional<int64_t> nodes;
    std::optional<int64_t> fixed_length;
    std::optional<int> zero_stage;
};

/// Writes the sizes and the precision into `config`. Reports each value that it overrides as a
/// diagnostic.
AccelerateImport import_accelerate(const Document& accelerate, const AccelerateSource& source,
                                   Document& config, Diagnostics& diagnostics);

/// Reports in one diagnostic the settings that a launch needs and that an accelerate file alone cannot give.
void say_plan_only(const Document& config, Diagnostics& diagnostics);

}  // namespace ringmaster
