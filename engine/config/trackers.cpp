#include "engine/config/trackers.h"

#include <algorithm>
#include <array>

#include "engine/config/keys.h"
#include "engine/config/sections.h"

namespace ringmaster {
namespace {

struct Tracker {
    const char* name;  ///< name in settings.json; null: nothing is sent to the tracker
    const char* title;
    std::array<const char*, 2> keys;  ///< keys of which any one switches the tracker on
};
constexpr std::array<Tracker, 7> kTrackers{{
    {"wandb", "Weights & Biases", {"use_wandb", "wandb_project"}},
    {"mlflow", "MLflow", {"use_mlflow", "mlflow_experiment_name"}},
    {"comet", "Comet", {"use_comet", "comet_project_name"}},
    {"trackio", "trackio", {"use_trackio", "trackio_project_name"}},
    {"tensorboard", "TensorBoard", {"use_tensorboard", nullptr}},
    {nullptr, "SwanLab", {"use_swanlab", "swanlab_project"}},
    {nullptr, "OpenTelemetry", {"use_otel_metrics", nullptr}},
}};

constexpr std::array kObeyed = std::to_array<const char*>({"use_wandb",          "wandb_project",
                                                           "wandb_entity",       "wandb_name",
                                                           "wandb_run_id",       "wandb_mode",
                                                           "use_mlflow",         "mlflow_tracking_uri",
                                                           "mlflow_run_name",    "mlflow_experiment_name",
                                                           "use_comet",          "comet_workspace",
                                                           "comet_project_name", "comet_experiment_key",
                                                           "comet_mode",         "comet_online",
                                                           "use_trackio",        "trackio_project_name",
                                                           "trackio_run_name",   "trackio_space_id",
                                                           "use_tensorboard"});

/// Lists keys that would upload more than numbers, each with the tracker that would receive the upload.
constexpr std::array<std::array<const char*, 2>, 3> kUploads{
    {{"wandb_log_model", "wandb"}, {"wandb_watch", "wandb"}, {"hf_mlflow_log_artifacts", "mlflow"}}};

bool is_asked(const nlohmann::json& values, const char* key) {
    const auto found = key == nullptr ? values.end() : values.find(key);
    return found != values.end() && is_on(*found);
}

/// Returns the key that switches the tracker on; null if none does.
const char* switch_of(const nlohmann::json& values, const Tracker& tracker) {
    const auto key = std::find_if(tracker.keys.begin(), tracker.keys.end(),
                                  [&](const char* one) { return is_asked(values, one); });
    const bool disabled = std::string_view(tracker.title) == "Weights & Biases" &&
                          values.value("wandb_mode", nlohmann::json()) == "disabled";
    return key == tracker.keys.end() || disabled ? nullptr : *key;
}

}  // namespace

RequestedTrackers requested_trackers(const nlohmann::json& values) {
    RequestedTrackers requested;
    for (const Tracker& tracker : kTrackers) {
        if (tracker.name != nullptr && switch_of(values, tracker) != nullptr)
            requested.names.emplace_back(tracker.name);
    }
    for (const char* key : kObeyed) {
        if (const auto found = values.find(key); found != values.end()) requested.keys[key] = *found;
    }
    return requested;
}

bool is_tracker_key(std::string_view key) {
    return std::find(kObeyed.begin(), kObeyed.end(), key) != kObeyed.end();
}

std::string tracker_title(const std::string& name) {
    const auto found = std::find_if(kTrackers.begin(), kTrackers.end(), [&](const Tracker& one) {
        return one.name != nullptr && one.name == name;
    });
    return found == kTrackers.end() ? name : found->title;
}

void say_trackers(KeyReader& keys) {
    const nlohmann::json& values = keys.document().values;
    for (const Tracker& tracker : kTrackers) {
        if (const char* key = switch_of(values, tracker)) {
            keys.inform(Form("KEY-TRACKER", tracker.name == nullptr ? "nothing" : "sent"), key,
                        {{"tracker", tracker.title}});
        }
    }
    const std::vector<std::string> names = requested_trackers(values).names;
    for (const auto& [key, tracker] : kUploads) {
        if (is_asked(values, key) && std::find(names.begin(), names.end(), tracker) != names.end())
            keys.inform(Form("KEY-TRACKER", "numbers"), key, {{"tracker", tracker_title(tracker)}});
    }
}

}  // namespace ringmaster
