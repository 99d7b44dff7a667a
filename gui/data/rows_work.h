/// The long work behind the Data page: tokenizing a text as a launch would, counting, searching.
#pragma once

#include <QString>
#include <memory>
#include <optional>

#include "gui/session/job.h"
#include "launcher/rows/placement.h"
#include "launcher/rows/prepare_rows.h"
#include "launcher/rows/prepared_rows.h"

namespace ringmaster {

/// Rows that were prepared and mapped. It never changes after it was made, so threads may share it.
struct OpenRows {
    RowsToShow prepared;
    PreparedRows rows;
    Placement placement;

    explicit OpenRows(RowsToShow made);
};
using OpenRowsPtr = std::shared_ptr<const OpenRows>;

/// Figures that need a look at every row.
struct RowsSurvey {
    std::vector<LengthBin> lengths;
    RepeatedRows repeated;
    int64_t trained = 0;
};

/// A configuration's text, and the request that names its file.
struct RowsQuestion {
    Request request;  ///< Its config names the file that the text belongs to.
    QString text;
};

/// Leaves the rows in `into`, which the caller reads after the job has finished.
Job::Work rows_work(const RowsQuestion& question, const Machine& machine, const Places& places,
                    std::shared_ptr<OpenRowsPtr> into);

RowsSurvey survey(const OpenRows& rows, int bins);

}  // namespace ringmaster
