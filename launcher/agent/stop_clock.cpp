#include "launcher/agent/stop_clock.h"

#include <sys/wait.h>

namespace ringmaster {

int stopped_by(pid_t child) {
    siginfo_t info{};
    const int answer =
        ::waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED | WNOHANG | WNOWAIT);  // WNOWAIT keeps the state
    return answer == 0 && info.si_pid != 0 ? info.si_status : 0;
}

}  // namespace ringmaster
