/// The Python environment that brings LibTorch and tokenizing needs (and a build): made once, shared by every
/// checkout and the installed programs, marked as packaging/setup marks it.
#pragma once

#include "launcher/places.h"
#include "launcher/progress.h"

namespace ringmaster {

/// True where every package of share/requirements.txt is installed in places.python_env.
bool is_set_up(const Places& places);

/// Makes the environment and installs the packages; nothing is done where they are there. Waits for another
/// set-up that is at work. Throws Error(Unreachable) with pip's own words, or Cancelled.
void set_up(const Places& places, const Progress& progress);

}  // namespace ringmaster
