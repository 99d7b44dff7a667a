#include "launcher/machine/machine_figures.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/events/bounded_json.h"
#include "engine/plan/measured.h"
#include "engine/plan/speeds.h"
#include "launcher/base/child.h"
#include "launcher/base/files.h"

namespace ringmaster {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr size_t kKeptMeasurements = 200;

/// Replaces every character of the name that a file name should not contain.
std::string as_file_name(const std::string& name) {
    std::string made;
    for (const char c : name) {
        const bool plain =
            std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '@';
        made += plain ? c : '_';
    }
    return made.empty() || made.front() == '.' ? "_" + made : made;
}

fs::path folder_of(const Places& places, const Machine& machine) {
    return places.cache_dir / "figures" / as_file_name(machine.host);
}

fs::path calibration_file(const Places& places, const Machine& machine, const std::string& device) {
    return folder_of(places, machine) / ("calibration-" + as_file_name(device) + ".json");
}

fs::path measurements_file(const Places& places, const Machine& machine) {
    return folder_of(places, machine) / "measurements.json";
}

/// Returns an empty object if the file is missing or holds no JSON object.
json read_or_empty(const fs::path& file) {
    std::error_code none;
    if (!fs::exists(file, none)) return json::object();
    try {
        return read_json_file(file);
    } catch (const Error&) {
        return json::object();
    }
}

bool is_of(const Machine& machine, const Calibration& calibration) {
    return calibration.host == machine.host && calibration.processor == machine.processor &&
           (calibration.device != "cpu" || calibration.cores == machine.cores);
}

/// Returns the hardware that measurements depend on besides the host. Measurements of another
/// processor or of other GPUs are not used.
std::string hardware_of(const Machine& machine) {
    std::string text = machine.processor + ", " + std::to_string(machine.cores) + " cores";
    for (const Gpu& gpu : machine.gpus) text += ", " + gpu.name;
    return text;
}

/// Returns the name that all GPUs share; empty if they differ or there are none.
std::string gpu_name(const Machine& machine) {
    if (machine.gpus.empty()) return "";
    const std::string& name = machine.gpus.front().name;
    const bool alike = std::all_of(machine.gpus.begin(), machine.gpus.end(),
                                   [&](const Gpu& gpu) { return gpu.name == name; });
    return alike ? name : "";
}

}  // namespace

std::vector<Calibration> known_calibrations(const Places& places, const Machine& machine) {
    std::vector<Calibration> known;
    if (places.cache_dir.empty() || machine.host.empty()) return known;
    for (const std::string& device : {std::string("cpu"), gpu_name(machine)}) {
        if (device.empty()) continue;
        const fs::path file = calibration_file(places, machine, device);
        const json content = read_or_empty(file);
        if (content.empty()) continue;
        try {
            Calibration calibration = calibration_from_json(content, file.string());
            if (calibration.device == device && is_of(machine, calibration))
                known.push_back(std::move(calibration));
        } catch (const Error&) {
            continue;
        }
    }
    return known;
}

std::vector<Measurement> known_measurements(const Places& places, const Machine& machine) {
    std::vector<Measurement> known;
    if (places.cache_dir.empty() || machine.host.empty()) return known;
    const json content = read_or_empty(measurements_file(places, machine));
    if (!content.contains("hardware") || content.at("hardware") != hardware_of(machine) ||
        !content.contains("runs"))
        return known;
    for (const json& entry : content.at("runs")) {
        try {
            known.push_back(measurement_from_json(entry));
        } catch (const Error&) {
            continue;
        }
    }
    std::erase_if(known, [](const Measurement& m) { return m.version != RINGMASTER_VERSION; });
    return known;
}

fs::path keep_calibration(const Places& places, const Machine& machine, const Calibration& calibration) {
    make_folder(folder_of(places, machine));
    const fs::path file = calibration_file(places, machine, calibration.device);
    write_file(file, calibration_to_json(calibration).dump(2) + "\n");
    return file;
}

fs::path keep_measurement(const Places& places, const Machine& machine, const Measurement& measurement) {
    std::vector<Measurement> known = known_measurements(places, machine);
    std::erase_if(known, [&](const Measurement& m) {
        return m.family == measurement.family && m.run == measurement.run;
    });
    known.push_back(measurement);
    if (known.size() > kKeptMeasurements) known.erase(known.begin());
    json runs = json::array();
    for (const Measurement& m : known) runs.push_back(measurement_to_json(m));
    make_folder(folder_of(places, machine));
    const fs::path file = measurements_file(places, machine);
    write_file(file, json{{"hardware", hardware_of(machine)}, {"runs", std::move(runs)}}.dump(2) + "\n");
    return file;
}

bool CalibrationLines::take(const std::string& line) {
    const json said = try_bounded_json(line, {1 << 20, 16, 1 << 14});
    if (!said.is_object()) return true;
    if (said.contains("result")) {
        result_ = calibration_from_json(said.at("result"), "what the engine measured");
    } else if (said.contains("phase") && said.at("phase").is_string()) {
        ProgressStep step{"measure", {said.at("phase").get<std::string>()}};
        step.done = said.value("done", int64_t{0});
        step.total = said.value("total", int64_t{0});
        progress_.report(step);
    }
    return false;
}

Calibration CalibrationLines::result(const Machine& machine, bool cuda) const {
    if (!result_)
        throw Error(Failure::Unreachable, Code("PROGRAM-FAILED"), "the engine measured nothing",
                    machine.host);
    Calibration made = *result_;
    made.host = machine.host;
    made.processor = machine.processor;
    if (cuda) made.device = gpu_name(machine);
    return made;
}

std::vector<std::string> calibration_arguments(const Machine& machine, const Calibrated& what) {
    std::vector<std::string> arguments = {"--calibrate", "--device", what.cuda ? "cuda" : "cpu"};
    if (!what.disk.empty()) arguments.insert(arguments.end(), {"--disk", what.disk});
    if (!what.cuda) return arguments;
    if (gpu_name(machine).empty()) {
        throw Error(Failure::Unreachable, Code("ENGINE-DEVICE"),
                    machine.gpus.empty() ? "no GPU is seen" : "its GPUs are not alike", machine.host,
                    machine.gpus.empty() ? "--device cpu measures its processor"
                                         : "CUDA_VISIBLE_DEVICES chooses those of one kind");
    }
    arguments.insert(arguments.end(), {"--devices", std::to_string(machine.gpus.size())});
    return arguments;
}

Calibration calibrate_here(const Places& places, const Machine& machine, const Calibrated& what,
                           const Progress& progress) {
    std::error_code none;
    if (!fs::exists(places.engine(), none)) {
        throw Error(Failure::Unreachable, Code("PROGRAM-MISSING"),
                    "is missing: there is nothing to measure with", places.engine().string(),
                    "build or install Ringmaster again");
    }
    const ChildProgram engine{places.engine().string(), calibration_arguments(machine, what),
                              "ringmaster-engine --calibrate",
                              "`ringmaster setup` installs LibTorch; `ringmaster --version` tells whether "
                              "the engine starts"};
    CalibrationLines lines(progress);
    ChildWatch watch;
    watch.line = [&lines](const std::string& line) { return lines.take(line); };
    run_child(engine, watch, progress);
    return lines.result(machine, what.cuda);
}

}  // namespace ringmaster
