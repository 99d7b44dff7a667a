/// Runs the user's reward functions, which are Python, in a separate process
/// (launcher/tokenize/ringmaster_rows/judge.py). The same process can also ask a server for completions; a
/// process of rollout_folder.py takes rollouts from a folder instead. Answers of the process are not trusted:
/// an answer is one JSON line of limited length that must hold exactly the rewards that were requested.
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
    std::vector<std::string> words;      ///< path of a program, and its arguments
    std::vector<std::string> functions;  ///< names of the reward functions, in the order of the rewards
    std::chrono::milliseconds patience =
        std::chrono::minutes(2);           ///< timeout of one function's answer, and of the start
    const char* code = "REWARD-FUNCTION";  ///< error code of failures, unless a request sets another
    std::string whom = "reward functions";
};

/// Holds a completion that is to be judged.
struct CompletionToScore {
    int64_t prompt = 0;  ///< index of the prompt's row
    std::vector<int64_t> ids;
};

/// Says how long to wait for an answer, and how to report a failure.
struct AnswerRules {
    const char* code;  ///< code of the error
    std::string whom;  ///< place that the error message names
    const char* hint;  ///< hint for errors of the process itself
    std::chrono::milliseconds patience;
    /// Number of functions; each function restarts the timeout once.
    size_t functions = 0;
    std::function<void(const std::string&)> warn = {};  ///< called with each warning of the process
    /// Called with the seconds that the process has waited, and the seconds that it may wait, as it reports
    /// them.
    std::function<void(int64_t, int64_t)> waits = {};
    std::function<bool()> stops = {};  ///< called after a warning: returns true to stop waiting
    bool stops_at_once = false;        ///< also calls `stops` without a warning
};

class RewardProcess {
  public:
    /// Starts the process and waits until it has found all functions. Throws Error(Refused) if it has not.
    explicit RewardProcess(RewardCommand command);
    ~RewardProcess();  ///< ends the process and its children
    RewardProcess(const RewardProcess&) = delete;
    RewardProcess& operator=(const RewardProcess&) = delete;

    /// Returns the rewards of each completion. Throws Error(Refused), which names the function and, if it is
    /// known, the prompt: for an exception, a wrong number of rewards, a reward that is not finite, a
    /// timeout, or a process that ended.
    Rewards judge(int64_t step, const std::vector<CompletionToScore>& completions);

    /// Sends a line and returns the line that answers it. Returns nothing if `rules.stops` returned true;
    /// the process cannot be used after that. Throws Error(Refused) as `rules` says.
    std::optional<std::string> ask(const std::string& line, size_t longest, const AnswerRules& rules);

  private:
    AnswerRules of_functions() const;
    void send(const std::string& line, const AnswerRules& rules);
    std::optional<std::string> receive(size_t longest, const AnswerRules& rules);
    bool takes_bytes(size_t longest, const AnswerRules& rules,
                     std::chrono::steady_clock::time_point deadline);
    [[noreturn]] void fail(const AnswerRules& rules, const std::string& what, const std::string& advice = {});
    void end();

    const RewardCommand command_;
    pid_t process_ = -1;
    int socket_ = -1;
    std::string pending_;  ///< bytes received after the last line
    std::string running_;  ///< name of the function that the process announced it would call
};

/// Reads an answer's rewards, `count` of each function. Throws Error(Refused) if it holds anything else.
Rewards rewards_in(const std::string& line, const std::vector<std::string>& functions, size_t count);

}  // namespace ringmaster
