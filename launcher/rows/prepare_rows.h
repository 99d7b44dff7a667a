/// Tokenizes a configuration's rows, to look at before anything is trained.
#pragma once

#include <string>
#include <vector>

#include "launcher/base/token_text.h"
#include "launcher/run/prepare.h"

namespace ringmaster {

/// A row that was left out or cut.
struct LostRow {
    std::string place;  ///< file and line
    int64_t tokens = 0;
    std::string why;        ///< "long", "short" or "cut"
    std::string file = {};  ///< the place in parts; empty in the caches of older versions
    std::string unit = {};  ///< what `number` counts: "line" or "row"
    int64_t number = 0;
};

struct RowsToShow {
    Plan plan;  ///< has the number of rows; may have errors
    TokenizedRows rows;
    std::vector<LostRow> lost;  ///< first hundred rows that were left out or cut
    TokenText text;             ///< empty if there is no tokenizer.json on this machine
};

/// Tokenizes as a launch would, into the same cache. Fetches only the tokenizer from the hub, never the
/// weights. Throws PlanRefused if the file cannot be read, Error or Cancelled.
RowsToShow prepare_rows(const Request& request, const Machine& machine, const Places& places,
                        const Progress& progress);

}  // namespace ringmaster
