/// How many rows the local JSON Lines and JSON files of a config hold, without reading a token of them.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/config/config.h"

namespace ringmaster {

struct LocalRows {
    int64_t rows = 0;
    bool exact = true;  ///< false: the files are larger than what is read of them, the rest is in proportion
};

/// Rows of the training files before tokenizing drops, cuts or packs any, and before val_set_size's share is
/// taken. Empty where some file cannot be counted so (another format, a pattern, a hub id), or is not there.
/// Reads at most 1 GiB.
std::optional<LocalRows> count_local_rows(const Config& config);

/// What is left of `rows` for training; 0 where val_set_size takes all.
int64_t training_rows(const Config& config, int64_t rows);

}  // namespace ringmaster
