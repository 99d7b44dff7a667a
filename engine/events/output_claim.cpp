#include "engine/events/output_claim.h"

#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/events/file_lock.h"
#include "engine/events/process_json.h"
#include "engine/events/run_state.h"
#include "engine/files/durable.h"
#include "engine/files/text_file.h"

namespace ringmaster {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

struct Marker {
    std::string run;
    fs::path dir;
    ProcessId process;  ///< process that wrote the marker
};

/// Returns the marker; an empty marker if there is none or an older version wrote the file.
Marker read_marker(const fs::path& output_dir) {
    const std::string text = readable_text(output_dir / kOutputMarker);
    try {
        const Json json = Json::parse(text);
        return {json.at("run"), json.at("dir").get<std::string>(), process_from_json(json.at("process"))};
    } catch (const nlohmann::json::exception&) {
        return {};
    }
}

bool is_living(const Marker& marker) {
    try {
        const RunState state = read_run_state(marker.dir);
        if (is_over(state.state)) return false;
        if (state.state != RunPhase::Queued || state.is_of_slurm()) return true;
        // A queued run is alive only as long as the process that prepared it.
        return marker.process.host == this_host() && is_alive(marker.process);
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

void refuse_held_output(const fs::path& output_dir, const fs::path& run_dir) {
    const Marker held = read_marker(output_dir);
    std::error_code unknown;
    if (held.dir.empty() || fs::equivalent(held.dir, run_dir, unknown) || !is_living(held)) return;
    throw Error(Failure::Refused, Code("OUTPUT-IN-USE"),
                "output_dir is in use by the run " + held.run + " in " + held.dir.string(),
                output_dir.string(),
                "another output_dir (--set output_dir=…), or wait for its end: `ringmaster watch " +
                    held.run + "` shows it");
}

void claim_output(const fs::path& output_dir, const fs::path& run_dir, const std::string& run_name) {
    std::error_code problem;
    fs::create_directories(output_dir, problem);
    if (problem)
        throw Error(Failure::Refused, Code("FILE-WRITE"), "cannot be made: " + problem.message(),
                    output_dir.string());
    const FileLock lock(output_dir);
    refuse_held_output(output_dir, run_dir);
    const Json marker = {{"run", run_name},
                         {"dir", fs::absolute(run_dir).lexically_normal().string()},
                         {"process", to_json(this_process())}};
    write_file_durably(output_dir / kOutputMarker,
                       marker.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace ringmaster
