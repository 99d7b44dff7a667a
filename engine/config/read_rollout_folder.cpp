// Reads `trl.rollout_folder` and `trl.rollout_timeout`: rows of rl: grpo that another program writes while
// the run trains. The keys are Ringmaster's; axolotl and TRL have none for this.
#include "engine/config/keys.h"
#include "engine/config/paths.h"
#include "engine/config/sections.h"

namespace ringmaster {
namespace {

using nlohmann::json;

constexpr const char* kFolder = "trl.rollout_folder";
constexpr const char* kTimeout = "trl.rollout_timeout";
constexpr int64_t kLongest_s = 30 * 86400;

/// Keys that name another source of rows, and so conflict with trl.rollout_folder.
constexpr const char* kRows[] = {"datasets", "dataset_prepared_path"};

/// Lists keys that select or reorder rows. These keys conflict with the folder, because they need all rows
/// before the run starts.
constexpr const char* kChoosing[] = {"dataset_exact_deduplication", "dataset_shard_num",
                                     "shuffle_merged_datasets", "shuffle_before_merging_datasets"};

bool is_switched_on(KeyReader& keys, const char* key) {
    const json* value = keys.find(key);
    return value && is_on(*value);
}

}  // namespace

void read_rollout_folder(KeyReader& keys, Config& config) {
    const json* said = keys.find(kFolder);
    const json* timeout = keys.find(kTimeout);
    if (!said || said->is_null()) {
        if (timeout && !timeout->is_null()) keys.warn(Form("ROLLOUT-FOLDER", "idle"), kTimeout);
        return;
    }
    const auto path = keys.text(kFolder);
    if (!path) return;
    if (path->empty()) return keys.error(Form("ROLLOUT-FOLDER", "empty"), kFolder);
    RolloutFolder& folder = config.policy->folder.emplace();
    folder.path = absolute_path(config.base_dir, *path);
    if (timeout && !timeout->is_null()) take(folder.timeout, keys.whole(kTimeout, {1, kLongest_s}));
    if (is_switched_on(keys, "trl.reward_funcs"))
        keys.error(Form("ROLLOUT-FOLDER", "rewards"), "trl.reward_funcs");
}

void settle_rollout_folder(KeyReader& keys, Config& config) {
    if (!config.policy || !config.policy->folder) return;
    const std::string& path = config.policy->folder->path;
    if (exists(path) && !is_folder(path))
        keys.error(Form("ROLLOUT-FOLDER", "file"), kFolder, {{"path", path}});
    for (const char* key : kRows) {
        if (is_switched_on(keys, key)) keys.error(Form("ROLLOUT-FOLDER", "rows"), key);
    }
    for (const char* key : kChoosing) {
        if (is_switched_on(keys, key)) keys.error(Form("ROLLOUT-FOLDER", "choosing"), key);
    }
    if (config.sample_packing) keys.error(Form("ROLLOUT-FOLDER", "packed"), "sample_packing");
    if (!config.max_steps) keys.missing(Form("ROLLOUT-FOLDER", "steps"), "max_steps", "trl");
    if (config.group_by_length) keys.warn(Form("ROLLOUT-FOLDER", "order"), "group_by_length");
    const bool is_shuffled = keys.has("curriculum_sampling") && !config.curriculum_sampling;
    if (is_shuffled) keys.warn(Form("ROLLOUT-FOLDER", "order"), "curriculum_sampling");
    config.group_by_length = false;
    config.curriculum_sampling = true;
}

}  // namespace ringmaster
