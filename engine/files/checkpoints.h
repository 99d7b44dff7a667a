/// The checkpoints of a run directory on the disk: which are whole, and which one a run goes on from. Engine,
/// agent and launcher ask here.
///
///     checkpoints/step-00000100/                          a checkpoint of the present timeline
///     checkpoints/step-00000100/complete                  written last; lists the other files:
///         {"files":[{"name":"model.safetensors","bytes":3000,"crc32c":"0a1b2c3d"},…]}
///     checkpoints/step-00000100.abandoned-by-attempt-2/   attempt 2 went on from an earlier step
///
/// An empty `complete` is a former version's: of such a checkpoint the parts are looked for, and each
/// safetensors file is held against its own header.
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

/// "step-00000100"
std::string checkpoint_name(int64_t step);
std::optional<int64_t> step_of_checkpoint(const std::string& name);

/// The text of `complete`.
std::string complete_text(const std::vector<WrittenFile>& files);

/// Steps of the checkpoints that are marked complete and whose files have their sizes, ascending: for lists,
/// which are made often. Contents are not read.
std::vector<int64_t> complete_checkpoints(const std::filesystem::path& checkpoints);

/// Called between blocks of a file that is read; may throw, to cancel.
using BetweenBlocks = std::function<void()>;

/// What is wrong with a checkpoint, after sizes and checksums of all its files: "optimizer.safetensors has
/// 100 bytes, 3000 were saved"; empty if it is whole.
std::string damage_of(const std::filesystem::path& checkpoint, const BetweenBlocks& between = {});

struct PassedOver {
    int64_t step = 0;
    std::string why;  ///< as damage_of
};

struct CheckpointChoice {
    std::optional<int64_t> step;          ///< empty: there is none, start from the beginning
    std::vector<PassedOver> passed_over;  ///< newer ones that are not whole, the newest first
};

/// A line for each that was passed over: "the checkpoint of step 6 is passed over: …".
std::vector<std::string> words_of(const CheckpointChoice& choice);

/// The checkpoint to go on from: that of step `asked`, else the newest whole one. Throws Error(Usage) if the
/// one asked for is not there, Error(Refused) if it is damaged, saying what is wrong and which is the newest
/// whole one.
CheckpointChoice choose_checkpoint(const std::filesystem::path& checkpoints, std::optional<int64_t> asked,
                                   const BetweenBlocks& between = {});

/// Attempt `attempt` goes on from `from` (empty: from the beginning): later checkpoints are of an abandoned
/// timeline, and get a name that says so. Returns the new names. Throws Error(Refused) where one cannot be
/// renamed.
std::vector<std::string> abandon_later(const std::filesystem::path& checkpoints, std::optional<int64_t> from,
                                       int attempt);

}  // namespace ringmaster
