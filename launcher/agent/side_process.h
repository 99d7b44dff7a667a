/// Starts ringmaster-agent as an additional process next to a run, for work that outlives the agent and must
/// not disturb the run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ringmaster {

/// Starts `ringmaster-agent WORDS…` in its own session, without input, output or open files. Never throws.
void start_side_process(const std::vector<std::string>& words);

/// Replaces this forked process with a program; the first word is the program's path. Its input is `in` and
/// its output goes to `out`. SIGTERM has its default effect, and is blocked if `block_term`. Never returns.
[[noreturn]] void become(const std::vector<std::string>& words, int in, int out, bool block_term);

/// Opens a log for appending that only this user can read; -1 if it cannot be opened.
int open_private_log(const std::filesystem::path& file);

}  // namespace ringmaster
