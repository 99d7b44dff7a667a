#include "launcher/agent/stop_clock.h"

#include <sys/wait.h>

namespace ringmaster {

int stopped_by(pid_t child) {
    siginfo_t info{};
    const int answer =
        // WNOWAIT leaves the state to be read again.
        ::waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED | WNOHANG | WNOWAIT);
    return answer == 0 && info.si_pid != 0 ? info.si_status : 0;
}

}  // namespace ringmaster
