/// Leaves the session of whoever started this process, so that its end is not ours.
#pragma once

#include <csignal>

namespace ringmaster {

sigset_t awaited_signals();  ///< SIGTERM, SIGINT, SIGUSR1, SIGCHLD

/// Blocks the awaited signals, which the supervisor reads instead, and ignores SIGHUP and SIGPIPE.
/// Descriptors from 3 on, which a starter may have left open, are closed; those below are opened where they
/// were not.
void prepare_process();

/// Becomes the leader of a session. Where that needs another process (this one leads a process group already,
/// as a job of an interactive shell does), this one stays only to pass signals on and to end with the other's
/// exit status.
void enter_own_session();

/// Gives up the starter's stdin, stdout and stderr for /dev/null and `out`: whoever reads their other ends
/// sees them close.
void let_go_of_starter(int out);

}  // namespace ringmaster
