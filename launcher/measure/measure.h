/// Measures a few steps of a plan on this machine for `ringmaster plan --measure`.
#pragma once

#include "engine/plan/calibration.h"
#include "launcher/run/prepare.h"

namespace ringmaster {

constexpr int kMeasuredSteps = 3;

/// Runs the plan for kMeasuredSteps optimizer steps from a temporary folder, then stops it without saving
/// anything. Uses random weights and rows of sequence_len random tokens, as the plan assumes. Leaves
/// output_dir, run directories and prepared rows untouched, and needs no weights. Memory is the highest
/// counted peak of any rank; time is the mean over the steps after the first, on the rank that computes most.
/// Throws Error(Refused) if the plan cannot run or does not fit, or if the run fails, with the run's reason.
/// Throws Cancelled if the user cancels.
Measurement measure_plan(const Proposal& proposal, const Machine& machine, const Places& places,
                         const Progress& progress);

}  // namespace ringmaster
