/// The subcommands that only look: at a configuration's rows, at runs in a browser.
#pragma once

#include "launcher/cli/commands.h"

namespace ringmaster {

Command rows_command();
Command serve_command();

}  // namespace ringmaster
