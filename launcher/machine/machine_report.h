/// Reports what this machine has and lacks for training, as facts and as checks with advice, for the app's
/// card and for diagnostics bundles.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "launcher/base/places.h"
#include "launcher/machine/machine.h"

namespace ringmaster {

struct DiskSpace {
    std::filesystem::path folder;             ///< need not exist yet
    int64_t free_bytes = 0, total_bytes = 0;  ///< space on the disk of the folder; 0: unknown
};

enum class SshAgent { None, Silent, Answers };

struct MachineFacts {
    Machine machine;
    std::string driver;           ///< version of the NVIDIA driver; empty: not loaded
    int64_t available_bytes = 0;  ///< memory available to programs now
    bool engine_there = false;
    bool cuda_part_there = false;  ///< true if ringmaster_cuda.so lies next to the engine
    bool python_there = false;     ///< true if the Python environment for LibTorch and tokenizing is complete
    std::string torch_version;     ///< version that this program was built for
    std::filesystem::path python_env;
    DiskSpace runs, cache;
    SshAgent ssh_agent = SshAgent::None;
    int ssh_hosts = 0;  ///< `Host` aliases in ~/.ssh/config, without patterns
};

/// Collects the facts from the system, which takes at most one second.
MachineFacts machine_facts(const Machine& machine, const Places& places);

enum class CheckState { Ok, Note, Missing };
enum class Topic { Devices, Engine, Cuda, Python, Memory, RunsDisk, CacheDisk, Ssh };

struct MachineCheck {
    Topic topic;
    CheckState state = CheckState::Ok;
    std::string what;
    std::string fix;  ///< one line; empty if nothing needs to be done
};

std::vector<MachineCheck> machine_checks(const MachineFacts& facts);

const char* to_string(Topic topic);       ///< "devices", "engine", …
const char* to_string(CheckState state);  ///< "ok", "note", "missing"
nlohmann::json checks_to_json(const std::vector<MachineCheck>& checks);

/// Counts the `Host` aliases of an OpenSSH config, without patterns.
int count_ssh_hosts(const std::string& ssh_config);

/// Returns true if a process accepts connections on the Unix socket at this path.
bool socket_answers(const std::string& path);

}  // namespace ringmaster
