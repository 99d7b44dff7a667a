/// Computes pip's progress from what it prints with `--progress-bar raw`.
#pragma once

#include <cstdint>
#include <string>

#include "launcher/base/progress.h"

namespace ringmaster {

class PipProgress {
  public:
    /// `expected_bytes` is the size of all downloads together, which pip does not know beforehand.
    explicit PipProgress(int64_t expected_bytes) : expected_bytes_(expected_bytes) {}

    /// Parses a line of pip's output. Returns false if the line only counted bytes.
    bool take(const std::string& line);

    /// Returns the bytes downloaded so far, or, once pip unpacks, how many packages are `unpacked`.
    ProgressStep step(int64_t unpacked) const;
    bool is_unpacking() const { return packages_ > 0; }

  private:
    int64_t expected_bytes_;
    int64_t whole_bytes_ = 0;  ///< size of the files before the current one
    int64_t file_bytes_ = 0;   ///< downloaded bytes of the current file
    int64_t packages_ = 0;     ///< 0: pip is not unpacking yet
    ProgressStep step_{"packages"};
};

}  // namespace ringmaster
