/// Does the long work behind the Data page: tokenizes a text as a launch would, counts, searches.
#pragma once

#include <QString>
#include <memory>
#include <optional>

#include "gui/session/job.h"
#include "launcher/rows/placement.h"
#include "launcher/rows/prepare_rows.h"
#include "launcher/rows/prepared_rows.h"

namespace ringmaster {

/// Holds rows that were prepared and mapped. It never changes once made, so threads may share it.
struct OpenRows {
    RowsToShow prepared;
    PreparedRows rows;

    explicit OpenRows(RowsToShow made);
};
using OpenRowsPtr = std::shared_ptr<const OpenRows>;

/// Holds figures for which every row has to be read.
struct RowsSurvey {
    std::vector<LengthBin> lengths;
    RepeatedRows repeated;
    int64_t trained = 0;
};

/// Holds a configuration's text, and the request that names its file.
struct RowsQuestion {
    Request request;  ///< request whose `config` is the file of the text
    QString text;
};

/// Returns a job that puts the rows into `into`, which the caller reads after the job has finished.
Job::Work rows_work(const RowsQuestion& question, const Machine& machine, const Places& places,
                    std::shared_ptr<OpenRowsPtr> into);

RowsSurvey survey(const OpenRows& rows, int bins);

}  // namespace ringmaster
