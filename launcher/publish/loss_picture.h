/// Draws a run's loss by step as an SVG picture for the model's card. Its colours are readable on light and
/// dark pages.
#pragma once

#include <string>

#include "launcher/history/history.h"

namespace ringmaster {

/// Returns the picture of rank 0's loss, with a dot for each evaluation; empty if no step has a loss.
std::string loss_picture(const RunHistory& history);

}  // namespace ringmaster
