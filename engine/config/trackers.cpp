// Trackers that a file asks for (Weights & Biases and others): nothing is sent to them, which never stops a
// run.
#include <algorithm>
#include <array>

#include "engine/config/keys.h"
#include "engine/config/sections.h"

namespace ringmaster {
namespace {

struct Tracker {
    const char* name;
    std::array<const char*, 3> keys;  ///< any of them switches it on
};
constexpr std::array<Tracker, 6> kTrackers{{
    {"Weights & Biases", {"use_wandb", "wandb_project", "wandb_name"}},
    {"MLflow", {"use_mlflow", "mlflow_tracking_uri", "mlflow_experiment_name"}},
    {"Comet", {"use_comet", "comet_project_name", "comet_experiment_key"}},
    {"trackio", {"use_trackio", "trackio_project_name", "trackio_run_name"}},
    {"SwanLab", {"use_swanlab", "swanlab_project", "swanlab_experiment_name"}},
    {"TensorBoard", {"use_tensorboard", nullptr, nullptr}},
}};

bool is_asked(KeyReader& keys, const char* key) {
    const nlohmann::json* value = key == nullptr ? nullptr : keys.find(key);
    return value && is_on(*value);
}

}  // namespace

void say_trackers(KeyReader& keys) {
    for (const Tracker& tracker : kTrackers) {
        const auto key = std::find_if(tracker.keys.begin(), tracker.keys.end(),
                                      [&](const char* one) { return is_asked(keys, one); });
        if (key == tracker.keys.end()) continue;
        keys.inform(Form("KEY-TRACKER"), *key, {{"tracker", tracker.name}});
    }
}

}  // namespace ringmaster
