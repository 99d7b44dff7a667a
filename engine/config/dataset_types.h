/// Lists the names that `datasets[].type` may have in axolotl, and explains why others are refused.
#pragma once

#include <string>
#include <vector>

#include "engine/config/diagnostic.h"
#include "engine/config/preference.h"

namespace ringmaster {

/// Returns the types that tokenizing supports. launcher/tokenize/ringmaster_rows/kinds.py has the same
/// names.
const std::vector<std::string>& dataset_types();

/// Returns the types of rows with labelled steps, for a process reward model.
std::vector<std::string> step_types();
/// Returns the types of rows that hold preferences, for this `rl`. preference_texts.py has the same names.
std::vector<std::string> preference_types(PreferenceMethod method);

/// Returns the current name of a pair type that axolotl renamed after 0.5, such as chatml.argilla; empty if
/// it was not renamed. The current type reads the same fields, and further fields if a row has them.
std::string today_of_type(const std::string& type);

/// Returns the keys of a `type` that maps a user's own fields of preferences.
const std::vector<std::string>& preference_mapping_keys(PreferenceMethod method);

/// Returns the keys allowed in a `type` that maps a user's own fields.
const std::vector<std::string>& field_mapping_keys();

struct TypeFault {
    Form form;
    FindingValues parameters;
};

/// Returns why a name that is not in dataset_types() is refused.
TypeFault fault_of_type(const std::string& type);

}  // namespace ringmaster
