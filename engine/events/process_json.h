/// A process in JSON: {"host", "pid", "start_time", "boot_id"}.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine/events/process_id.h"

namespace ringmaster {

nlohmann::ordered_json to_json(const ProcessId& process);
/// Throws nlohmann::json::exception where a field is missing or of another type.
ProcessId process_from_json(const nlohmann::ordered_json& json);

}  // namespace ringmaster
