/// `ringmaster plan --measure`: a few steps of a plan on this machine, for what they really take.
#pragma once

#include "engine/plan/calibration.h"
#include "launcher/prepare.h"

namespace ringmaster {

constexpr int kMeasuredSteps = 3;

/// Runs the plan for kMeasuredSteps optimizer steps from a temporary folder, with random weights and on rows
/// of random tokens that are sequence_len long, as the plan assumes them; then stops it without saving
/// anything. output_dir, run directories and prepared rows stay as they are, and no weights are needed.
/// Memory is the highest counted peak of any rank; time the mean of the steps behind the first, of the rank
/// that computes most. Throws Error(Refused) for a plan that cannot be run or will not fit, or with the
/// run's own reason; Cancelled.
Measurement measure_plan(const Proposal& proposal, const Machine& machine, const Places& places,
                         const Progress& progress);

}  // namespace ringmaster
