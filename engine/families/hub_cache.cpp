#include "engine/families/hub_cache.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/error.h"

namespace ringmaster {

namespace {

namespace fs = std::filesystem;

constexpr const char* kMain = "main";

/// Returns true if the text is a relative path that stays below its folder. A hub id is such a path with at
/// most one slash.
bool stays_below(const std::string& text) {
    const bool letters = std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '-' || c == '_' || c == '.' || c == '/';
    });
    return letters && !text.empty() && text.front() != '/' && text.front() != '.' &&
           text.find("..") == text.npos;
}

fs::path folder_of(const std::string& hub_id, const fs::path& cache) {
    std::string folder = "models--" + hub_id;
    for (size_t at = folder.find('/'); at != std::string::npos; at = folder.find('/'))
        folder.replace(at, 1, "--");
    return cache / folder;
}

/// Returns the commit that a branch or a tag names. Any other text is taken for a commit.
std::string commit_of(const std::string& revision, const fs::path& model) {
    std::string commit;
    std::ifstream(model / "refs" / revision) >> commit;
    return commit.empty() ? revision : commit;
}

std::vector<fs::path> exact_snapshot(const std::string& revision, const fs::path& model) {
    const std::string commit = stays_below(revision) ? commit_of(revision, model) : std::string();
    std::error_code unknown;
    if (!stays_below(commit) || !fs::is_directory(model / "snapshots" / commit, unknown)) return {};
    return {model / "snapshots" / commit};
}

}  // namespace

bool is_hub_id(const std::string& text) {
    return stays_below(text) && std::count(text.begin(), text.end(), '/') <= 1;
}

std::vector<fs::path> cached_snapshots(const std::string& hub_id, const std::string& revision,
                                       const fs::path& cache) {
    if (!is_hub_id(hub_id) || cache.empty()) return {};
    const fs::path model = folder_of(hub_id, cache);
    if (!revision.empty()) return exact_snapshot(revision, model);
    std::vector<fs::path> snapshots;
    std::error_code ignored;
    for (fs::directory_iterator entry(model / "snapshots", ignored), end; !ignored && entry != end;
         entry.increment(ignored)) {
        snapshots.push_back(entry->path());
    }
    std::sort(snapshots.begin(), snapshots.end());
    const std::string main = commit_of(kMain, model);
    std::stable_partition(snapshots.begin(), snapshots.end(),
                          [&](const fs::path& snapshot) { return snapshot.filename() == main; });
    return snapshots;
}

std::optional<ModelConfig> first_model_config(const std::vector<fs::path>& snapshots) {
    for (const fs::path& snapshot : snapshots) {
        try {
            return read_model_config(snapshot.string());
        } catch (const Error&) {  // damaged file or unknown family: the plan reports that a model is missing
        }
    }
    return std::nullopt;
}

std::optional<ModelConfig> cached_model_config(const std::string& hub_id, const std::string& revision,
                                               const fs::path& cache) {
    return first_model_config(cached_snapshots(hub_id, revision.empty() ? kMain : revision, cache));
}

}  // namespace ringmaster
