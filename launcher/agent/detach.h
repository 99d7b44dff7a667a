/// Leaves the session of whoever started this process, so that its end is not ours.
#pragma once

namespace ringmaster {

/// Blocks the signals that the supervisor waits for (SIGTERM, SIGINT, SIGUSR1, SIGCHLD) and ignores SIGHUP
/// and SIGPIPE. Descriptors from 3 on, which a starter may have left open, are closed.
void prepare_process();

/// Becomes the leader of a session. Where that needs another process (this one leads a process group already,
/// as a job of an interactive shell does), this one stays only to pass signals on and to end with the other's
/// exit status.
void enter_own_session();

}  // namespace ringmaster
