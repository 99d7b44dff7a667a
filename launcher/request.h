/// What a person asks for, by the command line or the app's form: a configuration, and what overrides it. It
/// is kept in the run directory's options.json, so that a resumed run is asked for in the same way.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/config/read_config.h"
#include "engine/plan/plan.h"
#include "launcher/machine.h"
#include "launcher/places.h"

namespace ringmaster {

struct Request {
    std::string config;                                    ///< path of the YAML
    std::string base_dir;                                  ///< empty: the YAML's folder
    std::string accelerate_file;                           ///< empty: none
    std::vector<std::pair<std::string, std::string>> set;  ///< dotted path, value as YAML
    std::map<std::string, std::string> environment;        ///< PARALLELISM_CONFIG_* variables
    std::optional<int> ranks;
    std::optional<int> nodes;
    std::optional<Device> device;
    std::optional<int64_t> device_memory_bytes;
    Preflight preflight = Preflight::Before;
    int restarts = 0;     ///< of a run that fails, by itself
    bool shrink = false;  ///< such a restart may leave out nodes that are not there any more
};

/// The PARALLELISM_CONFIG_* variables of this process.
std::map<std::string, std::string> parallelism_environment();

ConfigReading read_request(const Request& request);

/// What a plan needs to know beside the configuration.
PlanRequest plan_request_of(const Request& request, const Machine& machine, const Places& places);

/// The plan of what was read. `rows` and `eval_rows` where the data are prepared.
Plan plan_request(const Request& request, const ConfigReading& reading, const Machine& machine,
                  const Places& places, std::optional<int64_t> rows = {},
                  std::optional<int64_t> eval_rows = {});

/// Throws Error(Usage) where "key=value" has no key or no '='.
std::pair<std::string, std::string> parse_set(const std::string& text);

/// Later settings of the same key replace earlier ones.
void add_settings(Request& request, const std::vector<std::pair<std::string, std::string>>& set);

nlohmann::json request_to_json(const Request& request);
Request request_from_json(const nlohmann::json& json, const std::string& where);  ///< throws Error(Refused)

}  // namespace ringmaster
