/// Ctrl-C, SIGTERM and a closed terminal, as counts to look at and something to wait for.
#pragma once

namespace ringmaster {

/// Installs the handlers for its lifetime (one at a time); SIGPIPE is ignored, so that a closed reader is a
/// failed write.
class Interrupts {
  public:
    Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;
    ~Interrupts();

    int ctrl_c() const;       ///< how often so far
    bool terminated() const;  ///< SIGTERM came
    bool hung_up() const;     ///< the terminal was closed
    bool wants_end() const { return ctrl_c() > 0 || terminated(); }

    /// Until a signal comes, at most `timeout_ms`.
    void wait(int timeout_ms) const;
};

}  // namespace ringmaster
