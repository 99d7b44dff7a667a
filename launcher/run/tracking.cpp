#include "launcher/run/tracking.h"

#include <unistd.h>
#include <QProcess>
#include <QStringList>
#include <QTemporaryDir>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

#include "engine/config/document.h"
#include "engine/config/trackers.h"
#include "engine/error.h"
#include "engine/events/limits.h"
#include "launcher/base/files.h"
#include "launcher/base/secrets.h"
#include "launcher/run/request_values.h"

namespace ringmaster {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr int kCheckMs = 30'000;
constexpr size_t kMostTrackers = 16;

std::string new_id() {
    std::random_device source;
    std::string text;
    for (int i = 0; i < 12; ++i) text += "0123456789abcdef"[source() % 16];
    return text;
}

void leave_out_secrets(Json& values) {
    if (values.is_array()) {
        for (Json& value : values) leave_out_secrets(value);
    }
    if (!values.is_object()) return;
    for (auto at = values.begin(); at != values.end();) {
        leave_out_secrets(*at);
        at = names_secret(at.key()) ? values.erase(at) : std::next(at);
    }
}

/// Returns the settings; null if the request asks for no tracker.
Json settings_of(const Request& request, const std::string& id) {
    Json values = values_of(request);
    RequestedTrackers wish = requested_trackers(values);
    if (wish.names.empty()) return {};
    std::set<std::string> secrets =
        secrets_of_document(values.dump(-1, ' ', false, Json::error_handler_t::replace));
    secrets.merge(secrets_of_environment());
    for (const char* tracker_key : {"wandb_", "mlflow_", "hf_mlflow_", "comet_", "trackio_", "use_"})
        std::erase_if(values.get_ref<Json::object_t&>(),
                      [&](const auto& one) { return one.first.starts_with(tracker_key); });
    leave_out_secrets(values);
    mask_secrets(values, secrets, {});
    mask_secrets(wish.keys, secrets, {});
    Json trackers = Json::object();
    for (const std::string& name : wish.names) trackers[name] = "node";
    return {{"id", id}, {"trackers", trackers}, {"keys", wish.keys}, {"parameters", values}};
}

std::string id_of(const RunDirectory& run) {
    try {
        return read_json_file(tracking_settings(run)).value("id", new_id());
    } catch (const std::exception&) {
        return new_id();
    }
}

/// Returns the machine that sends to each tracker: tracker → "node" or "launcher".
std::map<std::string, std::string> senders_of(const RunDirectory& run) {
    try {
        return read_json_file(tracking_settings(run))
            .at("trackers")
            .get<std::map<std::string, std::string>>();
    } catch (const Json::exception&) {
        return {};
    }
}

/// Returns true if `sender` ("any": all senders) has sent everything, as its processes recorded.
bool is_all_sent(const RunDirectory& run, const std::string& sender) {
    std::error_code none;
    for (const auto& [name, by] : senders_of(run)) {
        const bool ours = sender == "any" || by == sender;
        if (ours && !fs::exists(run.dir / "tracking" / (name + ".done"), none)) return false;
    }
    return true;
}

bool sends_from_here(const RunDirectory& run) {
    const std::map<std::string, std::string> senders = senders_of(run);
    return std::any_of(senders.begin(), senders.end(),
                       [](const auto& one) { return one.second == "launcher"; });
}

bool is_over_now(const RunDirectory& run) {
    return is_over(read_run_state(run.dir).state);
}

bool is_of_other_machines(const RunDirectory& run) {
    std::error_code none;
    return fs::exists(run.dir / "remote.json", none);
}

}  // namespace

fs::path tracking_settings(const RunDirectory& run) {
    return run.dir / "tracking" / "settings.json";
}

bool has_trackers(const RunDirectory& run) {
    std::error_code none;
    return fs::is_regular_file(tracking_settings(run), none);
}

TrackerStates parse_tracker_states(const std::string& text) {
    TrackerStates states;
    std::istringstream lines(text.substr(0, size_t{64} << 10));
    for (std::string line; states.size() < kMostTrackers && std::getline(lines, line);) {
        std::vector<std::string> words(1);
        for (const char c : line) c == '\t' ? void(words.emplace_back()) : words.back().push_back(c);
        if (words.size() != 5) continue;
        for (std::string& word : words) limits::cut(word, limits::kName);
        states[words[0]] = {words[1], words[2] == "file", words[3], printable(words[4])};
    }
    return states;
}

TrackerStates tracker_states_here(const fs::path& settings, const Places& places) {
    QProcess agent;
    agent.setStandardInputFile(QProcess::nullDevice());
    agent.start(QString::fromStdString(places.agent().string()),
                {QStringLiteral("--trackers"), QString::fromStdString(settings.string())});
    if (!agent.waitForFinished(kCheckMs)) {
        agent.kill();
        agent.waitForFinished();
    }
    return parse_tracker_states(agent.readAllStandardOutput().toStdString());
}

const char* sender_of(const TrackerState& node, const TrackerState& here) {
    const bool node_can = node.state == "ready", here_can = here.state == "ready";
    if (node.is_file || here.is_file) return here_can || !node_can ? "launcher" : "node";
    if (node_can || here_can) return node_can ? "node" : "launcher";
    return node.state == "client" ? "node" : "launcher";
}

void write_tracking(const RunDirectory& run, const Request& request, const Config& config) {
    Json settings = settings_of(request, id_of(run));
    std::error_code none;
    if (settings.is_null()) {
        fs::remove(tracking_settings(run), none);
        return;
    }
    settings["run"] = run.name();
    settings["base_dir"] = config.base_dir;
    settings["output_dir"] = config.output_dir;
    make_folder(run.dir / "tracking");
    write_file(tracking_settings(run), settings.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Diagnostic tracker_finding(const std::string& name, const TrackerState& state) {
    const std::string& problem = state.problem;
    const char* form = problem == "key" ? "key" : problem == "password" ? "password" : "client";
    return finding(Severity::Warning, Form("TRACKER-SETUP", form), "", 0,
                   {{"tracker", tracker_title(name)}, {"remedy", state.remedy}});
}

Diagnostics tracker_findings(const Request& request, const Places& places) {
    Diagnostics findings;
    const Json settings = settings_of(request, "plan");
    const QTemporaryDir folder;
    if (settings.is_null() || !folder.isValid()) return findings;
    const fs::path file = fs::path(folder.path().toStdString()) / "tracking" / "settings.json";
    make_folder(file.parent_path());
    write_file(file, settings.dump(-1, ' ', false, Json::error_handler_t::replace));
    for (const auto& [name, state] : tracker_states_here(file, places)) {
        if (state.state != "ready") findings.push_back(tracker_finding(name, state));
    }
    return findings;
}

void track_from_here(const RunDirectory& run, const Places& places) {
    if (!has_trackers(run)) return;
    const bool mirrored = is_of_other_machines(run), over = is_over_now(run);
    const std::string sender = mirrored ? "launcher" : "any";
    if (mirrored ? !sends_from_here(run) : !over) return;
    if (over && is_all_sent(run, sender)) return;
    QStringList arguments = {QStringLiteral("--track"), QString::fromStdString(run.dir.string()),
                             QStringLiteral("--sender"), QString::fromStdString(sender)};
    if (!over) arguments << QStringLiteral("--with") << QString::number(getpid());
    QProcess agent;
    agent.setProgram(QString::fromStdString(places.agent().string()));
    agent.setArguments(arguments);
    agent.setStandardInputFile(QProcess::nullDevice());
    agent.setStandardOutputFile(QProcess::nullDevice());
    agent.setStandardErrorFile(QProcess::nullDevice());
    agent.startDetached();
}

}  // namespace ringmaster
