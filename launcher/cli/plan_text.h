/// A plan as people look at it: verdict, mesh, batch, memory and time drawn, what is wrong and what to do.
#pragma once

#include <string>

#include "engine/plan/plan.h"
#include "launcher/cli/terminal.h"

namespace ringmaster {

/// Every line ends with a newline and keeps to the terminal's width, long words (paths) apart.
std::string plan_text(const Plan& plan, const Terminal& terminal);

/// The plan in short, for the top of a launch: verdict, mesh, batch, errors and warnings.
std::string plan_summary(const Plan& plan, const Terminal& terminal);

/// Only what is wrong, from `least` on: errors first, each with line, message and hint.
std::string diagnostics_text(const Diagnostics& diagnostics, const Terminal& terminal,
                             Severity least = Severity::Info);

/// One line: "FITS: 61.4 of 80.0 GiB on the fullest rank".
std::string verdict_line(const Plan& plan, const Ink& ink);

}  // namespace ringmaster
