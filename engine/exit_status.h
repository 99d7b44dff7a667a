/// Explains exit statuses of other programs.
#pragma once

namespace ringmaster {

/// Returns true if the status means that something could not be reached or started: Ringmaster's programs
/// return 3, shells and the loader 126 and 127.
constexpr bool could_not_start(int exit_status) {
    return exit_status == 3 || exit_status == 126 || exit_status == 127;
}

}  // namespace ringmaster
