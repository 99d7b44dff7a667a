#include "engine/train/run_folder.h"

#include <charconv>

#include "engine/error.h"

namespace ringmaster {

namespace fs = std::filesystem;

fs::path RunFolder::checkpoint(int64_t step) const {
    return checkpoints() / checkpoint_name(step);
}

CheckpointChoice checkpoint_to_resume(const RunFolder& run, const std::string& resume,
                                      bool run_is_completed) {
    restore_folders(run.checkpoints());
    if (resume == "none" || (resume == "auto" && run_is_completed)) return {};
    if (resume == "auto" || resume == "latest") return choose_checkpoint(run.checkpoints(), std::nullopt);
    int64_t step = 0;
    const char* end = resume.data() + resume.size();
    const auto [stop, problem] = std::from_chars(resume.data(), end, step);
    if (problem != std::errc() || stop != end || step < 0)
        throw Error(Failure::Usage, Code("RUN-CHECKPOINT"),
                    "'" + resume + "' is neither auto, latest, none nor a step", "--resume");
    return choose_checkpoint(run.checkpoints(), step);
}

}  // namespace ringmaster
