/// Finds the checkpoints in a run directory: which ones are intact, and from which one a run resumes. Engine,
/// agent and launcher use it.
///
///     checkpoints/step-00000100/                          a checkpoint of the current timeline
///     checkpoints/step-00000100/complete                  written last; lists the other files:
///         {"files":[{"name":"model.safetensors","bytes":3000,"crc32c":"0a1b2c3d"},…]}
///     checkpoints/step-00000100.abandoned-by-attempt-2/   attempt 2 went on from an earlier step
///
/// Older versions left `complete` empty: such a checkpoint must have its parts, and each safetensors file
/// must agree with its own header.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/files/durable.h"

namespace ringmaster {

inline constexpr const char* kCompleteFile = "complete";
inline constexpr const char* kTrainerStateFile = "trainer_state.json";
inline constexpr const char* kOptimizerFile = "optimizer.safetensors";

/// Returns a name such as "step-00000100".
std::string checkpoint_name(int64_t step);
/// Returns the step in a checkpoint's name; nullopt if `name` is not such a name.
std::optional<int64_t> step_of_checkpoint(const std::string& name);

/// Returns the text for the file `complete`.
std::string complete_text(const std::vector<WrittenFile>& files);

/// Returns the steps, ascending, of the checkpoints that are marked complete and whose files have the right
/// sizes. Does not read contents, because callers list checkpoints often.
std::vector<int64_t> complete_checkpoints(const std::filesystem::path& checkpoints);

/// Called between the blocks of a file being read; may throw in order to cancel.
using BetweenBlocks = std::function<void()>;

/// Checks sizes and checksums of all files of a checkpoint. Returns the damage, such as
/// "optimizer.safetensors has 100 bytes, 3000 were saved", or an empty string if the checkpoint is intact.
std::string damage_of(const std::filesystem::path& checkpoint, const BetweenBlocks& between = {});

struct PassedOver {
    int64_t step = 0;
    std::string why;  ///< text of damage_of
};

struct CheckpointChoice {
    std::optional<int64_t> step;  ///< nullopt if there is no checkpoint, so the run starts from the beginning
    std::vector<PassedOver> passed_over;  ///< newer damaged checkpoints, the newest first
};

/// Returns a line per skipped checkpoint: "the checkpoint of step 6 is passed over: …".
std::vector<std::string> words_of(const CheckpointChoice& choice);

/// Returns the checkpoint to resume from: that of step `asked`, else the newest intact one. Throws
/// Error(Usage) if `asked` does not exist, and Error(Refused) if it is damaged, with the damage and the
/// newest intact step.
CheckpointChoice choose_checkpoint(const std::filesystem::path& checkpoints, std::optional<int64_t> asked,
                                   const BetweenBlocks& between = {});

/// Renames the checkpoints after step `from` (all if empty), which belong to a timeline that attempt
/// `attempt` abandons by resuming from `from`. Returns the new names. Throws Error(Refused) if one cannot be
/// renamed.
std::vector<std::string> abandon_later(const std::filesystem::path& checkpoints, std::optional<int64_t> from,
                                       int attempt);

}  // namespace ringmaster
