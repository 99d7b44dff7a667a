#include "launcher/cli/interrupts.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace ringmaster {

namespace {

constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};

// A signal handler can only reach globals; access to all of these is async-signal-safe.
volatile std::sig_atomic_t ctrl_c_count = 0;
volatile std::sig_atomic_t term_count = 0;
volatile std::sig_atomic_t hangup_count = 0;
std::array<int, 2> wake_pipe = {-1, -1};
std::array<struct sigaction, kSignals.size()> earlier_actions;

void note_signal(int signal) {
    const int kept_errno = errno;
    if (signal == SIGINT) ctrl_c_count = ctrl_c_count + 1;
    if (signal == SIGTERM) term_count = term_count + 1;
    if (signal == SIGHUP) hangup_count = hangup_count + 1;
    const char byte = 0;
    [[maybe_unused]] const ssize_t written =
        ::write(wake_pipe[1], &byte, 1);  // if the pipe is full, the reader wakes anyway
    errno = kept_errno;
}

}  // namespace

Interrupts::Interrupts() {
    if (::pipe2(wake_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) wake_pipe = {-1, -1};
    struct sigaction action {};
    action.sa_handler = note_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &earlier_actions[i]);
    std::signal(SIGPIPE, SIG_IGN);
}

Interrupts::~Interrupts() {
    for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &earlier_actions[i], nullptr);
    for (int end : wake_pipe) ::close(end);
    wake_pipe = {-1, -1};
}

int Interrupts::ctrl_c() const {
    return ctrl_c_count;
}
bool Interrupts::terminated() const {
    return term_count > 0;
}
bool Interrupts::hung_up() const {
    return hangup_count > 0;
}

void Interrupts::wait(int timeout_ms) const {
    pollfd wake{wake_pipe[0], POLLIN, 0};
    if (::poll(&wake, 1, timeout_ms) <= 0) return;
    std::array<char, 64> drained;
    while (::read(wake_pipe[0], drained.data(), drained.size()) > 0) {
    }
}

}  // namespace ringmaster
