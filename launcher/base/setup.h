/// Makes the Python environment that provides LibTorch and the tokenizers. A build needs this environment
/// too. The environment is made once, is shared by all checkouts and the installed programs, and has the same
/// marker file as one that packaging/setup made.
#pragma once

#include "launcher/base/places.h"
#include "launcher/base/progress.h"

namespace ringmaster {

/// Returns true if every package of share/requirements.txt is installed in places.python_env.
bool is_set_up(const Places& places);

/// Makes the environment and installs the packages, unless they are there. Waits for a running set-up. Throws
/// Error(Unreachable) with pip's output, or Cancelled.
void set_up(const Places& places, const Progress& progress);

}  // namespace ringmaster
