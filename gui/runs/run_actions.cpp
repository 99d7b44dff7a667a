#include "gui/runs/run_actions.h"

#include <QDesktopServices>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFutureWatcher>
#include <QMessageBox>
#include <QPushButton>
#include <QStandardPaths>
#include <QUrl>
#include <QtConcurrent/QtConcurrentRun>

#include "engine/error.h"
#include "gui/look/numbers.h"
#include "gui/session/finding_words.h"
#include "launcher/history/diagnostics_bundle.h"
#include "launcher/history/export.h"
#include "launcher/history/run_details.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

struct Outcome {
    QString made, problem;
};

RunDirectory runAt(const QString& dir) {
    return RunDirectory{dir.toStdString()};
}

QString nameOf(const QString& dir) {
    return QFileInfo(dir).fileName();
}

QString homeFile(const QString& name) {
    return QDir(QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation)).filePath(name);
}

}  // namespace

QString lossWords(const QStringList& dirs) {
    int64_t bytes = 0;
    int checkpoints = 0;
    for (const QString& dir : dirs) {
        bytes += bytes_within(dir.toStdString(), 5'000);
        checkpoints += int(complete_checkpoints(runAt(dir)).size());
    }
    const QString size = show::bytes(bytes);
    if (checkpoints == 0) return size;
    //: %1 is a size such as 12 GiB
    return RunActions::tr("%1 with %n checkpoint(s)", nullptr, checkpoints).arg(size);
}

RunActions::RunActions(Session& session, QWidget* window)
    : QObject(window), m_session(session), m_window(window) {}

void RunActions::inBackground(std::function<QString()> work, std::function<void()> then) {
    ++m_jobs;
    Q_EMIT busyChanged();
    auto* watcher = new QFutureWatcher<Outcome>(this);
    connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, then = std::move(then)] {
        const Outcome outcome = watcher->result();
        watcher->deleteLater();
        --m_jobs;
        Q_EMIT busyChanged();
        if (outcome.problem.isEmpty())
            Q_EMIT done(outcome.made);
        else
            Q_EMIT failed(outcome.problem);
        if (then) then();
    });
    watcher->setFuture(QtConcurrent::run([work = std::move(work)]() -> Outcome {
        try {
            return {work(), {}};
        } catch (const Error& problem) {
            return {{}, text_of(problem)};
        } catch (const std::exception& unforeseen) {
            return {{}, QString::fromUtf8(unforeseen.what())};
        }
    }));
}

void RunActions::resume(const QString& dir, std::optional<int64_t> checkpoint) {
    ResumeOptions options;
    options.checkpoint = checkpoint;
    Q_EMIT m_session.resumeRequested(dir, options);
}

void RunActions::duplicate(const QString& dir) {
    try {
        const Duplicate copy = duplicate_of(runAt(dir));
        const QString base = copy.base_dir.empty() ? dir : QString::fromStdString(copy.base_dir);
        Q_EMIT m_session.openText(QString::fromStdString(copy.text), base);
    } catch (const Error& problem) {
        Q_EMIT failed(text_of(problem));
    }
}

void RunActions::openFolder(const QString& path) {
    if (!QFileInfo(path).isDir())
        Q_EMIT failed(tr("%1 is not there any more.").arg(path));
    else if (!QDesktopServices::openUrl(QUrl::fromLocalFile(path)))
        Q_EMIT failed(tr("No program here opens folders: %1").arg(path));
}

void RunActions::askDiagnostics(const QString& dir) {
    const QString file = QFileDialog::getSaveFileName(m_window, tr("Save diagnostics"),
                                                      homeFile(u"diagnostics-%1.tar.gz"_s.arg(nameOf(dir))),
                                                      tr("Archive (*.tar.gz)"));
    if (!file.isEmpty()) saveDiagnostics(dir, file);
}

void RunActions::askCsv(const QString& dir) {
    const QString file = QFileDialog::getSaveFileName(m_window, tr("Export as CSV"),
                                                      homeFile(nameOf(dir) + u".csv"_s), tr("Table (*.csv)"));
    if (!file.isEmpty()) exportCsv(dir, file);
}

void RunActions::askTensorBoard(const QString& dir) {
    const QString folder = QFileDialog::getSaveFileName(
        m_window, tr("Export for TensorBoard, into a new folder"), homeFile(nameOf(dir) + u"-tensorboard"_s));
    if (!folder.isEmpty()) exportTensorBoard(dir, folder);
}

void RunActions::saveDiagnostics(const QString& dir, const QString& file) {
    const Machine machine = m_session.machine().value_or(Machine{});
    inBackground([run = runAt(dir), file, machine, places = m_session.places()] {
        const auto made = save_diagnostics(run, file.toStdString(), machine, places);
        return tr("Saved %1. Look through it before you pass it on.")
            .arg(QString::fromStdString(made.string()));
    });
}

void RunActions::exportCsv(const QString& dir, const QString& file) {
    inBackground([run = runAt(dir), file] {
        const Exported made = export_csv(run, file.toStdString());
        return tr("Saved %1: %2 rows.")
            .arg(QString::fromStdString(made.path.string()), show::count(made.points));
    });
}

void RunActions::exportTensorBoard(const QString& dir, const QString& folder) {
    inBackground([run = runAt(dir), folder] {
        const Exported made = export_tensorboard(run, folder.toStdString());
        return tr("Saved %1: %2 values.")
            .arg(QString::fromStdString(made.path.string()), show::count(made.points));
    });
}

void RunActions::askDelete(const QStringList& dirs) {
    if (dirs.isEmpty()) return;
    QMessageBox box(m_window);
    box.setObjectName(u"deleteBox"_s);
    box.setWindowTitle(tr("Delete runs"));
    QStringList names;
    for (const QString& dir : dirs.mid(0, 6)) names << nameOf(dir);
    if (dirs.size() > 6) names << u"\u2026"_s;
    box.setTextFormat(Qt::PlainText);
    box.setText(tr("Delete %n run(s)?", nullptr, int(dirs.size())) + u"\n\n"_s + names.join(u'\n'));
    box.setInformativeText(tr("Lost for good: %1, the curves, logs and notes. The trained model(s) in the "
                              "output folder(s) stay.",
                              nullptr, int(dirs.size()))
                               .arg(lossWords(dirs)));
    QPushButton* remove = box.addButton(tr("Delete"), QMessageBox::DestructiveRole);
    QPushButton* keep = box.addButton(tr("Keep"), QMessageBox::RejectRole);
    box.setDefaultButton(keep);
    box.setEscapeButton(keep);
    box.exec();
    if (box.clickedButton() == remove) removeRuns(dirs);
}

void RunActions::removeRuns(const QStringList& dirs) {
    inBackground(
        [dirs] {
            for (const QString& dir : dirs) delete_run(runAt(dir));  // throws if the run is active
            return dirs.size() == 1 ? tr("Deleted %1.").arg(nameOf(dirs.first()))
                                    : tr("Deleted %n run(s).", nullptr, int(dirs.size()));
        },
        [this] { Q_EMIT m_session.runsChanged(); });
}

}  // namespace ringmaster
