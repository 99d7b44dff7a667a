/// Formats prepared rows as text for people and as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "launcher/cli/terminal.h"
#include "launcher/rows/placement.h"
#include "launcher/rows/prepare_rows.h"
#include "launcher/rows/prepared_rows.h"

namespace ringmaster {

struct RowsReport {
    const RowsToShow& prepared;
    const PreparedRows& rows;
    const Placement& placement;
    std::vector<int64_t> shown;           ///< numbers of the rows to print, from 0
    std::optional<std::string> searched;  ///< words by which the rows were found
};

nlohmann::json rows_json(const RowsReport& report);
std::string rows_text(const RowsReport& report, const Terminal& terminal);

}  // namespace ringmaster
