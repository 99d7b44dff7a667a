/// The subcommands that only look: at a configuration's rows.
#pragma once

#include "launcher/cli/commands.h"

namespace ringmaster {

Command rows_command();

}  // namespace ringmaster
