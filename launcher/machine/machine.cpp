#include "launcher/machine/machine.h"

#include <sched.h>
#include <unistd.h>

#include <QProcess>
#include <QStringList>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr int kSmiTimeoutMs = 10'000;

std::string trimmed(const std::string& text) {
    const size_t first = text.find_first_not_of(" \t\r");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

template <class Number>
std::optional<Number> to_number(const std::string& text) {
    Number number{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

/// Lists the GPUs that the driver knows, for a machine on which nvidia-smi gives no answer.
std::vector<Gpu> gpus_of_driver() {
    std::vector<Gpu> gpus;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator("/proc/driver/nvidia/gpus", none)) {
        gpus.push_back(
            {static_cast<int>(gpus.size()), "", "NVIDIA GPU " + entry.path().filename().string(), 0});
    }
    return gpus;
}

/// Asks nvidia-smi for `fields` and returns its GPUs; none if it rejects a field or does not answer.
std::vector<Gpu> ask_nvidia_smi(const QString& fields) {
    QProcess smi;
    smi.setProcessChannelMode(QProcess::SeparateChannels);
    smi.start(QStringLiteral("nvidia-smi"),
              {QStringLiteral("--query-gpu=") + fields, QStringLiteral("--format=csv,noheader,nounits")});
    if (smi.waitForFinished(kSmiTimeoutMs) && smi.exitStatus() == QProcess::NormalExit && smi.exitCode() == 0)
        return parse_nvidia_smi(smi.readAllStandardOutput().toStdString());
    smi.kill();
    smi.waitForFinished(1000);
    return {};
}

std::vector<Gpu> all_gpus() {
    if (!fs::exists("/proc/driver/nvidia/version") && !fs::exists("/dev/nvidiactl")) return {};
    const QString fields = QStringLiteral("index,uuid,name,memory.total");
    for (const QString& asked : {fields + QStringLiteral(",compute_cap"), fields}) {
        if (auto gpus = ask_nvidia_smi(asked); !gpus.empty()) return gpus;
    }
    return gpus_of_driver();
}

int usable_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
    return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
}

std::string processor_name() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("model name"))
            return trimmed(line.substr(std::min(line.size(), line.find(':') + 1)));
    }
    return "";
}

}  // namespace

Machine this_machine() {
    Machine machine;
    char host[256] = {};
    gethostname(host, sizeof host - 1);
    machine.host = host;
    machine.processor = processor_name();
    machine.cores = usable_cores();
    machine.threads = std::max(0, qEnvironmentVariableIntValue("OMP_NUM_THREADS"));
    machine.ram_bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    machine.gpus =
        visible_gpus(all_gpus(), visible == nullptr ? std::nullopt : std::optional<std::string>(visible));
    return machine;
}

std::vector<Gpu> parse_nvidia_smi(const std::string& text) {
    std::vector<Gpu> gpus;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::vector<std::string> fields;
        std::istringstream parts(line);
        for (std::string field; std::getline(parts, field, ',');) fields.push_back(trimmed(field));
        if (fields.size() != 4 && fields.size() != 5) continue;
        const auto index = to_number<int>(fields[0]);
        if (!index) continue;
        gpus.push_back({*index, fields[1], fields[2], to_number<int64_t>(fields[3]).value_or(0) << 20,
                        fields.size() > 4 ? fields[4] : ""});
    }
    return gpus;
}

std::vector<Gpu> visible_gpus(const std::vector<Gpu>& gpus,
                              const std::optional<std::string>& cuda_visible_devices) {
    if (!cuda_visible_devices) return gpus;
    std::vector<Gpu> visible;
    std::istringstream names(*cuda_visible_devices);
    for (std::string name; std::getline(names, name, ',');) {
        name = trimmed(name);
        if (name.starts_with("MIG-")) {  // a slice of a GPU, which nvidia-smi's list does not contain
            visible.push_back({-1, name, "MIG device", 0});
            continue;
        }
        const auto index = to_number<int>(name);
        const auto found = std::find_if(gpus.begin(), gpus.end(), [&](const Gpu& gpu) {
            return index ? gpu.index == *index : name.starts_with("GPU-") && gpu.uuid.starts_with(name);
        });
        if (found == gpus.end()) break;
        visible.push_back(*found);
    }
    return visible;
}

}  // namespace ringmaster
