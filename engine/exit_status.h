/// Explains exit statuses of other programs.
#pragma once

namespace ringmaster {

/// Returns true if the status means that something could not be reached or started: 3 is Ringmaster's own,
/// 126 and 127 are a shell's and the loader's.
constexpr bool could_not_start(int exit_status) {
    return exit_status == 3 || exit_status == 126 || exit_status == 127;
}

}  // namespace ringmaster
