/// Holds what a user asks for on the command line or in the app's form: a configuration and its overrides.
/// The run directory's options.json keeps it, so that a resumed run uses the same request.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/config/read_config.h"
#include "engine/plan/plan.h"
#include "engine/plan/plan_request.h"
#include "launcher/base/places.h"
#include "launcher/machine/machine.h"

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
    std::optional<int64_t> host_memory_bytes, disk_memory_bytes;  ///< per node
    Preflight preflight = Preflight::Before;
    int restarts = 0;     ///< automatic restarts after a failure
    bool shrink = false;  ///< true: an automatic restart may leave out lost nodes
};

/// Returns the PARALLELISM_CONFIG_* variables of this process.
std::map<std::string, std::string> parallelism_environment();

ConfigReading read_request(const Request& request);

/// Returns what a plan needs to know besides the configuration.
PlanRequest plan_request_of(const Request& request, const Machine& machine, const Places& places);

/// Plans the configuration that was read. Pass `rows`, `eval_rows` and `shared_prompts` once the data are
/// prepared.
Plan plan_request(const Request& request, const ConfigReading& reading, const Machine& machine,
                  const Places& places, std::optional<int64_t> rows = {},
                  std::optional<int64_t> eval_rows = {}, const PromptSharing& shared_prompts = {});

/// Splits "key=value". Throws Error(Usage) if there is no key or no '='.
std::pair<std::string, std::string> parse_set(const std::string& text);

/// Adds settings to the request; later settings of the same key replace earlier ones.
void add_settings(Request& request, const std::vector<std::pair<std::string, std::string>>& set);

nlohmann::json request_to_json(const Request& request);
Request request_from_json(const nlohmann::json& json, const std::string& where);  ///< throws Error(Refused)

}  // namespace ringmaster
