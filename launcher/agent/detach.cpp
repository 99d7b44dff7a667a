#include "launcher/agent/detach.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "engine/error.h"
#include "launcher/agent/descriptor.h"

namespace ringmaster {

namespace {

[[noreturn]] void stand_in_for(pid_t agent) {
    const Descriptor nothing(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    replace_standard_streams(nothing.get());
    const sigset_t signals = awaited_signals();
    int status = 0;
    while (::waitpid(agent, &status, WNOHANG) == 0) {
        const int signal = ::sigwaitinfo(&signals, nullptr);
        if (signal > 0 && signal != SIGCHLD)
            ::kill(agent, signal);  // the agent is not reaped yet, so the pid is still the agent's
    }
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

}  // namespace

sigset_t awaited_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (int signal : {SIGTERM, SIGINT, SIGUSR1, SIGCHLD}) sigaddset(&signals, signal);
    return signals;
}

void prepare_process() {
    const sigset_t signals = awaited_signals();
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
    std::signal(SIGHUP, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGCHLD, SIG_DFL);  // inherited as ignored, it would hide the ranks' exit statuses
    int opened = -1;
    do {
        opened = ::open("/dev/null", O_RDWR);
    } while (opened >= 0 && opened <= STDERR_FILENO);
    ::close_range(STDERR_FILENO + 1, UINT_MAX, 0);
}

void enter_own_session() {
    if (::getsid(0) == ::getpid()) return;
    if (::setsid() >= 0) return;
    const pid_t agent = ::fork();
    if (agent < 0)
        throw Error(Failure::Unreachable, Code("PROGRAM-START"),
                    std::string("no process for the agent: ") + std::strerror(errno));
    if (agent > 0) stand_in_for(agent);
    ::setsid();
}

void replace_standard_streams(int out) {
    const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    ::dup2(nothing.get(), STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
}

}  // namespace ringmaster
