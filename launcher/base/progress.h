/// Lets a long step report its progress and learn that the user cancelled it.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ringmaster {

struct ProgressStep {
    std::string code;                    ///< "read"; see progress_text
    std::vector<std::string> with = {};  ///< values of %1, … in its text
    int64_t done = 0;
    int64_t total = 0;      ///< 0: unknown
    bool is_bytes = false;  ///< true if done and total are bytes
};

/// Returns the English text of a step or of a rank's phase, with %1, …, which the app translates; null for an
/// unknown code, such as one of a newer version.
const char* progress_text(std::string_view code);

/// Returns the step in English, or its code if that is unknown.
std::string english(const ProgressStep& step);

/// Says what a task in the background is doing.
struct RunNote {
    std::string text;    ///< empty: nothing to report
    std::string amount;  ///< "1.2 GiB of 3.4 GiB", which changes while the text stays

    std::string whole() const { return amount.empty() ? text : text + "  " + amount; }
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
