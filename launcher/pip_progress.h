/// How far pip is, out of what it says with `--progress-bar raw`.
#pragma once

#include <cstdint>
#include <string>

#include "launcher/progress.h"

namespace ringmaster {

class PipProgress {
  public:
    /// `expected_bytes`: of all downloads together, which pip itself does not know beforehand.
    explicit PipProgress(int64_t expected_bytes) : expected_bytes_(expected_bytes) {}

    /// False where the line only counted bytes.
    bool take(const std::string& line);

    /// Bytes of all downloads until pip unpacks; then packages, of which `unpacked` are there.
    ProgressStep step(int64_t unpacked) const;
    bool is_unpacking() const { return packages_ > 0; }

  private:
    int64_t expected_bytes_;
    int64_t whole_bytes_ = 0;  ///< of the files before the current one
    int64_t file_bytes_ = 0;   ///< of the current one
    int64_t packages_ = 0;     ///< 0: not unpacking yet
    std::string name_ = "looking for the packages";
};

}  // namespace ringmaster
