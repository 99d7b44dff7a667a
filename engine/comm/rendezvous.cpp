#include <charconv>
#include <cstdlib>

#include "engine/comm/groups.h"
#include "engine/error.h"

namespace ringmaster {

namespace {

using Environment = std::function<const char*(const char*)>;

std::optional<std::string> text_of(const Environment& get, const char* name) {
    const char* value = get(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return std::string(value);
}

int64_t number(const std::string& text, const std::string& name, int64_t low, int64_t high) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
        throw Error(Failure::Usage, Code("RANKS-ENVIRONMENT"),
                    name + " is \"" + text + "\", not a whole number");
    }
    if (value < low || value > high) {
        throw Error(
            Failure::Usage, Code("RANKS-ENVIRONMENT"),
            name + " is " + text + ", outside " + std::to_string(low) + " to " + std::to_string(high));
    }
    return value;
}

std::optional<int> optional_number(const Environment& get, const char* name, int64_t low, int64_t high) {
    const auto text = text_of(get, name);
    if (!text) return std::nullopt;
    return static_cast<int>(number(*text, name, low, high));
}

constexpr int kMaxRanks = 1 << 20;
constexpr int kMaxPort = 65535;

std::string required_text(const Environment& get, const char* name, const char* because) {
    const auto text = text_of(get, name);
    if (!text)
        throw Error(Failure::Usage, Code("RANKS-ENVIRONMENT"),
                    std::string(name) + " is not set, while " + because + " is");
    return *text;
}

int required_number(const Environment& get, const char* name, const char* because, int64_t low,
                    int64_t high) {
    return static_cast<int>(number(required_text(get, name, because), name, low, high));
}

void check_rank(const Rendezvous& rendezvous, const char* name) {
    if (rendezvous.rank < rendezvous.world_size) return;
    throw Error(Failure::Usage, Code("RANKS-ENVIRONMENT"),
                std::string(name) + " is " + std::to_string(rendezvous.rank) + ", while there are " +
                    std::to_string(rendezvous.world_size) + " ranks, counted from 0");
}

Rendezvous from_torchrun(const Environment& get) {
    Rendezvous at;
    at.rank = required_number(get, "RANK", "WORLD_SIZE", 0, kMaxRanks);
    at.world_size = required_number(get, "WORLD_SIZE", "RANK", 1, kMaxRanks);
    check_rank(at, "RANK");
    at.local_rank = optional_number(get, "LOCAL_RANK", 0, kMaxRanks).value_or(at.rank);
    at.local_world_size = optional_number(get, "LOCAL_WORLD_SIZE", 1, kMaxRanks).value_or(at.world_size);
    if (at.world_size > 1) {
        at.master_addr = required_text(get, "MASTER_ADDR", "RANK");
        at.master_port = required_number(get, "MASTER_PORT", "RANK", 1, kMaxPort);
    }
    at.store_fd = optional_number(get, "RINGMASTER_STORE_FD", 0, 1 << 30);
    const std::string elsewhere = text_of(get, "TORCHELASTIC_USE_AGENT_STORE").value_or("False");
    at.store_is_elsewhere = elsewhere == "True" || elsewhere == "true" || elsewhere == "1";
    at.key_prefix = "ringmaster/" + text_of(get, "TORCHELASTIC_RUN_ID").value_or("run") + "/" +
                    text_of(get, "TORCHELASTIC_RESTART_COUNT").value_or("0") + "/" +
                    text_of(get, "RINGMASTER_ATTEMPT").value_or("0");
    return at;
}

/// Returns the tasks on node `node` from Slurm's list: "2(x3),1" means two on each of three nodes, then one.
int slurm_tasks_on(const std::string& counts, int node) {
    const char* at = counts.c_str();
    while (*at != '\0') {
        char* end = nullptr;
        const long tasks = std::strtol(at, &end, 10);
        long repeat = 1;
        if (end[0] == '(' && end[1] == 'x') {
            repeat = std::strtol(end + 2, &end, 10);
            if (*end == ')') ++end;
        }
        if (end == at || tasks < 1 || (*end != ',' && *end != '\0')) break;
        if (node < repeat) return static_cast<int>(tasks);
        node -= static_cast<int>(repeat);
        at = *end == ',' ? end + 1 : end;
    }
    throw Error(Failure::Usage, Code("RANKS-ENVIRONMENT"),
                "SLURM_TASKS_PER_NODE is \"" + counts + "\", which says nothing of this node");
}

int slurm_local_world_size(const Environment& get, int world_size) {
    for (const char* name : {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"}) {
        if (const auto counts = text_of(get, name)) {
            return slurm_tasks_on(*counts, optional_number(get, "SLURM_NODEID", 0, kMaxRanks).value_or(0));
        }
    }
    const int nodes = optional_number(get, "SLURM_NNODES", 1, kMaxRanks).value_or(1);
    return (world_size + nodes - 1) / nodes;
}

Rendezvous from_slurm(const Environment& get) {
    constexpr int kFirstPort = 10000;
    constexpr int kPorts = 50000;
    Rendezvous at;
    at.rank = required_number(get, "SLURM_PROCID", "SLURM_NTASKS", 0, kMaxRanks);
    at.world_size = required_number(get, "SLURM_NTASKS", "SLURM_PROCID", 1, kMaxRanks);
    check_rank(at, "SLURM_PROCID");
    at.local_rank = optional_number(get, "SLURM_LOCALID", 0, kMaxRanks).value_or(at.rank);
    at.local_world_size = slurm_local_world_size(get, at.world_size);
    if (at.world_size > 1) {
        const auto addr = text_of(get, "MASTER_ADDR");
        at.master_addr =
            addr
                ? *addr
                : first_slurm_host(required_text(get, "SLURM_JOB_NODELIST", "SLURM_PROCID (or MASTER_ADDR)"));
        const auto port = optional_number(get, "MASTER_PORT", 1, kMaxPort);
        at.master_port = port ? *port
                              : kFirstPort + required_number(get, "SLURM_JOB_ID",
                                                             "SLURM_PROCID (or MASTER_PORT)", 0, INT32_MAX) %
                                                 kPorts;
    }
    at.key_prefix = "ringmaster/" + text_of(get, "SLURM_JOB_ID").value_or("job") + "/" +
                    text_of(get, "SLURM_STEP_ID").value_or("0") + "/" +
                    text_of(get, "SLURM_RESTART_COUNT").value_or("0");
    return at;
}

}  // namespace

Rendezvous rendezvous_from_environment(const std::function<const char*(const char*)>& get) {
    Rendezvous at;
    if (text_of(get, "RANK")) {
        at = from_torchrun(get);
    } else if (text_of(get, "SLURM_PROCID")) {
        at = from_slurm(get);
    } else if (text_of(get, "WORLD_SIZE")) {
        at = from_torchrun(get);  // throws the error that says RANK is missing
    }
    at.interface_name = text_of(get, "GLOO_SOCKET_IFNAME").value_or("");
    return at;
}

std::string first_slurm_host(const std::string& node_list) {
    std::string host;
    for (size_t i = 0; i < node_list.size() && node_list[i] != ','; ++i) {
        if (node_list[i] != '[') {
            host += node_list[i];
            continue;
        }
        const size_t close = node_list.find(']', i);
        const size_t first_end = node_list.find_first_of("-,]", i);
        if (close == std::string::npos || first_end == i + 1) {
            throw Error(Failure::Usage, Code("RANKS-ENVIRONMENT"),
                        "SLURM_JOB_NODELIST cannot be read: \"" + node_list + "\"");
        }
        host += node_list.substr(i + 1, first_end - i - 1);
        i = close;
    }
    if (host.empty())
        throw Error(Failure::Usage, Code("RANKS-ENVIRONMENT"),
                    "SLURM_JOB_NODELIST names no host: \"" + node_list + "\"");
    return host;
}

}  // namespace ringmaster
