#include "gui/queue/queue_dialog.h"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <optional>
#include <tuple>

#include "gui/look/card.h"
#include "gui/look/form.h"
#include "gui/look/look.h"
#include "gui/session/failure_words.h"
#include "gui/session/on_gui.h"
#include "launcher/queue/queue_add.h"
#include "launcher/queue/sweep.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

std::vector<std::string> lines_of(const QPlainTextEdit* edit) {
    std::vector<std::string> lines;
    for (const QString& line : edit->toPlainText().split(u'\n', Qt::SkipEmptyParts)) {
        if (!line.trimmed().isEmpty()) lines.push_back(line.trimmed().toStdString());
    }
    return lines;
}

/// Returns the number of runs that the sweep makes; nullopt if a line is not complete.
std::optional<int> count_of(const std::vector<std::string>& sweep) {
    try {
        return int(runs_of_sweep(sweep).size());
    } catch (const Error&) {  // the user is still typing; the button shows the error
        return std::nullopt;
    }
}

/// Returns the first line that does not define a sweep: it is neither KEY=[VALUE, …] nor the name of a file
/// of sweeps, or it has too many values.
std::string refused_line(const std::vector<std::string>& sweep) {
    for (const std::string& line : sweep) {
        try {
            std::ignore = runs_of_sweep({line});
        } catch (const Error&) {  // the dialog shows the error in the app's language
            return line;
        }
    }
    return {};
}

}  // namespace

QueueDialog::QueueDialog(Session& session, const QString& file, QWidget* parent)
    : FittedDialog(parent),
      m_session(session),
      m_file(new QLineEdit(file)),
      m_name(new QLineEdit),
      m_sweep(new QPlainTextEdit),
      m_problem(new Banner),
      m_doing(mutedLabel()),
      m_progress(new QProgressBar),
      m_browse(new QPushButton(tr("Choose…"))),
      m_cancel(new QPushButton(tr("Cancel"))),
      m_add(primaryButton(tr("Add to the queue"))) {
    setObjectName(u"queueDialog"_s);
    setWindowTitle(tr("Add to the queue"));
    m_file->setObjectName(u"queueFile"_s);
    m_file->setAccessibleName(tr("Configuration"));
    m_name->setObjectName(u"queueName"_s);
    m_name->setAccessibleName(tr("Name"));
    m_name->setPlaceholderText(tr("the file's name and the date"));
    m_sweep->setObjectName(u"queueSweep"_s);
    m_sweep->setAccessibleName(tr("Sweep"));
    m_sweep->setFont(fontOf(Type::Code));
    m_sweep->setTabChangesFocus(true);
    m_sweep->setPlaceholderText(u"learning_rate=[1e-4, 2e-4]\nlora_r=[8, 16]"_s);
    m_sweep->setFixedHeight(space(5));
    auto* about =
        mutedLabel(tr("The configuration and its rows are kept as they are now. With a key and its values on "
                      "each line of the sweep, one run is queued for each combination."));
    about->setWordWrap(true);
    m_browse->setObjectName(u"queueBrowseButton"_s);
    auto* file_row = new QHBoxLayout;
    file_row->addWidget(m_file, 1);
    file_row->addWidget(m_browse);
    auto* form = new QFormLayout;
    form->addRow(tr("Configuration"), file_row);
    form->addRow(tr("Sweep"), m_sweep);
    form->addRow(tr("Name"), m_name);
    alignNames(form);
    m_doing->setWordWrap(true);
    m_progress->setTextVisible(false);
    m_progress->setRange(0, 0);
    m_progress->setAccessibleName(tr("Progress"));
    m_problem->setObjectName(u"queueProblem"_s);
    m_problem->hide();
    m_cancel->setObjectName(u"queueCancelButton"_s);
    m_add->setObjectName(u"queueAddButton"_s);
    m_add->setDefault(true);
    auto* buttons = twoButtons(m_add, m_cancel);
    auto* foot = new QHBoxLayout;
    foot->addWidget(m_doing, 1);
    foot->addWidget(buttons);
    rows()->addWidget(about);
    rows()->addLayout(form);
    rows()->addWidget(m_problem);
    rows()->addStretch(1);
    rows()->addWidget(m_progress);
    rows()->addLayout(foot);
    setMinimumWidth(space(34));
    connect(m_file, &QLineEdit::textChanged, this, &QueueDialog::showState);
    connect(m_sweep, &QPlainTextEdit::textChanged, this, &QueueDialog::showState);
    connect(m_browse, &QPushButton::clicked, this, &QueueDialog::browse);
    connect(m_cancel, &QPushButton::clicked, this, &QueueDialog::reject);
    connect(m_add, &QPushButton::clicked, this, &QueueDialog::add);
    showState();
}

void QueueDialog::browse() {
    const QString folder = QFileInfo(m_file->text()).absolutePath();
    const QString file =
        QFileDialog::getOpenFileName(this, tr("Choose a configuration"), folder, tr("YAML (*.yaml *.yml)"));
    if (!file.isEmpty()) m_file->setText(file);
}

void QueueDialog::add() {
    QueueRequest wanted;
    wanted.request.config = QFileInfo(m_file->text()).absoluteFilePath().toStdString();
    wanted.request.environment = parallelism_environment();
    wanted.options.name = m_name->text().trimmed().toStdString();
    wanted.sweep = lines_of(m_sweep);
    m_problem->hide();
    if (const std::string line = refused_line(wanted.sweep); !line.empty()) {
        refuse(tr("The line “%1” of the sweep cannot be used.").arg(QString::fromStdString(line)),
               tr("Write a key and its values, such as %1.").arg(u"learning_rate=[1e-4, 2e-4]"_s));
        return;
    }
    m_job = new Job(
        [wanted, places = m_session.places(),
         self = QPointer<QueueDialog>(this)](const Job::Reporter& report) {
            add_to_queue(wanted, places, report.progress, [self](const RunDirectory& run) {
                onGui(self, [dir = QString::fromStdString(run.dir.string())](QueueDialog& dialog) {
                    Q_EMIT dialog.queued(dir);
                });
            });
            return QString();
        },
        this);
    connect(m_job, &Job::progressed, m_doing, [this](const QString& name) { m_doing->setText(name); });
    connect(m_job, &Job::finished, this, &QDialog::accept);
    connect(m_job, &Job::failed, this, &QueueDialog::fail);
    connect(m_job, &Job::cancelled, this, [this] { QDialog::reject(); });
    showState();
    m_doing->setText(tr("Planning the runs"));
    m_job->start();
}

void QueueDialog::fail(const JobFailure& failure) {
    m_job->deleteLater();
    m_job.clear();
    const auto [what, next] = failureWords(failure);
    refuse(what, next);
}

void QueueDialog::refuse(const QString& what, const QString& hint) {
    m_problem->say(Tone::Error, tr("It was not queued."), what, hint);
    m_problem->show();
    showState();
    (m_sweep->document()->isEmpty() ? m_file : static_cast<QWidget*>(m_sweep))->setFocus();
}

void QueueDialog::reject() {
    if (m_job)
        m_job->cancel();
    else
        QDialog::reject();
}

void QueueDialog::showState() {
    const bool busy = isBusy();
    if (busy) m_cancel->setFocus();
    for (QWidget* field : std::initializer_list<QWidget*>{m_file, m_browse, m_name, m_sweep})
        field->setEnabled(!busy);
    const bool has_file = !m_file->text().trimmed().isEmpty();
    m_add->setEnabled(!busy && has_file);
    const std::optional<int> runs = count_of(lines_of(m_sweep));
    if (!busy)
        m_doing->setText(!has_file ? tr("Choose a configuration to add it.")
                         : runs    ? tr("%n run(s)", nullptr, *runs)
                                   : QString());
    m_progress->setVisible(busy);
    if (isVisible()) fitHeight();
}

}  // namespace ringmaster
