/// What this machine has and lacks for training, as facts and as checks with what to do about each: for the
/// app's card and for a bundle of diagnostics.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "launcher/machine.h"
#include "launcher/places.h"

namespace ringmaster {

struct DiskSpace {
    std::filesystem::path folder;             ///< may not be there yet
    int64_t free_bytes = 0, total_bytes = 0;  ///< of the disk that it lies, or would lie, on; 0: not known
};

enum class SshAgent { None, Silent, Answers };

struct MachineFacts {
    Machine machine;
    std::string driver;           ///< NVIDIA's version; empty: none loaded
    int64_t available_bytes = 0;  ///< memory that programs could have now
    bool engine_there = false;
    bool cuda_part_there = false;  ///< ringmaster_cuda.so, beside the engine or where a package puts it
    bool python_there = false;     ///< the environment that LibTorch and tokenizing come from, whole
    std::string torch_version;     ///< that this program was built for
    std::filesystem::path python_env;
    DiskSpace runs, cache;
    SshAgent ssh_agent = SshAgent::None;
    int ssh_hosts = 0;  ///< Host aliases in ~/.ssh/config, without patterns
};

/// Asks the system; a second at most beside what `machine` took.
MachineFacts machine_facts(const Machine& machine, const Places& places);

enum class CheckState { Ok, Note, Missing };
enum class Topic { Devices, Engine, Cuda, Python, Memory, RunsDisk, CacheDisk, Ssh };

struct MachineCheck {
    Topic topic;
    CheckState state = CheckState::Ok;
    std::string what;
    std::string fix;  ///< one line; empty where nothing is to be done
};

std::vector<MachineCheck> machine_checks(const MachineFacts& facts);

const char* to_string(Topic topic);       ///< "devices", "engine", …
const char* to_string(CheckState state);  ///< "ok", "note", "missing"
nlohmann::json checks_to_json(const std::vector<MachineCheck>& checks);

/// `Host` aliases of an OpenSSH config, patterns left out.
int count_ssh_hosts(const std::string& ssh_config);

/// True where something accepts a connection on the Unix socket at this path.
bool socket_answers(const std::string& path);

}  // namespace ringmaster
