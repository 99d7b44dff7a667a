/// A run's points in formats that other programs read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "launcher/run_directory.h"

namespace ringmaster {

struct Exported {
    std::filesystem::path path;
    int64_t ranks = 0;
    int64_t points = 0;  ///< rows of the CSV; values in the event files
};

/// One row for each rank and step, with every field of the step event, by step and rank; RFC 4180, UTF-8, a
/// header row; what is null is empty. An existing file is replaced whole. Throws Error.
Exported export_csv(const RunDirectory& run, const std::filesystem::path& file);

/// TensorBoard event files: `rank_00000/` and so on with what a rank says of itself, `global/` with what is
/// equal on all (loss, eval_loss, lr, grad_norm, tokens_per_s, …). Exporting again replaces them. Throws
/// Error where `dir` holds anything else.
Exported export_tensorboard(const RunDirectory& run, const std::filesystem::path& dir);

/// TensorBoard's record: length, masked CRC-32C of the length, data, masked CRC-32C of the data; all
/// little-endian.
std::string tensorboard_record(const std::string& data);

}  // namespace ringmaster
