/// Searches for rows whose text contains given words.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "launcher/rows/prepared_rows.h"

namespace ringmaster {

/// Returns, in ascending order, the rows whose text holds `words`, at most `most` of them. ASCII letters
/// match in either case. Several threads search parts of the file. If a stop is requested, returns early with
/// the rows found so far.
std::vector<int64_t> find_rows(const PreparedRows& rows, const std::string& words, size_t most,
                               const std::stop_token& stop = {});

}  // namespace ringmaster
