/// Applies `unfrozen_parameters`: which parameters are trained, and which of their rows. Source: axolotl
/// 0.19, utils/freeze.py.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/families/model_config.h"

namespace ringmaster {

struct Unfrozen {
    bool trained = false;
    std::vector<std::pair<int64_t, int64_t>> frozen_rows;  ///< [begin, end) of a trained parameter, ascending
    std::string problem;  ///< a range that the parameter does not have; empty if there is none
};

/// Returns which rows of the parameter the patterns train. A pattern is a regular expression for the
/// beginning of a name, with literal dots, and may end with a range of rows such as [:32000].
Unfrozen unfrozen_of(const ParameterShape& shape, const std::vector<std::string>& patterns);

}  // namespace ringmaster
