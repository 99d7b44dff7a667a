#include "launcher/nodes/facts.h"

#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <sstream>

#include "engine/control_characters.h"
#include "engine/error.h"
#include "engine/files/text_file.h"
#include "launcher/base/format.h"
#include "launcher/machine/gpu_age.h"
#include "launcher/nodes/from_node.h"
#include "launcher/run/local_node.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kLeastDisk = int64_t{1} << 30;
constexpr const char* kCuda = "13.0";        ///< version of CUDA in LibTorch's wheel
constexpr const char* kLeastDriver = "580";  ///< oldest driver for CUDA 13, from NVIDIA's release notes

/// Script in POSIX sh that prints `key value` lines; a value is the rest of the line. The caller puts
/// TORCH_HERE and TORCH_VERSION before it.
constexpr const char* kAsk = R"sh(
say() { printf '%s %s\n' "$1" "$(printf '%s' "$2" | tr '\n\r\t' '   ')"; }
quick() { if command -v timeout >/dev/null 2>&1; then timeout 20 "$@"; else "$@"; fi; }
say host_name "$(uname -n)"
say system "$(uname -s)"
say architecture "$(uname -m)"
say boot_id "$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
say glibc "$(getconf GNU_LIBC_VERSION 2>/dev/null)"
say cores "$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)"
say memory_kb "$(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo 2>/dev/null)"
say available_kb "$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo 2>/dev/null)"
say home "$HOME"
say clock "$(date +%s)"
address=$(printf '%s' "${SSH_CONNECTION:-}" | cut -d' ' -f3)
say address "$address"
say interface "$(ip -o addr show to "$address" 2>/dev/null | head -n 1 | tr -s ' ' | cut -d' ' -f2)"
say infiniband "$(ls /sys/class/infiniband 2>/dev/null)"
if command -v sha256sum >/dev/null 2>&1; then say sha256sum yes; fi
data=${XDG_DATA_HOME:-$HOME/.local/share}/ringmaster
say data_dir "$data"
above=$data
while [ ! -e "$above" ] && [ "$above" != / ] && [ "$above" != . ]; do above=$(dirname "$above"); done
probe=$data/.probe-$$
if problem=$( { mkdir -p "$data" && printf '#!/bin/sh\nexit 0\n' >"$probe" && chmod 700 "$probe"; } 2>&1 ); then
    say writable yes
    if "$probe" 2>/dev/null; then say executable yes; fi
else
    say write_problem "$problem"
    if [ -d "$data" ] && [ -w "$data" ] && [ "$(df -Pk "$data" | tail -n 1 | tr -s ' ' | cut -d' ' -f4)" -lt 64 ]; then say disk_full yes; fi
fi
rm -f "$probe" 2>/dev/null
say disk_kb "$(df -Pk "$data" 2>/dev/null | tail -n 1 | tr -s ' ' | cut -d' ' -f4)"
made=$data  # looking leaves nothing behind: the folders that were not there go again
while [ "$made" != "$above" ] && rmdir "$made" 2>/dev/null; do made=$(dirname "$made"); done
driver=$(sed -n 's/^NVRM version:.*  \([0-9][0-9.]*\)  .*/\1/p' /proc/driver/nvidia/version 2>/dev/null)
if command -v nvidia-smi >/dev/null 2>&1; then
    [ -n "$driver" ] || driver=$(quick nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | sed -n '/^[0-9][0-9.]*$/{p;q;}')
    say driver_cuda "$(quick nvidia-smi 2>/dev/null | sed -n 's/.*CUDA \(UMD \)\{0,1\}Version: *\([0-9][0-9.]*\).*/\2/p' | head -n 1)"
    fields=index,memory.total,memory.used,uuid,name
    gpus=$(quick nvidia-smi --query-gpu=$fields,compute_cap --format=csv,noheader,nounits 2>/dev/null) ||
        gpus=$(quick nvidia-smi --query-gpu=$fields --format=csv,noheader,nounits 2>/dev/null)
    printf '%s\n' "$gpus" | while IFS= read -r line; do
        say gpu "$line"
    done
    quick nvidia-smi --query-compute-apps=gpu_uuid,pid --format=csv,noheader,nounits 2>/dev/null | tr -d ',' | while read -r uuid pid; do
        say gpu_process "$uuid $(ps -o user= -p "$pid" 2>/dev/null)"
    done
fi
say driver "$driver"
try_torch() {
    [ -e "$1/libtorch_cpu.so" ] || return 1
    version=$(sed -n "s/^__version__ = '\([0-9.]*\).*/\1/p" "$1/../version.py" 2>/dev/null)
    if [ "$version" = "$TORCH_VERSION" ]; then say libtorch "$1"; return 0; fi
    say other_libtorch "$version, $1"
    return 1
}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/ringmaster/venv-torch-$TORCH_VERSION
where='import importlib.util, os; s = importlib.util.find_spec("torch"); print(os.path.join(os.path.dirname(s.origin), "lib"))'
in_modules='. "$1" >/dev/null 2>&1
module -t avail 2>&1 | sed "s/(.*//" | grep -i torch | head -n 8 | while IFS= read -r name; do
    (module load "$name" >/dev/null 2>&1; exec python3 -c "$2")
done'
find_torch() {
    [ -n "$TORCH_HERE" ] && try_torch "$TORCH_HERE" && return 0
    try_torch "$data/libtorch/$TORCH_VERSION/torch/lib" && return 0
    for env in "$cache" "/var/lib/ringmaster/venv-torch-$TORCH_VERSION" "${VIRTUAL_ENV:-/nowhere}" "${CONDA_PREFIX:-/nowhere}" \
        "$HOME"/venv "$HOME"/.venv "$HOME"/venvs/* "$HOME"/miniconda3 "$HOME"/miniconda3/envs/* "$HOME"/anaconda3/envs/* \
        "$HOME"/miniforge3/envs/* "$HOME"/.conda/envs/* /opt/conda /opt/conda/envs/* /opt/venv; do
        for lib in "$env"/lib/python3*/site-packages/torch/lib; do try_torch "$lib" && return 0; done
    done
    for python in python3 python; do
        lib=$(quick "$python" -c "$where" 2>/dev/null) && try_torch "$lib" && return 0
    done
    for init in "${MODULESHOME:-/nowhere}/init/sh" /etc/profile.d/lmod.sh /etc/profile.d/modules.sh; do
        [ -r "$init" ] || continue
        quick sh -c "$in_modules" sh "$init" "$where" 2>/dev/null | { while IFS= read -r lib; do try_torch "$lib" && exit 0; done; exit 1; } && return 0
    done
    return 1
}
can_pip() { quick python3 -c 'import pip' 2>/dev/null || quick python3 -c 'import venv, ensurepip' 2>/dev/null; }
find_torch || { can_pip && say pip yes; }
say end ok
)sh";

constexpr int64_t kMostKib = int64_t{1} << 40;  ///< a pebibyte
constexpr int64_t kMostMib = kMostKib >> 10;
constexpr int64_t kMostCores = 1 << 16;
constexpr size_t kMostGpus = 1024;
constexpr size_t kMostUsers = 64;    ///< users of one GPU
constexpr size_t kMostDevices = 64;  ///< InfiniBand devices

/// Returns the number at the start of the text; 0 if there is none, or if it is below 0 or above `most`.
int64_t whole(const std::string& text, int64_t most) {
    int64_t value = 0;
    const size_t begin = text.find_first_not_of(' ');
    if (begin != std::string::npos) std::from_chars(text.data() + begin, text.data() + text.size(), value);
    return value < 0 || value > most ? 0 : value;
}

/// Returns the text if it has only letters, digits and the punctuation of addresses and device names; else
/// "".
std::string name_of(const std::string& text) {
    const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
               std::string_view(".:%@_-").find(c) != std::string_view::npos;
    });
    return is_plain ? text : "";
}

std::string path_of(const std::string& text) {
    return is_node_path(text) ? text : "";
}

/// Parses a line such as "0, 81559, 12, GPU-…, NVIDIA H100, 9.0".
void take_gpu(NodeFacts& facts, std::vector<std::string>& uuids, const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream parts(line);
    for (std::string part; std::getline(parts, part, ',');) {
        const size_t begin = part.find_first_not_of(' ');
        fields.push_back(begin == std::string::npos ? "" : part.substr(begin));
    }
    if (fields.size() < 5 || facts.gpus.size() >= kMostGpus) return;
    facts.gpus.push_back({static_cast<int>(whole(fields[0], kMostGpus)),
                          fields[4],
                          whole(fields[1], kMostMib) << 20,
                          whole(fields[2], kMostMib) << 20,
                          {},
                          fields.size() > 5 ? name_of(fields[5]) : ""});
    uuids.push_back(fields[3]);
}

void take_gpu_process(NodeFacts& facts, const std::vector<std::string>& uuids, const std::string& value) {
    const size_t blank = value.find(' ');
    if (blank == std::string::npos) return;
    const auto at = std::find(uuids.begin(), uuids.end(), value.substr(0, blank));
    const std::string user = value.substr(blank + 1);
    if (at == uuids.end() || user.empty()) return;
    std::vector<std::string>& users = facts.gpus[static_cast<size_t>(at - uuids.begin())].users;
    if (users.size() < kMostUsers && std::find(users.begin(), users.end(), user) == users.end())
        users.push_back(user);
}

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream words(line);
    std::vector<std::string> names;
    for (std::string word; names.size() < kMostDevices && words >> word;) {
        if (word == name_of(word)) names.push_back(word);
    }
    return names;
}

NodeFinding what_libtorch_lacks(const NodeFacts& facts, const ProgramNeeds& needs) {
    if (!facts.other_libtorch.empty()) return {"other-libtorch", {needs.torch_version, facts.other_libtorch}};
    return {facts.has_pip ? "no-libtorch" : "no-libtorch-no-pip", {needs.torch_version}};
}

/// Returns the first reason why the machine cannot train; no code if there is none.
NodeFinding what_prevents(const NodeFacts& facts, const ProgramNeeds& needs) {
    if (facts.system != "Linux") return {"other-system", {facts.system}};
    if (facts.architecture != needs.architecture)
        return {"other-architecture", {facts.architecture, needs.architecture}};
    if (facts.glibc.empty()) return {"no-glibc", {needs.glibc}};
    if (is_older(facts.glibc, needs.glibc)) return {"old-glibc", {facts.glibc, needs.glibc}};
    if (!facts.is_writable) {
        if (facts.is_full || facts.write_problem.find("No space left") != std::string::npos)
            return {"disk-full", {facts.data_dir}};
        return {"not-writable", {facts.data_dir, facts.write_problem}};
    }
    if (!facts.is_executable) return {"noexec", {facts.data_dir}};
    if (!facts.has_sha256sum) return {"no-sha256sum"};
    if (facts.disk_free_bytes < kLeastDisk)
        return {"little-disk", {facts.data_dir, format_bytes(facts.disk_free_bytes)}};
    if (facts.libtorch.empty()) return what_libtorch_lacks(facts, needs);
    return {};
}

NodeFinding what_is_worth_knowing(const NodeFacts& facts) {
    if (const NodeFinding lacks = what_driver_lacks(facts); !lacks.code.empty()) return lacks;
    if (const NodeFinding lacks = what_gpus_lack(facts, facts.gpus.size()); !lacks.code.empty()) return lacks;
    for (const NodeGpu& gpu : facts.gpus) {
        if (gpu.users.empty()) continue;
        std::string users;
        for (const std::string& user : gpu.users) users += (users.empty() ? "" : ", ") + user;
        return {"gpu-in-use", {std::to_string(gpu.index), users, format_bytes(gpu.used_bytes)}};
    }
    if (std::abs(facts.clock_ahead_s) > kClockTolerance_s) {
        return {facts.clock_ahead_s > 0 ? "clock-ahead" : "clock-behind",
                {format_duration(std::abs(facts.clock_ahead_s))}};
    }
    if (!facts.noise.empty()) return {"noisy-shell", {facts.noise}};
    return {};
}

NodeFinding in_short(const NodeFacts& facts) {
    NodeFinding ready{"ready",
                      {std::to_string(facts.cores), format_bytes(facts.available_bytes),
                       format_bytes(facts.memory_bytes), format_bytes(facts.disk_free_bytes)}};
    if (facts.gpus.empty()) return ready;
    ready.code = "ready-gpu";
    ready.with.insert(ready.with.end(),
                      {std::to_string(facts.gpus.size()), facts.gpus.front().name, facts.driver});
    return ready;
}

std::string first_line(const std::string& text) {
    constexpr size_t kShown = 80;
    const size_t begin = text.find_first_not_of("\n\r \t");
    if (begin == std::string::npos) return {};
    std::string line = text.substr(begin, text.find_first_of("\n\r", begin) - begin);
    line = without_controls(std::move(line), '?');
    return line.size() > kShown ? line.substr(0, kShown) + "…" : line;
}

}  // namespace

bool is_older(const std::string& version, const std::string& than) {
    std::istringstream a(version), b(than);
    while (a.good() || b.good()) {
        std::string x, y;
        std::getline(a, x, '.');
        std::getline(b, y, '.');
        const int64_t first = whole(x, kMostKib), second = whole(y, kMostKib);
        if (first != second) return first < second;
    }
    return false;
}

const char* to_string(NodeVerdict state) {
    constexpr const char* kWords[] = {"ready", "warning", "unusable", "unreachable"};
    return kWords[static_cast<size_t>(state)];
}

ProgramNeeds needs_of(const std::string& engine, const std::string& torch_version) {
    ProgramNeeds needs;
    needs.torch_version = torch_version;
    utsname here{};
    ::uname(&here);
    needs.architecture = here.machine;
    // The binary contains the names of its symbol versions as text.
    const std::string content = readable_text(engine);
    constexpr std::string_view kMark = "GLIBC_2.";
    needs.glibc = "2.17";
    for (size_t at = content.find(kMark); at != std::string::npos; at = content.find(kMark, at + 1)) {
        size_t end = at + kMark.size();
        while (end < content.size() &&
               (std::isdigit(static_cast<unsigned char>(content[end])) != 0 || content[end] == '.'))
            ++end;
        const std::string version = content.substr(at + 6, end - at - 6);
        if (is_older(needs.glibc, version)) needs.glibc = version;
    }
    return needs;
}

NodeFacts parse_facts(const std::string& text) {
    NodeFacts facts;
    std::vector<std::string> uuids;
    bool has_folder = true;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const size_t blank = line.find(' ');
        if (blank == std::string::npos) continue;
        const std::string key = line.substr(0, blank), value = text_of_node(line.substr(blank + 1));
        if (key == "host_name") facts.host_name = value;
        if (key == "system") facts.system = value;
        if (key == "architecture") facts.architecture = value;
        if (key == "boot_id") facts.boot_id = value;
        if (key == "glibc" && value.starts_with("glibc ")) facts.glibc = value.substr(6);
        if (key == "cores") facts.cores = static_cast<int>(whole(value, kMostCores));
        if (key == "memory_kb") facts.memory_bytes = whole(value, kMostKib) << 10;
        if (key == "available_kb") facts.available_bytes = whole(value, kMostKib) << 10;
        if (key == "home") facts.home = path_of(value);
        if (key == "data_dir") has_folder = !(facts.data_dir = path_of(value)).empty();
        if (key == "writable") facts.is_writable = true;
        if (key == "executable") facts.is_executable = true;
        if (key == "write_problem") facts.write_problem = value;
        if (key == "disk_kb") facts.disk_free_bytes = whole(value, kMostKib) << 10;
        if (key == "disk_full") facts.is_full = true;
        if (key == "driver") facts.driver = value;
        if (key == "driver_cuda") facts.driver_cuda = value;
        if (key == "gpu") take_gpu(facts, uuids, value);
        if (key == "gpu_process") take_gpu_process(facts, uuids, value);
        if (key == "libtorch") facts.libtorch = path_of(value);
        if (key == "other_libtorch") facts.other_libtorch = value;
        if (key == "address") facts.address = name_of(value);
        if (key == "interface") facts.interface = name_of(value);
        if (key == "infiniband") facts.infiniband = words_of(value);
        if (key == "sha256sum") facts.has_sha256sum = true;
        if (key == "pip") facts.has_pip = true;
        if (key == "clock")
            facts.clock_ahead_s = static_cast<double>(whole(value, kMostKib) - std::time(nullptr));
    }
    facts.is_writable = facts.is_writable && has_folder;
    return facts;
}

std::string facts_script(const ProgramNeeds& needs) {
    return "TORCH_HERE=" + shell_quoted(needs.torch_here) +
           "\nTORCH_VERSION=" + shell_quoted(needs.torch_version) + kAsk;
}

NodeFacts ask_node(SshSession& session, const ProgramNeeds& needs) {
    const ScriptResult result = run_script(session, facts_script(needs));
    if (result.out.find("\nend ok") == std::string::npos) {
        throw NodeError({"shell-is-none", {result.errors.empty() ? "" : ":\n" + result.errors}},
                        session.host());
    }
    NodeFacts facts = parse_facts(result.out);
    facts.noise = first_line(result.noise);
    return facts;
}

void NodeReport::found(NodeVerdict state_, const NodeFinding& finding_) {
    state = state_;
    finding = finding_;
    message = finding_.message();
    next = finding_.next();
}

NodeFinding what_driver_lacks(const NodeFacts& facts) {
    if (facts.driver.empty()) return {};
    const bool is_old =
        facts.driver_cuda.empty() ? is_older(facts.driver, kLeastDriver) : is_older(facts.driver_cuda, kCuda);
    return is_old ? NodeFinding{"old-driver", {facts.driver, kLeastDriver, kCuda}} : NodeFinding{};
}

NodeFinding what_gpus_lack(const NodeFacts& facts, size_t count) {
    const size_t asked = std::min(count, facts.gpus.size());
    for (size_t i = 0; i < asked; ++i) {
        const NodeGpu& gpu = facts.gpus[i];
        if (is_too_old(gpu.capability))
            return {"old-gpu", {std::to_string(gpu.index), gpu.name, gpu.capability, least_capability()}};
    }
    return {};
}

std::string own_libtorch_dir(const NodeFacts& facts, const ProgramNeeds& needs) {
    return facts.data_dir + "/libtorch/" + needs.torch_version;
}

bool lacks_libtorch(const NodeReport& report) {
    const std::string& code = report.finding.code;
    return code == "no-libtorch" || code == "no-libtorch-no-pip" || code == "other-libtorch";
}

NodeReport judge_node(const std::string& host, const NodeFacts& facts, const ProgramNeeds& needs) {
    NodeReport report;
    report.host = host;
    report.facts = facts;
    if (const NodeFinding prevents = what_prevents(facts, needs); !prevents.code.empty())
        report.found(NodeVerdict::Unusable, prevents);
    else if (const NodeFinding known = what_is_worth_knowing(facts); !known.code.empty())
        report.found(NodeVerdict::Warning, known);
    else
        report.found(NodeVerdict::Ready, in_short(facts));
    return report;
}

}  // namespace ringmaster
