/// Reads and writes a process as JSON: {"host", "pid", "start_time", "boot_id"}.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine/events/process_id.h"

namespace ringmaster {

nlohmann::ordered_json to_json(const ProcessId& process);
/// Reads a process. Throws nlohmann::json::exception if a field is missing or has another type.
ProcessId process_from_json(const nlohmann::ordered_json& json);

}  // namespace ringmaster
