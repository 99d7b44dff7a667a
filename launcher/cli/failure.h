/// Reports failures. Under --json, it also prints JSON for programs: a line if the command streams, else a
/// document.
///
///     {"type":"error","dir":null|"…","finding":{…},"exit":1}                a line
///     {"ok":false,"dir":null|"…","error":{…},"diagnostics":[{…}],"exit":1}  a document
///
/// A finding has the form of a plan's diagnostics; its code is never empty.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/error.h"
#include "launcher/cli/commands.h"
#include "launcher/history/history.h"
#include "launcher/run/prepare.h"

namespace ringmaster {

/// Returns the error as a finding; its parameters name the file, host, run or option that it is about.
nlohmann::json finding_of(const Error& error);

/// Prints the error to stderr, and as JSON to stdout if the session asks for JSON. Returns the exit
/// status.
int report_failure(const Error& error, const CommandContext& session);
/// Reports a configuration that cannot be launched, with all its diagnostics.
int report_failure(const PlanRefused& refused, const CommandContext& session);
int report_interruption(const CommandContext& session);

/// Under --json, prints the line of a failed run. `status` is the result of following the run and is returned
/// unchanged; there is no line if the user left or the run has not failed.
int report_end(const RunHistory& history, int status, const CommandContext& session);

}  // namespace ringmaster
