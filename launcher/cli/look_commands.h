/// Declares the subcommands that only show something: a configuration's rows, runs in a browser,
/// and what a model writes.
#pragma once

#include "launcher/cli/commands.h"

namespace ringmaster {

Command rows_command();
Command serve_command();
Command generate_command();

}  // namespace ringmaster
