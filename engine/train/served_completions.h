/// Writes the question for a server's completions, and reads the answer. A Python process sends the question
/// to the server (launcher/tokenize/ringmaster_rows/judge.py), because the engine does not use HTTP. These
/// functions only convert; they send nothing. Neither the server nor the process is trusted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/sample/generate.h"

namespace ringmaster {

struct ServedQuestion {
    int64_t step = 0;                        ///< number of the step; the first is 1
    std::string weights;                     ///< folder with the current weights
    std::vector<std::vector<int64_t>> asks;  ///< tokens of each prompt
    int64_t generations = 1;                 ///< completions of each prompt
    int64_t vocabulary = 0;
    Generation generation;
    bool wants_log_probabilities = false;

    size_t completions() const { return asks.size() * static_cast<size_t>(generations); }
};

/// Returns the question as one line of JSON:
///
///     {"sample": {"step", "weights", "prompts": [[ids]], "n", "max_tokens", "temperature", "top_k", "top_p",
///      "seed", "stop_ids", "vocabulary", "log_probabilities"}}
///
/// `seed` is the first completion's seed; each further completion's seed is one greater.
std::string line_of(const ServedQuestion& question);

/// Returns the maximum length of an answer, in bytes.
size_t longest_answer(const ServedQuestion& question);

/// Reads {"completions": [[ids]], "log_probabilities": [[numbers]] or null}: the completions of a prompt
/// follow each other. Throws Error(Refused) unless each completion has 1 to max_new_tokens tokens of the
/// vocabulary, with a stop token only at its end. Log-probabilities, if requested, must be finite and not
/// positive.
std::vector<Completion> completions_in(const std::string& line, const ServedQuestion& question);

}  // namespace ringmaster
