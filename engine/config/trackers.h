/// Reads which existing trackers (Weights & Biases and others) a file asks for.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ringmaster {

struct RequestedTrackers {
    std::vector<std::string> names;  ///< wandb, mlflow, comet, trackio, tensorboard
    /// The file's keys that trackers read, without secrets.
    nlohmann::json keys = nlohmann::json::object();
};

/// Returns the trackers that the top-level values of a file ask for. As in axolotl, the name of a project
/// switches its tracker on, whatever use_wandb and similar keys say.
RequestedTrackers requested_trackers(const nlohmann::json& values);

/// Returns whether a tracker obeys the key. Such a key has no effect on the training.
bool is_tracker_key(std::string_view key);

/// Returns a tracker's usual name, such as "Weights & Biases"; the word itself if it is unknown.
std::string tracker_title(const std::string& name);

}  // namespace ringmaster
