/// Reads and writes plan.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/plan/plan.h"

namespace ringmaster {

nlohmann::json plan_to_json(const Plan& plan);  ///< the plan's fields, then config, model and data
Plan plan_from_json(const nlohmann::json& json);
Plan read_plan(const std::string& path);  ///< throws Error(Usage) if missing, Error(Refused) if damaged
void write_plan(const std::string& path, const Plan& plan);  ///< writes a temporary file, then renames it

}  // namespace ringmaster
