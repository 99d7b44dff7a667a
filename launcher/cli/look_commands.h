/// Declares the subcommands that only show something: a configuration's rows, and runs in a browser.
#pragma once

#include "launcher/cli/commands.h"

namespace ringmaster {

Command rows_command();
Command serve_command();

}  // namespace ringmaster
