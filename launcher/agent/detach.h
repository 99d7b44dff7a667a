/// Detaches from the session of whoever started this process, so that the process outlives it.
#pragma once

#include <csignal>

namespace ringmaster {

sigset_t awaited_signals();  ///< returns SIGTERM, SIGINT, SIGUSR1, SIGCHLD

/// Blocks the awaited signals, which the supervisor reads instead, and ignores SIGHUP and SIGPIPE. Closes the
/// descriptors from 3 on, which the starter may have left open, and opens descriptors 0 to 2 if they are
/// closed.
void prepare_process();

/// Becomes the leader of a session. Forks if this process already leads a process group, as a job of an
/// interactive shell does. The child then becomes the leader; this process only passes signals on and ends
/// with the child's exit status.
void enter_own_session();

/// Replaces the starter's stdin, stdout and stderr with /dev/null and `out`, so that whoever reads the other
/// ends sees them close.
void replace_standard_streams(int out);

}  // namespace ringmaster
