#include "gui/runs/details_panel.h"

#include <QHeaderView>
#include <QMenu>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QTabWidget>
#include <QToolButton>
#include <QTreeWidget>
#include <QtConcurrent/QtConcurrentRun>

#include "engine/error.h"
#include "engine/events/event_log.h"
#include "gui/charts/plot.h"
#include "gui/look/card_grid.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/look/scrolled.h"
#include "gui/runs/estimate_bars.h"
#include "gui/runs/notes_editor.h"
#include "gui/runs/runs_model.h"
#include "gui/session/mesh_words.h"
#include "gui/session/reason_words.h"
#include "launcher/backends/backend.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr qsizetype kMostConfig = 400'000;  ///< maximum number of characters shown

QTreeWidget* plainTable(const QStringList& titles, const QString& name) {
    auto* table = new QTreeWidget;
    table->setHeaderLabels(titles);
    table->setRootIsDecorated(false);
    table->setUniformRowHeights(true);
    table->setAllColumnsShowFocus(true);
    table->setAccessibleName(name);
    table->setProperty("flat", true);
    table->header()->setStretchLastSection(false);
    table->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    return table;
}

ChartData lossChart(const MeasuredFigures& measured) {
    ChartData data;
    data.x.assign(measured.curve_step.begin(), measured.curve_step.end());
    data.xUnit = Unit::Count;
    data.yUnit = Unit::Loss;
    data.xName = DetailsPanel::tr("step");
    data.bridgeGaps = true;
    ChartSeries series;
    series.name = DetailsPanel::tr("loss");
    series.colour = [](const Colours& colours) { return rankColour(0, colours); };
    series.value = measured.curve_loss;
    if (!data.x.empty()) data.series.push_back(std::move(series));
    return data;
}

/// Returns the hosts or the Slurm job of a run, or an empty string if the run is on this machine only.
QString whereWords(const RunDirectory& run) {
    try {
        const RunPlace where = place_of(run);
        QStringList hosts;
        for (const std::string& host : where.hosts) hosts << QString::fromStdString(host);
        if (!where.job)
            return hosts.isEmpty() ? QString() : DetailsPanel::tr("on %1").arg(show::listed(hosts));
        const QString job = QString::fromStdString(*where.job);
        if (job.isEmpty()) return DetailsPanel::tr("for Slurm");
        //: %1 is the number of a job, %2 a login node
        return hosts.isEmpty() ? DetailsPanel::tr("Slurm job %1").arg(job)
                               : DetailsPanel::tr("Slurm job %1 of %2").arg(job, hosts.first());
    } catch (const Error&) {  // the banner reports damaged runs
        return {};
    }
}

QString firstLines(const QString& reason) {
    return reason.section(u'\n', 0, 2);
}

}  // namespace

DetailsPanel::DetailsPanel(Session& session, RunActions& actions, QWidget* parent)
    : Card({}, parent),
      m_session(session),
      m_actions(actions),
      m_mark(new QLabel),
      m_name(new ElidedLabel),
      m_state(mutedLabel()),
      m_banner(new Banner),
      m_open(primaryButton(tr("Open in Monitor"))),
      m_resume(new QPushButton(tr("Resume"))),
      m_duplicate(new QPushButton(tr("Duplicate into Plan"))),
      m_more(new QToolButton),
      m_tabs(new QTabWidget),
      m_facts(mutedLabel()),
      m_bars(new EstimateBars),
      m_loss(new Plot),
      m_notes(new NotesEditor),
      m_noCheckpoints(mutedLabel()),
      m_resumeHere(new QPushButton(tr("Resume from here"))),
      m_config(new QPlainTextEdit),
      m_files(plainTable({tr("File"), tr("Size"), tr("Changed")}, tr("Files of the run"))) {
    setObjectName(u"runDetails"_s);
    m_config->setReadOnly(true);
    m_config->setFont(fontOf(Type::Code));
    m_config->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_config->setAccessibleName(tr("Configuration of the run"));
    m_config->setObjectName(u"runConfig"_s);
    m_files->setObjectName(u"runFiles"_s);
    m_tabs->setObjectName(u"runTabs"_s);
    m_tabs->setDocumentMode(true);
    m_tabs->setUsesScrollButtons(true);
    m_tabs->addTab(scrolled(makeSummary()), tr("Summary"));
    m_tabs->addTab(m_notes, tr("Notes"));
    m_tabs->addTab(makeCheckpoints(), tr("Checkpoints"));
    m_tabs->addTab(m_config, tr("Configuration"));
    m_tabs->addTab(m_files, tr("Files"));
    body()->addWidget(makeHead());
    body()->addWidget(m_banner);
    body()->addWidget(m_tabs, 1);
    connect(&m_watcher, &QFutureWatcherBase::finished, this, &DetailsPanel::take);
    connect(m_notes, &NotesEditor::saved, &m_session, &Session::runsChanged);
    connect(m_files, &QTreeWidget::itemActivated, this, [this](const QTreeWidgetItem* item) {
        const QString name = item->text(0);
        m_actions.openFolder(name.endsWith(u'/') ? m_dir + u'/' + name : m_dir);
    });
    showNothing();
}

QWidget* DetailsPanel::makeHead() {
    m_name->setFont(fontOf(Type::Title));
    m_name->setAccessibleName(tr("Chosen run"));
    m_open->setObjectName(u"openInMonitor"_s);
    m_open->setToolTip(tr("Open in Monitor (Enter)"));
    m_resume->setObjectName(u"resumeRun"_s);
    m_duplicate->setObjectName(u"duplicateRun"_s);
    m_more->setObjectName(u"moreActions"_s);
    m_more->setText(tr("More"));
    m_more->setAccessibleName(tr("More actions for this run"));
    m_more->setPopupMode(QToolButton::InstantPopup);
    m_more->setMenu(makeMore());
    connect(m_open, &QPushButton::clicked, this, [this] { Q_EMIT m_session.openRun(m_dir); });
    connect(m_resume, &QPushButton::clicked, this, [this] { m_actions.resume(m_dir); });
    connect(m_duplicate, &QPushButton::clicked, this, [this] { m_actions.duplicate(m_dir); });
    auto* title = new QHBoxLayout;
    title->setSpacing(space(0.4));
    title->addWidget(m_mark);
    title->addWidget(m_name, 1);
    title->addWidget(m_state);
    auto* head = new QWidget;
    auto* layout = new QVBoxLayout(head);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(0.5));
    layout->addLayout(title);
    auto* actions = new QWidget;
    auto* row = new QHBoxLayout(actions);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(space(0.4));
    for (QWidget* each : std::initializer_list<QWidget*>{m_open, m_resume, m_duplicate, m_more})
        row->addWidget(each);
    row->addStretch(1);
    layout->addWidget(actions);
    return head;
}

QMenu* DetailsPanel::makeMore() {
    auto* menu = new QMenu(this);
    const auto add = [&](const QString& name, const QString& text, void (RunActions::*what)(const QString&)) {
        QAction* action = menu->addAction(text);
        action->setObjectName(name);
        connect(action, &QAction::triggered, this, [this, what] { (m_actions.*what)(m_dir); });
    };
    add(u"saveDiagnostics"_s, tr("Save diagnostics…"), &RunActions::askDiagnostics);
    add(u"exportCsv"_s, tr("Export as CSV…"), &RunActions::askCsv);
    add(u"exportTensorBoard"_s, tr("Export for TensorBoard…"), &RunActions::askTensorBoard);
    menu->addSeparator();
    QAction* fetch = menu->addAction(tr("Bring model or checkpoint here…"));
    fetch->setObjectName(u"fetchRun"_s);
    connect(fetch, &QAction::triggered, this, [this] { Q_EMIT m_session.fetchRequested(m_dir); });
    connect(menu, &QMenu::aboutToShow, this, [this, fetch] {
        fetch->setEnabled(backend_of({m_row.dir})->has_results_elsewhere({m_row.dir}));
    });
    menu->addSeparator();
    QAction* tries = menu->addAction(tr("Try the trained model…"));
    tries->setObjectName(u"tryRun"_s);
    connect(tries, &QAction::triggered, this, [this] { Q_EMIT m_actions.tryWanted(m_dir); });
    connect(menu, &QMenu::aboutToShow, this,
            [this, tries] { tries->setEnabled(m_row.state.state == RunPhase::Completed); });
    add(u"openFolder"_s, tr("Open the run's folder"), &RunActions::openFolder);
    QAction* model = menu->addAction(tr("Open the trained model's folder"));
    model->setObjectName(u"openModel"_s);
    connect(model, &QAction::triggered, this,
            [this] { m_actions.openFolder(QString::fromStdString(m_details.model_dir.string())); });
    connect(menu, &QMenu::aboutToShow, this,
            [this, model] { model->setEnabled(!m_details.model_dir.empty()); });
    menu->addSeparator();
    QAction* remove = menu->addAction(tr("Delete…"));
    remove->setObjectName(u"deleteRun"_s);
    connect(remove, &QAction::triggered, this, [this] { m_actions.askDelete({m_dir}); });
    connect(menu, &QMenu::aboutToShow, this, [this, remove] { remove->setEnabled(!m_row.is_live()); });
    return menu;
}

QWidget* DetailsPanel::makeSummary() {
    auto* inside = new QWidget;
    auto* layout = new QVBoxLayout(inside);
    layout->setContentsMargins(0, space(0.4), space(0.4), 0);
    layout->setSpacing(space(0.8));
    auto* row = new QWidget;
    auto* grid = new CardGrid(6, 5, row);
    for (const QString& caption : {tr("step"), tr("loss"), tr("best loss"), tr("mean tokens/s"),
                                   tr("exposed communication (last steps)")}) {
        m_figures.push_back(new Figure(caption));
        grid->addCard(m_figures.back());
    }
    m_facts->setWordWrap(true);
    m_facts->setTextFormat(Qt::PlainText);
    m_facts->setTextInteractionFlags(Qt::TextSelectableByMouse);
    layout->addWidget(row);
    layout->addWidget(m_facts);
    layout->addWidget(m_bars);
    auto* title = new QLabel(tr("Loss"));
    m_loss->setObjectName(u"runLoss"_s);
    m_loss->setAccessibleName(tr("Loss of the chosen run"));
    m_loss->setEmptyText(tr("No step yet"));
    m_loss->setMinimumHeight(space(9));
    m_loss->setMaximumHeight(space(36));
    layout->addWidget(title);
    layout->addWidget(m_loss, 1);
    layout->addStretch(1);
    return inside;
}

QWidget* DetailsPanel::makeCheckpoints() {
    m_checkpoints = plainTable({tr("Checkpoint"), tr("Size"), tr("Saved")}, tr("Complete checkpoints"));
    m_checkpoints->setObjectName(u"checkpoints"_s);
    m_resumeHere->setObjectName(u"resumeHere"_s);
    m_resumeHere->setEnabled(false);
    m_noCheckpoints->setWordWrap(true);
    auto* page = new QWidget;
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, space(0.3), 0, 0);
    layout->addWidget(m_checkpoints, 1);
    layout->addWidget(m_noCheckpoints);
    layout->addWidget(m_resumeHere, 0, Qt::AlignLeft);
    connect(m_checkpoints, &QTreeWidget::currentItemChanged, this, [this](const QTreeWidgetItem* item) {
        m_resumeHere->setEnabled(item != nullptr && is_over(m_row.state.state) &&
                                 m_row.state.state != RunPhase::Completed && m_row.problem.empty());
    });
    connect(m_checkpoints, &QTreeWidget::itemActivated, this, &DetailsPanel::resumeFromChosen);
    connect(m_resumeHere, &QPushButton::clicked, this, &DetailsPanel::resumeFromChosen);
    return page;
}

void DetailsPanel::resumeFromChosen() {
    const QTreeWidgetItem* chosen = m_checkpoints->currentItem();
    if (chosen == nullptr || !m_resumeHere->isEnabled()) return;
    m_actions.resume(m_dir, chosen->data(0, Qt::UserRole).toLongLong());
}

void DetailsPanel::showNothing() {
    m_notes->edit({}, {});
    m_dir.clear();
    setEnabled(false);
    m_name->setFullText(tr("No run is chosen"));
    m_state->clear();
    m_mark->clear();
    m_banner->hide();
    m_tabs->hide();
}

void DetailsPanel::showRun(const RunRow& row) {
    const QString dir = QString::fromStdString(row.dir.string());
    const bool another = dir != m_dir;
    const bool changed = another || row.is_live() || row.state.updated != m_row.state.updated ||
                         row.measured.step != m_row.measured.step;
    m_dir = dir;
    m_row = row;
    setEnabled(true);
    m_tabs->show();
    fillSummary(row);
    m_notes->edit(RunDirectory{row.dir}, row.notes);
    if (another) {
        m_details = {};
        m_config->clear();
        m_checkpoints->clear();
        m_files->clear();
    }
    if (changed) readDetails();
}

void DetailsPanel::fillSummary(const RunRow& row) {
    const Colours c = coloursOf(this);
    const RunMark mark = runMark(row);
    const int side = space(1.1);
    m_mark->setPixmap(runIcon(mark, c).pixmap(QSize(side, side), devicePixelRatioF()));
    m_name->setFullText(QString::fromStdString(row.name));
    m_state->setText(runWord(mark));
    m_banner->setVisible(mark >= RunMark::Failed);
    if (mark == RunMark::Damaged)
        m_banner->say(Tone::Warning, tr("This run's files are damaged."), firstLines(whyOf(row)));
    else if (mark == RunMark::Incomplete)
        m_banner->say(Tone::Warning, whyOf(row));
    else if (mark == RunMark::Failed)
        m_banner->say(Tone::Error, tr("It failed."), show::begun(firstLines(whyOf(row))));
    const auto& measured = row.measured;
    const auto with = [](const auto& value, auto form) { return value ? form(*value) : show::unknown(); };
    m_figures[0]->setValue(with(measured.step, show::count));
    m_figures[1]->setValue(with(measured.last_loss, show::loss));
    m_figures[2]->setValue(with(measured.best_loss, show::loss));
    m_figures[3]->setValue(with(measured.tokens_per_s, show::rate));
    m_figures[4]->setValue(with(measured.overhead, show::percent));
    QStringList facts;
    const auto& plan = row.planned;
    if (!plan.model.empty()) facts << QString::fromStdString(plan.model);
    if (plan.mesh) facts << mesh_words(*plan.mesh, plan.zero_stage);
    if (!plan.layout.empty() && plan.mesh && plan.mesh->ring > 1)
        facts << QString::fromStdString(plan.layout);
    if (plan.sequence_len) facts << tr("%1 tokens a sequence").arg(show::count(*plan.sequence_len));
    if (plan.global_batch) facts << tr("%n row(s) a step", nullptr, int(*plan.global_batch));
    if (const QString where = whereWords(RunDirectory{row.dir}); !where.isEmpty()) facts << where;
    if (row.state.started > 0) facts << tr("started %1").arg(show::time(row.state.started));
    //: %1 is a duration such as 1 min 40 s
    if (const auto seconds = row.duration_s(row.read_at))
        facts << (row.is_live() ? tr("running for %1") : tr("ran %1")).arg(show::duration(*seconds));
    if (row.state.attempt > 1) facts << tr("attempt %1").arg(row.state.attempt);
    m_facts->setText(facts.join(u" \u00B7 "_s));
    m_facts->setVisible(!facts.isEmpty());
    m_bars->show(row);
    m_loss->setData(lossChart(measured));
    m_resume->setEnabled(row.problem.empty() && is_over(row.state.state) &&
                         row.state.state != RunPhase::Completed);
    m_resume->setToolTip(m_resume->isEnabled() ? tr("Goes on from the newest complete checkpoint")
                                               : tr("Only a run that stopped or failed can go on"));
}

void DetailsPanel::readDetails() {
    if (m_watcher.isRunning()) {
        m_again = true;
        return;
    }
    m_reading = true;
    m_watcher.setFuture(QtConcurrent::run([dir = m_dir] {
        try {
            return read_details(RunDirectory{dir.toStdString()});
        } catch (const std::exception&) {  // the run was deleted; the table shows it soon
            return RunDetails{};
        }
    }));
}

void DetailsPanel::take() {
    RunDetails details = m_watcher.result();
    m_reading = false;
    if (m_again || QString::fromStdString(details.row.dir.string()) != m_dir) {
        m_again = false;
        if (!m_dir.isEmpty()) readDetails();
        return;
    }
    m_details = std::move(details);
    QString text = QString::fromStdString(m_details.config_text);
    if (text.size() > kMostConfig) text = text.left(kMostConfig) + u"\n\u2026"_s;
    if (text != m_config->toPlainText()) m_config->setPlainText(text);
    fillCheckpoints();
    fillFiles();
}

void DetailsPanel::fillCheckpoints() {
    const auto count = int(m_details.checkpoints.size());
    m_tabs->setTabText(2, count > 0 ? tr("Checkpoints (%1)").arg(count) : tr("Checkpoints"));
    m_checkpoints->setVisible(count > 0);
    m_resumeHere->setVisible(count > 0);
    m_noCheckpoints->setText(count > 0 ? QString() : tr("No checkpoint was saved to its end yet."));
    m_noCheckpoints->setVisible(count == 0);
    if (m_checkpoints->topLevelItemCount() == count) return;
    m_checkpoints->clear();
    for (auto info = m_details.checkpoints.rbegin(); info != m_details.checkpoints.rend(); ++info) {
        auto* item = new QTreeWidgetItem(m_checkpoints, {tr("step %1").arg(show::count(info->step)),
                                                         show::bytes(info->bytes), show::time(info->saved)});
        item->setData(0, Qt::UserRole, qlonglong(info->step));
        item->setTextAlignment(1, Qt::AlignRight | Qt::AlignVCenter);
    }
}

void DetailsPanel::fillFiles() {
    m_files->clear();
    for (const ListedFile& file : m_details.files) {
        auto* item = new QTreeWidgetItem(
            m_files, {QString::fromStdString(file.name), show::bytes(file.bytes), show::time(file.changed)});
        item->setTextAlignment(1, Qt::AlignRight | Qt::AlignVCenter);
    }
}

void DetailsPanel::saveNotes() {
    m_notes->saveNow();
}

}  // namespace ringmaster
