/// Failures as JSON for programs, under --json: a line of a command that streams, else a document.
///
///     {"type":"error","dir":null|"…","finding":{…},"exit":1}                a line
///     {"ok":false,"dir":null|"…","error":{…},"diagnostics":[{…}],"exit":1}  a document
///
/// A finding is as in a plan's diagnostics; its code is never empty.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/error.h"
#include "launcher/cli/commands.h"
#include "launcher/follower.h"
#include "launcher/prepare.h"

namespace ringmaster {

/// The error as a finding; what it is about (a file, a host, a run, an option) is among the parameters.
nlohmann::json finding_of(const Error& error);

/// Prints the error as JSON to stdout where the session wants that; to stderr for a person. Returns the exit
/// status.
int report_failure(const Error& error, const Session& session);
/// The same for a configuration that cannot be launched: all its diagnostics.
int report_failure(const PlanRefused& refused, const Session& session);
int report_interruption(const Session& session);

/// Under --json, prints the line of a run's failure. `status` is what the following of the run returned, and
/// is returned again; one that the person left, or that has not failed, has no such line.
int report_end(const RunFollower& follower, int status, const Session& session);

}  // namespace ringmaster
