#include "engine/events/process_json.h"

#include <nlohmann/json.hpp>

namespace ringmaster {

using Json = nlohmann::ordered_json;

Json to_json(const ProcessId& process) {
    return {{"host", process.host},
            {"pid", process.pid},
            {"start_time", process.start_time},
            {"boot_id", process.boot_id}};
}

ProcessId process_from_json(const Json& json) {
    const auto whole = [&](const char* key) { return json.at(key).get_ref<const int64_t&>(); };
    return {json.at("host"), whole("pid"), whole("start_time"), json.at("boot_id")};
}

}  // namespace ringmaster
