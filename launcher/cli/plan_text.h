/// Formats a plan for people: verdict, mesh, batch, memory and time, then problems and what to do.
#pragma once

#include <string>

#include "engine/plan/plan.h"
#include "launcher/cli/terminal.h"

namespace ringmaster {

/// Returns lines that end with a newline and fit the terminal's width, except for long words (paths).
std::string plan_text(const Plan& plan, const Terminal& terminal);

/// Returns a short form for the top of a launch: verdict, mesh, batch, errors and warnings.
std::string plan_summary(const Plan& plan, const Terminal& terminal);

/// Returns only the diagnostics of severity `least` or higher, errors first, each with line, message and
/// hint.
std::string diagnostics_text(const Diagnostics& diagnostics, const Terminal& terminal,
                             Severity least = Severity::Info);

/// Returns one line: "FITS: 61.4 of 80.0 GiB on the fullest rank".
std::string verdict_line(const Plan& plan, const TextStyle& ink);

/// Returns "dp_shard 2 × ring 4", with "data parallel" for dp_shard if nothing is sharded; or "no splitting".
std::string mesh_text(const Mesh& mesh, int zero_stage);

}  // namespace ringmaster
