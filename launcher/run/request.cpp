#include "launcher/run/request.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/error.h"
#include "engine/events/bounded_json.h"
#include "engine/json_problem.h"
#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/make_plan.h"
#include "launcher/machine/gpu_age.h"
#include "launcher/machine/machine_figures.h"

namespace ringmaster {

namespace {

template <class T>
nlohmann::json or_null(const std::optional<T>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

template <class T>
std::optional<T> optional_field(const nlohmann::json& json, const char* key) {
    const nlohmann::json& value = json.at(key);
    return value.is_null() ? std::nullopt : std::optional(value.get<T>());
}

}  // namespace

std::map<std::string, std::string> parallelism_environment() {
    std::map<std::string, std::string> found;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const size_t equals = text.find('=');
        if (text.starts_with("PARALLELISM_CONFIG_") && equals != text.npos) {
            found.emplace(text.substr(0, equals), text.substr(equals + 1));
        }
    }
    return found;
}

ConfigReading read_request(const Request& request) {
    ReadOptions options;
    options.set = request.set;
    options.accelerate_file = request.accelerate_file;
    options.environment = request.environment;
    options.base_dir = request.base_dir;
    return read_config(request.config, options);
}

PlanRequest plan_request_of(const Request& request, const Machine& machine, const Places& places) {
    PlanRequest asked;
    asked.ranks = request.ranks;
    asked.nodes = request.nodes;
    asked.device = request.device;
    asked.device_memory_bytes = request.device_memory_bytes;
    asked.host_memory_bytes = request.host_memory_bytes;
    asked.disk_memory_bytes = request.disk_memory_bytes;
    asked.preflight = request.preflight;
    asked.devices_seen = static_cast<int>(machine.gpus.size());
    for (const Gpu& gpu : machine.gpus) {  // the GPU with the least memory must hold a rank, too
        asked.seen_device_bytes = asked.seen_device_bytes == 0
                                      ? gpu.memory_bytes
                                      : std::min(asked.seen_device_bytes, gpu.memory_bytes);
    }
    asked.machine_ram_bytes = machine.ram_bytes;
    asked.machine_cores = machine.cores;
    asked.threads = machine.threads;
    asked.calibrations = known_calibrations(places, machine);
    asked.measurements = known_measurements(places, machine);
    asked.hf_cache_dir = places.hf_cache_dir.string();
    return asked;
}

Plan plan_request(const Request& request, const ConfigReading& reading, const Machine& machine,
                  const Places& places, std::optional<int64_t> rows, std::optional<int64_t> eval_rows,
                  const PromptSharing& shared_prompts) {
    PlanRequest asked = plan_request_of(request, machine, places);
    asked.rows = rows;
    asked.eval_rows = eval_rows;
    asked.shared_prompts = shared_prompts;
    Plan plan = make_plan(reading, asked);
    if (plan.device != Device::Cuda || request.device_memory_bytes) return plan;
    if (auto old = old_gpu_finding(machine.gpus, machine.gpus.size(), Severity::Warning))
        plan.diagnostics.push_back(std::move(*old));
    return plan;
}

std::pair<std::string, std::string> parse_set(const std::string& text) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
        throw Error(Failure::Usage, Code("ARGUMENT-VALUE"), "'" + text + "' is not key=value", "--set",
                    "for instance --set context_parallel_size=2");
    }
    return {text.substr(0, equals), text.substr(equals + 1)};
}

void add_settings(Request& request, const std::vector<std::pair<std::string, std::string>>& set) {
    for (const auto& setting : set) {
        std::erase_if(request.set, [&](const auto& earlier) { return earlier.first == setting.first; });
        request.set.push_back(setting);
    }
}

nlohmann::json request_to_json(const Request& request) {
    nlohmann::json set = nlohmann::json::array();
    for (const auto& [key, value] : request.set) set.push_back({key, value});
    return {{"config", request.config},
            {"base_dir", request.base_dir},
            {"accelerate_file", request.accelerate_file},
            {"set", std::move(set)},
            {"environment", request.environment},
            {"ranks", or_null(request.ranks)},
            {"nodes", or_null(request.nodes)},
            {"device", request.device ? nlohmann::json(to_string(*request.device)) : nlohmann::json(nullptr)},
            {"device_memory_bytes", or_null(request.device_memory_bytes)},
            {"host_memory_bytes", or_null(request.host_memory_bytes)},
            {"disk_memory_bytes", or_null(request.disk_memory_bytes)},
            {"preflight", to_string(request.preflight)},
            {"restarts", request.restarts},
            {"shrink", request.shrink}};
}

Request request_from_json(const nlohmann::json& stored, const std::string& where) {
    try {
        Request request;
        stored.at("config").get_to(request.config);
        stored.at("base_dir").get_to(request.base_dir);
        stored.at("accelerate_file").get_to(request.accelerate_file);
        stored.at("environment").get_to(request.environment);
        for (const nlohmann::json& pair : stored.at("set")) {
            request.set.emplace_back(pair.at(0).get<std::string>(), pair.at(1).get<std::string>());
        }
        request.ranks = optional_field<int>(stored, "ranks");
        request.nodes = optional_field<int>(stored, "nodes");
        if (const auto device = optional_field<std::string>(stored, "device")) {
            request.device = *device == "cuda" ? Device::Cuda : Device::Cpu;
        }
        request.device_memory_bytes = optional_field<int64_t>(stored, "device_memory_bytes");
        if (stored.contains("host_memory_bytes"))  // older versions wrote none
            request.host_memory_bytes = optional_field<int64_t>(stored, "host_memory_bytes");
        if (stored.contains("disk_memory_bytes"))
            request.disk_memory_bytes = optional_field<int64_t>(stored, "disk_memory_bytes");
        request.restarts = stored.value("restarts", 0);
        request.shrink = stored.value("shrink", false);
        if (stored.value("preflight", "before") == "none") request.preflight = Preflight::None;
        return request;
    } catch (const nlohmann::json::exception& problem) {
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "is damaged: " + json_problem(problem), where);
    }
}

}  // namespace ringmaster
