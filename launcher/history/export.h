/// Exports a run's points to formats that other programs read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "launcher/run/run_directory.h"

namespace ringmaster {

struct Exported {
    std::filesystem::path path;
    int64_t ranks = 0;
    int64_t points = 0;  ///< rows of the CSV, or values in the event files
};

/// Writes one row per rank and step with every field of the step event, ordered by step and rank. The format
/// is RFC 4180 in UTF-8 with a header row; null becomes an empty field. Replaces an existing file atomically.
/// Throws Error.
Exported export_csv(const RunDirectory& run, const std::filesystem::path& file);

/// Writes TensorBoard event files: `rank_00000/` and so on hold each rank's figures, `global/` the figures
/// that are equal on all ranks (loss, eval_loss, lr, grad_norm, tokens_per_s, …). A repeated export replaces
/// them. Throws Error if `dir` holds anything else.
Exported export_tensorboard(const RunDirectory& run, const std::filesystem::path& dir);

/// Returns a TensorBoard record: length, masked CRC-32C of the length, data, masked CRC-32C of the data; all
/// little-endian.
std::string tensorboard_record(const std::string& data);

}  // namespace ringmaster
