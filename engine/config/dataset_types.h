/// The names that `datasets[].type` may have, as axolotl knows them, and what is said about the others.
#pragma once

#include <string>
#include <vector>

#include "engine/config/diagnostic.h"

namespace ringmaster {

/// Every type that the tokenizing step encodes; launcher/tokenize/ringmaster_rows/kinds.py has the same
/// names.
const std::vector<std::string>& dataset_types();

/// Keys of a `type` that is a mapping of a person's own fields.
const std::vector<std::string>& field_mapping_keys();

struct TypeFault {
    Form form;
    FindingValues parameters;
};

/// Why a name that is none of dataset_types() is refused.
TypeFault fault_of_type(const std::string& type);

}  // namespace ringmaster
