#include "launcher/nodes/trackers.h"

#include <nlohmann/json.hpp>

#include "launcher/alerts/settings.h"
#include "launcher/base/files.h"
#include "launcher/nodes/stage.h"
#include "launcher/run/tracking.h"

namespace ringmaster {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr const char* kPackage = "ringmaster_track";

/// Returns the package's files and their places on the node, where its agent looks for them.
std::vector<StagedFile> package_files(const RemoteNode& there, const Places& places) {
    const fs::path prefix = fs::path(there.agent).parent_path().parent_path();
    std::vector<StagedFile> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(places.share_dir / kPackage)) {
        if (entry.path().extension() != ".py") continue;
        const fs::path to = prefix / "share/ringmaster" / kPackage / entry.path().filename();
        files.push_back({entry.path(), to.string(), false});
    }
    return files;
}

TrackerStates states_there(Node& node, const RemoteNode& there, const std::string& settings) {
    const StartCommand ask{{}, {there.agent, "--trackers", settings}};
    return parse_tracker_states(run_script(*node.session, shell_line(ask)).out);
}

/// Warns about a tracker that neither machine can send to.
void say_not_set_up(const std::string& name, const TrackerState& there, const TrackerState& here,
                    const std::string& host, const Progress& progress) {
    if (there.state == "ready" || here.state == "ready") return;
    progress.warn(tracker_finding(name, here).message + " (" + tracker_finding(name, here).hint +
                  "); nor is it set up on " + host);
}

}  // namespace

void place_trackers(Node& node, const RemoteNode& there, const RunDirectory& run, const Places& places,
                    const Progress& progress) {
    const AlertSettings alerts = read_alert_settings(alert_settings_file(run.dir));
    if (has_trackers(run) || !alerts.webhook.empty())
        stage_files(node, package_files(there, places), progress);
    if (alerts.is_delivered()) {
        const std::string to = alert_settings_file(there.run_dir).string();
        write_remote_file(*node.session, to, alert_settings_text(alerts));
    }
    if (!has_trackers(run)) return;
    const std::string file = there.run_dir + "/tracking/settings.json";
    Json settings = read_json_file(tracking_settings(run));
    write_remote_file(*node.session, file, settings.dump(2) + "\n");
    TrackerStates on_node = states_there(node, there, file);
    TrackerStates here = tracker_states_here(tracking_settings(run), places);
    for (auto& [name, sender] : settings.at("trackers").items()) {
        sender = sender_of(on_node[name], here[name]);
        say_not_set_up(name, on_node[name], here[name], node.name(), progress);
    }
    write_remote_file(*node.session, file, settings.dump(2) + "\n");
    write_file(tracking_settings(run), settings.dump(2) + "\n");
}

}  // namespace ringmaster
