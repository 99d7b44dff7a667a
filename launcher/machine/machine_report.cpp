#include "launcher/machine/machine_report.h"

#include <strings.h>
#include <sys/socket.h>

#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "engine/error.h"
#include "launcher/base/bounded_file.h"
#include "launcher/base/engine_files.h"
#include "launcher/base/format.h"
#include "launcher/base/setup.h"
#include "launcher/machine/gpu_age.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kMostConfigBytes = 4 << 20;
/// Maximum disk space that `ringmaster setup` needs at any time
constexpr int64_t kSetUpBytes = 11'000'000'000;
constexpr int64_t kFewRunsBytes = 5'000'000'000;

/// Returns the text of a regular file of at most kMostConfigBytes; empty if it cannot be read.
std::string system_text(const fs::path& file) {
    std::error_code unknown;
    if (!fs::is_regular_file(file, unknown)) return {};
    try {
        return read_bounded(file, kMostConfigBytes);
    } catch (const Error&) {
        return {};
    }
}

std::string home_config() {
    const char* home = std::getenv("HOME");
    return home == nullptr ? std::string() : system_text(fs::path(home) / ".ssh" / "config");
}

/// Returns "580.95" from "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95  Tue …".
std::string driver_version() {
    std::ifstream in("/proc/driver/nvidia/version");
    std::string line, word;
    if (!std::getline(in, line)) return {};
    std::istringstream words(line);
    while (words >> word) {
        if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos)
            return word;
    }
    return "?";
}

int64_t available_memory() {
    std::ifstream in("/proc/meminfo");
    for (std::string key, unit; in >> key;) {
        int64_t kib = 0;
        in >> kib;
        std::getline(in, unit);
        if (key == "MemAvailable:") return kib << 10;
    }
    return 0;
}

/// Returns the space on the disk of the folder, or of its nearest parent that exists.
DiskSpace space_of(const fs::path& folder) {
    DiskSpace space{folder, 0, 0};
    for (fs::path here = folder;; here = here.parent_path()) {
        std::error_code problem;
        const fs::space_info info = fs::space(here, problem);
        if (!problem) {
            space.free_bytes = static_cast<int64_t>(info.available);
            space.total_bytes = static_cast<int64_t>(info.capacity);
            return space;
        }
        if (here == here.parent_path()) return space;
    }
}

SshAgent ask_agent() {
    const char* socket = std::getenv("SSH_AUTH_SOCK");
    if (socket == nullptr || *socket == '\0') return SshAgent::None;
    return socket_answers(socket) ? SshAgent::Answers : SshAgent::Silent;
}

bool environment_is_whole(const Places& places) {
    try {
        return is_set_up(places);
    } catch (const Error&) {  // requirements.txt is missing: the installation is broken
        return false;
    }
}

std::string plural(int64_t count, const char* one, const char* many) {
    return format_count(count) + " " + (count == 1 ? one : many);
}

}  // namespace

MachineFacts machine_facts(const Machine& machine, const Places& places) {
    MachineFacts facts;
    facts.machine = machine;
    facts.driver = driver_version();
    facts.available_bytes = available_memory();
    std::error_code none;
    facts.engine_there = fs::exists(places.engine(), none);
    facts.cuda_part_there = !cuda_file(places).empty();
    facts.python_there = environment_is_whole(places);
    facts.torch_version = RINGMASTER_TORCH_VERSION;
    facts.python_env = places.python_env;
    facts.runs = space_of(places.runs_dir);
    facts.cache = space_of(places.cache_dir);
    facts.ssh_agent = ask_agent();
    facts.ssh_hosts = count_ssh_hosts(home_config());
    return facts;
}

namespace {

MachineCheck devices_check(const MachineFacts& facts) {
    const Machine& machine = facts.machine;
    if (!machine.gpus.empty()) {
        std::string what;
        for (const Gpu& gpu : machine.gpus)
            what += (what.empty() ? "" : ", ") + gpu.name +
                    (gpu.memory_bytes > 0 ? " " + format_bytes(gpu.memory_bytes) : "");
        what += facts.driver.empty() ? "" : "; driver " + facts.driver;
        const auto old = old_gpu_finding(machine.gpus, machine.gpus.size(), Severity::Warning);
        if (old) return {Topic::Devices, CheckState::Note, what + "; " + old->message, old->hint};
        return {Topic::Devices, CheckState::Ok, what, ""};
    }
    const std::string cores = plural(machine.cores, "core", "cores");
    if (!facts.driver.empty())
        return {Topic::Devices, CheckState::Note, cores + "; the NVIDIA driver shows no GPU",
                "look at CUDA_VISIBLE_DEVICES and nvidia-smi"};
    return {Topic::Devices, CheckState::Note, cores + ", no NVIDIA GPU", "trains on the processor"};
}

MachineCheck disk_check(Topic topic, const DiskSpace& disk, int64_t wanted_bytes) {
    const std::string what = format_bytes(disk.free_bytes) + " free for " + disk.folder.string();
    if (disk.total_bytes == 0)
        return {topic, CheckState::Note, disk.folder.string() + " cannot be asked", "look at its disk"};
    if (disk.free_bytes >= wanted_bytes) return {topic, CheckState::Ok, what, ""};
    return {topic, CheckState::Note, what, "less than " + format_bytes(wanted_bytes) + ": make room"};
}

MachineCheck ssh_check(const MachineFacts& facts) {
    const std::string hosts = plural(facts.ssh_hosts, "host", "hosts") + " in ~/.ssh/config";
    switch (facts.ssh_agent) {
        case SshAgent::Answers:
            return {Topic::Ssh, CheckState::Ok, "agent answers; " + hosts, ""};
        case SshAgent::Silent:
            return {Topic::Ssh, CheckState::Note,
                    "SSH_AUTH_SOCK names an agent that does not answer; " + hosts,
                    "start it again: eval $(ssh-agent) && ssh-add"};
        case SshAgent::None:
            break;
    }
    return {Topic::Ssh, CheckState::Note, "no agent; " + hosts,
            "only needed for other machines: eval $(ssh-agent) && ssh-add"};
}

}  // namespace

std::vector<MachineCheck> machine_checks(const MachineFacts& facts) {
    std::vector<MachineCheck> checks{devices_check(facts)};
    checks.push_back(facts.engine_there
                         ? MachineCheck{Topic::Engine, CheckState::Ok, "ringmaster-engine is there", ""}
                         : MachineCheck{Topic::Engine, CheckState::Missing, "ringmaster-engine is missing",
                                        "install or build Ringmaster whole"});
    if (!facts.machine.gpus.empty() || facts.cuda_part_there)
        checks.push_back(facts.cuda_part_there ? MachineCheck{Topic::Cuda, CheckState::Ok,
                                                              "the engine's CUDA part is there", ""}
                                               : MachineCheck{Topic::Cuda, CheckState::Missing,
                                                              "this build has no CUDA part: GPUs stay unused",
                                                              "build it again without RINGMASTER_CUDA=off"});
    checks.push_back(facts.python_there ? MachineCheck{Topic::Python, CheckState::Ok,
                                                       "LibTorch " + facts.torch_version + " is set up", ""}
                                        : MachineCheck{Topic::Python, CheckState::Missing,
                                                       "LibTorch " + facts.torch_version + " is not set up",
                                                       "run: ringmaster setup"});
    checks.push_back(
        {Topic::Memory, CheckState::Ok,
         format_bytes(facts.available_bytes) + " of " + format_bytes(facts.machine.ram_bytes) + " available",
         ""});
    checks.push_back(disk_check(Topic::RunsDisk, facts.runs, kFewRunsBytes));
    checks.push_back(
        disk_check(Topic::CacheDisk, facts.cache, facts.python_there ? kFewRunsBytes : kSetUpBytes));
    checks.push_back(ssh_check(facts));
    return checks;
}

const char* to_string(Topic topic) {
    constexpr const char* kNames[] = {"devices", "engine",    "cuda",       "python",
                                      "memory",  "runs_disk", "cache_disk", "ssh"};
    return kNames[static_cast<size_t>(topic)];
}

const char* to_string(CheckState state) {
    constexpr const char* kNames[] = {"ok", "note", "missing"};
    return kNames[static_cast<size_t>(state)];
}

nlohmann::json checks_to_json(const std::vector<MachineCheck>& checks) {
    nlohmann::json list = nlohmann::json::array();
    for (const MachineCheck& check : checks)
        list.push_back({{"topic", to_string(check.topic)},
                        {"state", to_string(check.state)},
                        {"what", check.what},
                        {"fix", check.fix}});
    return list;
}

int count_ssh_hosts(const std::string& ssh_config) {
    std::set<std::string> hosts;
    std::istringstream lines(ssh_config);
    for (std::string line; std::getline(lines, line);) {
        for (char& c : line) {
            if (c == '=' || c == '\t' || c == '\r' || c == '"') c = ' ';
        }
        std::istringstream words(line);
        std::string word;
        if (!(words >> word) || ::strcasecmp(word.c_str(), "host") != 0) continue;
        while (words >> word) {
            if (word.starts_with('#')) break;
            if (word.find_first_of("*?!") == std::string::npos) hosts.insert(word);
        }
    }
    return static_cast<int>(hosts.size());
}

bool socket_answers(const std::string& path) {
    sockaddr_un address{};
    if (path.size() >= sizeof address.sun_path) return false;
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0) return false;
    const bool answers = ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(socket);
    return answers;
}

}  // namespace ringmaster
