#include "gui/data/rows_work.h"

#include <QDir>
#include <QFileInfo>
#include <QTemporaryDir>
#include <algorithm>
#include <utility>

#include "launcher/base/files.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

OpenRows::OpenRows(RowsToShow made)
    : prepared(std::move(made)), rows(prepared.rows.data.tokens, prepared.text) {}

Job::Work rows_work(const RowsQuestion& question, const Machine& machine, const Places& places,
                    std::shared_ptr<OpenRowsPtr> into) {
    return [question, machine, places, into = std::move(into)](const Job::Reporter& report) {
        const QTemporaryDir folder;
        Request request = question.request;
        const QFileInfo file(QString::fromStdString(request.config));
        if (request.base_dir.empty()) request.base_dir = file.absolutePath().toStdString();
        const QString copy = folder.filePath(u"edited.yaml"_s);
        write_file(copy.toStdString(), question.text.toStdString());
        request.config = copy.toStdString();
        *into = std::make_shared<const OpenRows>(prepare_rows(request, machine, places, report.progress));
        return QString();
    };
}

RowsSurvey survey(const OpenRows& rows, int bins) {
    const int64_t longest =
        std::max<int64_t>({1, rows.prepared.plan.config.sequence_len, rows.prepared.rows.longest});
    return {rows.rows.lengths(longest, bins), rows.rows.duplicates(), rows.rows.trained_tokens()};
}

}  // namespace ringmaster
