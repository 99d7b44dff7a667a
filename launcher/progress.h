/// How a long step tells how far it is, and hears that nobody wants it any more.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

namespace ringmaster {

struct ProgressStep {
    std::string name;  ///< "tokenizing", …
    int64_t done = 0;
    int64_t total = 0;      ///< 0: not known
    bool is_bytes = false;  ///< what done and total count
};

/// Both are called from the thread of the long step; either may be empty.
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

/// The person interrupted it: not a failure.
struct Cancelled : std::runtime_error {
    Cancelled() : std::runtime_error("interrupted") {}
};

inline void Progress::stop_if_cancelled() const {
    if (is_cancelled()) throw Cancelled();
}

}  // namespace ringmaster
