/// Counts the rows in a config's local JSON Lines and JSON files without tokenizing them.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/config/config.h"

namespace ringmaster {

struct LocalRows {
    int64_t rows = 0;
    bool exact = true;  ///< false: the files exceed the reading limit, and the rest is extrapolated
};

/// Returns the rows of the training files before tokenizing drops, cuts or packs any, and before val_set_size
/// is split off. Returns nothing if a file is missing, has another format, or is given as a pattern or hub
/// id. Reads at most 1 GiB.
std::optional<LocalRows> count_local_rows(const Config& config);

/// Returns how many of `rows` remain for training; 0 if val_set_size takes all.
int64_t training_rows(const Config& config, int64_t rows);

}  // namespace ringmaster
