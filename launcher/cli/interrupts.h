/// Counts Ctrl-C, SIGTERM and SIGHUP, and waits for them.
#pragma once

namespace ringmaster {

constexpr int kPollMs = 100;  ///< interval at which waiting commands check for signals and new events

/// Installs the signal handlers for the lifetime of the object; only one object may exist at a time. Ignores
/// SIGPIPE, so that writing to a closed reader fails instead.
class Interrupts {
  public:
    Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;
    ~Interrupts();

    int ctrl_c() const;       ///< number of Ctrl-C presses so far
    bool terminated() const;  ///< true: SIGTERM arrived
    bool hung_up() const;     ///< true: the terminal was closed
    bool wants_end() const { return ctrl_c() > 0 || terminated(); }

    /// Waits for a signal, at most `timeout_ms`.
    void wait(int timeout_ms) const;
};

}  // namespace ringmaster
