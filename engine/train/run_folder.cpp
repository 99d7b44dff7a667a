#include "engine/train/run_folder.h"

#include <algorithm>
#include <charconv>

#include "engine/error.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

std::optional<int64_t> to_step(const std::string& digits) {
    int64_t step = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
    if (problem != std::errc() || end != digits.data() + digits.size() || step < 0) return std::nullopt;
    return step;
}

}  // namespace

fs::path RunFolder::checkpoint(int64_t step) const {
    std::string digits = std::to_string(step);
    return checkpoints() / ("step-" + std::string(digits.size() < 8 ? 8 - digits.size() : 0, '0') + digits);
}

std::vector<int64_t> RunFolder::complete_checkpoints() const {
    std::vector<int64_t> steps;
    std::error_code missing;
    for (const fs::directory_entry& entry : fs::directory_iterator(checkpoints(), missing)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with("step-") || !fs::exists(entry.path() / "complete")) continue;
        if (std::optional<int64_t> step = to_step(name.substr(5))) steps.push_back(*step);
    }
    std::sort(steps.begin(), steps.end());
    return steps;
}

std::optional<int64_t> checkpoint_to_resume(const RunFolder& run, const std::string& resume,
                                            bool run_is_completed) {
    if (resume == "none" || (resume == "auto" && run_is_completed)) return std::nullopt;
    const std::vector<int64_t> steps = run.complete_checkpoints();
    if (resume == "auto" || resume == "latest") {
        return steps.empty() ? std::nullopt : std::optional(steps.back());
    }
    const std::optional<int64_t> step = to_step(resume);
    if (!step)
        throw Error(Failure::Usage, Code("RUN-CHECKPOINT"),
                    "'" + resume + "' is neither auto, latest, none nor a step", "--resume");
    if (std::find(steps.begin(), steps.end(), *step) == steps.end()) {
        std::string there;
        for (int64_t s : steps) there += (there.empty() ? "" : ", ") + std::to_string(s);
        throw Error(Failure::Usage, Code("RUN-CHECKPOINT"),
                    "there is no complete checkpoint of step " + resume, run.checkpoints().string(),
                    there.empty() ? "there is none at all" : "complete: " + there);
    }
    return step;
}

}  // namespace ringmaster
