#include "launcher/history/run_details.h"

#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/config/document.h"
#include "engine/config/edit.h"
#include "engine/error.h"
#include "engine/events/bounded_json.h"
#include "engine/files/checkpoints.h"
#include "launcher/base/bounded_file.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMostFiles = 200;
constexpr int64_t kMostOptionsBytes = 4 << 20;

double changed_at(const fs::path& path) {
    struct stat about {};
    return ::lstat(path.c_str(), &about) == 0 ? static_cast<double>(about.st_mtim.tv_sec) : 0;
}

std::vector<CheckpointInfo> checkpoints_of(const RunDirectory& run) {
    std::vector<CheckpointInfo> checkpoints;
    for (int64_t step : complete_checkpoints(run)) {
        CheckpointInfo info{step, run.checkpoints() / checkpoint_name(step), 0, 0};
        info.bytes = bytes_within(info.dir);
        info.saved = changed_at(info.dir / kCompleteFile);
        checkpoints.push_back(std::move(info));
    }
    return checkpoints;
}

std::vector<ListedFile> files_of(const RunDirectory& run) {
    std::vector<ListedFile> files;
    std::error_code none;
    for (fs::directory_iterator entry(run.dir, none), end; !none && entry != end && files.size() < kMostFiles;
         entry.increment(none)) {
        std::error_code problem;
        const bool is_folder = entry->is_directory(problem) && !entry->is_symlink(problem);
        const int64_t bytes = is_folder ? bytes_within(entry->path()) : stamp_of(entry->path()).bytes;
        files.push_back(
            {entry->path().filename().string() + (is_folder ? "/" : ""), bytes, changed_at(entry->path())});
    }
    std::sort(files.begin(), files.end(),
              [](const ListedFile& a, const ListedFile& b) { return a.name < b.name; });
    return files;
}

/// Returns the folder of the model that a run wrote; empty if there is none yet.
fs::path model_of(const RunRow& row) {
    std::error_code none;
    const fs::path output = row.planned.output_dir;
    const bool has_result = fs::is_regular_file(output / "config.json", none) ||
                            fs::is_regular_file(output / "adapter_config.json", none);
    return row.state.state == RunPhase::Completed && has_result ? output : fs::path();
}

/// Sets the key in the text. If that fails, appends a comment instead, so that no setting is lost silently.
void write_in(std::string& text, const std::string& key, const std::string& value) {
    try {
        text = set_key(text, key, value);
    } catch (const Error&) {
        if (!text.empty() && text.back() != '\n') text += '\n';
        text += "# was set for this run: " + printable(key) + ": " + printable(value) + "\n";
    }
}

}  // namespace

int64_t bytes_within(const fs::path& dir, int most_files) {
    int64_t bytes = 0;
    std::error_code none;
    for (fs::recursive_directory_iterator entry(dir, fs::directory_options::skip_permission_denied, none),
         end;
         !none && entry != end && most_files-- > 0; entry.increment(none)) {
        std::error_code problem;
        if (entry->is_symlink(problem) || !entry->is_regular_file(problem)) continue;
        const auto size = entry->file_size(problem);
        if (!problem) bytes += static_cast<int64_t>(size);
    }
    return bytes;
}

RunDetails read_details(const RunDirectory& run) {
    RunDetails details;
    details.row = read_row(run);
    try {
        details.config_text = read_bounded(run.config(), kMaxConfigBytes);
    } catch (const Error&) {  // the row's problem reports this
    }
    details.checkpoints = checkpoints_of(run);
    details.files = files_of(run);
    details.model_dir = model_of(details.row);
    return details;
}

fs::path written_model(const RunDirectory& run, const char* code) {
    const fs::path model = model_of(read_row(run));
    if (model.empty())
        throw Error(Failure::Refused, Code(code), "has not written its model here", run.name(),
                    "wait for its end; `ringmaster fetch` brings the model of a run on other machines");
    return model;
}

nlohmann::json recorded_options(const RunDirectory& run) {
    nlohmann::json options = try_bounded_json(read_bounded(run.options(), kMostOptionsBytes));
    return options.is_object() ? options : nlohmann::json::object();
}

std::vector<std::pair<std::string, std::string>> recorded_settings(const nlohmann::json& options) {
    std::vector<std::pair<std::string, std::string>> settings;
    const auto set = options.find("set");
    if (set == options.end() || !set->is_array()) return settings;
    for (const nlohmann::json& one : *set) {
        if (one.is_array() && one.size() == 2 && one[0].is_string() && one[1].is_string())
            settings.emplace_back(one[0].get<std::string>(), one[1].get<std::string>());
    }
    return settings;
}

Duplicate duplicate_of(const RunDirectory& run) {
    Duplicate copy{read_bounded(run.config(), kMaxConfigBytes), {}};
    std::error_code none;
    if (!fs::is_regular_file(run.options(), none)) return copy;
    const nlohmann::json options = recorded_options(run);
    const auto text_of = [&](const char* key) {
        const auto found = options.find(key);
        return found != options.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    copy.base_dir = text_of("base_dir");
    if (copy.base_dir.empty()) copy.base_dir = fs::path(text_of("config")).parent_path().string();
    for (const auto& [key, value] : recorded_settings(options)) write_in(copy.text, key, value);
    return copy;
}

}  // namespace ringmaster
