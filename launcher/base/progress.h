/// Lets a long step report its progress and learn that the user cancelled it.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

namespace ringmaster {

struct ProgressStep {
    std::string name;  ///< "tokenizing", …
    int64_t done = 0;
    int64_t total = 0;      ///< 0: unknown
    bool is_bytes = false;  ///< true if done and total are bytes
};

/// Callbacks for a long step. All are called from the thread of the step; any may be empty.
struct Progress {
    std::function<void(const ProgressStep&)> step;
    std::function<void(const std::string&)> warning;
    std::function<bool()> cancelled;

    void report(const ProgressStep& now) const {
        if (step) step(now);
    }
    void warn(const std::string& text) const {
        if (warning) warning(text);
    }
    void stop_if_cancelled() const;  ///< throws Cancelled
    bool is_cancelled() const { return cancelled && cancelled(); }
};

/// Thrown when the user interrupts a step; this is not a failure.
struct Cancelled : std::runtime_error {
    Cancelled() : std::runtime_error("interrupted") {}
};

inline void Progress::stop_if_cancelled() const {
    if (is_cancelled()) throw Cancelled();
}

}  // namespace ringmaster
