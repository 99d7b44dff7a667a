/// Asks the user's reward functions, which are Python, in a process of their own
/// (launcher/tokenize/ringmaster_rows/judge.py), which also asks a server for completions; or takes
/// rollouts from a folder by such a process (rollout_folder.py). What the process answers is not trusted: an
/// answer is one JSON line of limited length that has to hold exactly the rewards that were asked for.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/train/advantages.h"

namespace ringmaster {

struct RewardCommand {
    std::vector<std::string> words;      ///< a program's path and its arguments
    std::vector<std::string> functions;  ///< their names, in the order of the rewards
    std::chrono::milliseconds patience =
        std::chrono::minutes(2);           ///< for one function's answer, and the start
    const char* code = "REWARD-FUNCTION";  ///< of errors, unless a question has another
    std::string whom = "reward functions";
};

/// A completion that is to be judged.
struct Judged {
    int64_t prompt = 0;  ///< index of the prompt's row
    std::vector<int64_t> ids;
};

/// Says how an answer is awaited, and how its failure is named.
struct Asking {
    const char* code;  ///< of the error
    std::string whom;  ///< where the error is
    const char* hint;  ///< of errors of the process itself
    std::chrono::milliseconds patience;
    size_t functions = 0;                               ///< that start the time anew, once each
    std::function<void(const std::string&)> warn = {};  ///< called with each warning of the process
    /// Called with the seconds that the process says it has waited, and those it may.
    std::function<void(int64_t, int64_t)> waits = {};
    std::function<bool()> stops = {};  ///< after a warning: returns whether to wait no longer
    bool stops_at_once = false;        ///< asks `stops` without a warning too
};

class RewardProcess {
  public:
    /// Starts the process and waits until it has found all functions. Throws Error(Refused) if it has not.
    explicit RewardProcess(RewardCommand command);
    ~RewardProcess();  ///< ends the process, and what it started
    RewardProcess(const RewardProcess&) = delete;
    RewardProcess& operator=(const RewardProcess&) = delete;

    /// Returns the rewards of each completion. Throws Error(Refused), which names the function and, if it is
    /// known, the prompt: for an exception, a wrong number of rewards, one that is not finite, an answer that
    /// comes too late, or a process that ended.
    Rewards judge(int64_t step, const std::vector<Judged>& completions);

    /// Sends a line and returns the line that answers it, or nothing if `asking.stops` said so: the process
    /// cannot be asked again then. Throws Error(Refused) as `asking` says.
    std::optional<std::string> ask(const std::string& line, size_t longest, const Asking& asking);

  private:
    Asking of_functions() const;
    void send(const std::string& line, const Asking& asking);
    std::optional<std::string> receive(size_t longest, const Asking& asking);
    bool takes_bytes(size_t longest, const Asking& asking, std::chrono::steady_clock::time_point deadline);
    [[noreturn]] void fail(const Asking& asking, const std::string& what, const std::string& advice = {});
    void end();

    const RewardCommand command_;
    pid_t process_ = -1;
    int socket_ = -1;
    std::string pending_;  ///< bytes after the last line
    std::string running_;  ///< the function that the process said it would call
};

/// Reads an answer's rewards, `count` of each function. Throws Error(Refused) if it holds anything else.
Rewards rewards_in(const std::string& line, const std::vector<std::string>& functions, size_t count);

}  // namespace ringmaster
