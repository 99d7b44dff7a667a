#include "gui/monitor/monitor_page.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QFutureWatcher>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QProgressBar>
#include <QScrollArea>
#include <QSlider>
#include <QStackedWidget>
#include <QTableView>
#include <QTimer>
#include <QtConcurrent/QtConcurrentRun>
#include <algorithm>
#include <cmath>

#include "engine/error.h"
#include "engine/events/event_log.h"
#include "engine/plan/resolve/plan_json.h"
#include "gui/look/icons.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/look/run_mark.h"
#include "gui/monitor/notify.h"
#include "gui/monitor/run_charts.h"
#include "gui/monitor/verdict_text.h"
#include "gui/session/alert_words.h"
#include "gui/session/finding_words.h"
#include "gui/session/long_wait.h"
#include "gui/session/run_keeper.h"
#include "launcher/alerts/settings.h"
#include "launcher/backends/backend.h"
#include "launcher/history/export.h"
#include "launcher/rows/ask_run.h"
#include "launcher/run/run_directory.h"
#include "launcher/run/start_record.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kProgressParts = 10000;
constexpr int kOfferedRuns = 15;
constexpr int kMostTableRows = 12;

/// Returns the error message of `work`, or an empty string if it succeeded.
QString saidBy(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& problem) {
        return text_of(problem);
    } catch (const std::exception& problem) {
        return QString::fromUtf8(problem.what());
    }
    return {};
}

}  // namespace

MonitorPage::~MonitorPage() {
    closeRun();
    for (QThread* thread : findChildren<QThread*>()) {
        thread->quit();
        thread->wait();
    }
}

void MonitorPage::closeRun() {
    if (m_reader) m_reader->leave();
    if (m_thread) m_thread->quit();
    m_reader.clear();
    m_thread.clear();
    m_news.reset();
    m_fed.reset();
    m_elsewhere.reset();
    m_broken = m_stopping = m_stands_still = false;
    m_log->clear();
    m_rank_model->setRows({}, 0);
    for (ChartCard* card : m_charts) {
        if (card != nullptr) card->setData({});
    }
    m_heat->setData({});
    m_samples->setSamples({});
    m_samples->setRun({});
    m_stale.fill(true);
}

void MonitorPage::openRun(const QString& dir) {
    closeRun();
    m_dir = dir;
    m_alerts_since = unix_now();
    m_session.keeper().keep(dir);
    m_request.range.reset();
    m_request.tail = 0;
    m_request.chosen_rank = -1;
    setPaused(false);
    m_follow->setChecked(false);
    m_all->hide();
    m_heat->setChosenRank(-1);
    m_header->setTitle(QFileInfo(dir).fileName());
    m_header->setSubtitle(tr("reading…"));
    for (QWidget* button : {m_stop, m_stop_now, m_resume, m_pause, m_try, m_fetch}) button->hide();
    for (Figure* figure : {m_steps, m_loss, m_rate, m_overhead, m_memory, m_age})
        figure->setValue(show::unknown());
    m_progress->setRange(0, kProgressParts);
    m_progress->setValue(0);
    m_banner->say(Tone::Plain, tr("Reading the run."));
    m_stack->setCurrentIndex(kRun);
    m_thread = new QThread(this);
    m_reader = new RunReader(dir);
    m_reader->moveToThread(m_thread);
    connect(m_thread, &QThread::started, m_reader, &RunReader::begin);
    connect(m_thread, &QThread::finished, m_reader, &QObject::deleteLater);
    connect(m_thread, &QThread::finished, m_thread, &QObject::deleteLater);
    const QPointer<RunReader> reader = m_reader;
    connect(m_reader, &RunReader::news, this, [this, reader](const std::shared_ptr<const MonitorNews>& news) {
        if (reader && reader == m_reader) take(news);  // ignores news of a run that is no longer open
    });
    connect(m_reader, &RunReader::unreadable, this, [this, reader](const QString& what) {
        if (reader && reader == m_reader) showProblem(what);
    });
    connect(m_reader, &RunReader::written, this, [this](const QString& file, const QString& problem) {
        Q_EMIT m_session.notice(problem.isEmpty() ? tr("Saved: %1").arg(file) : problem);
    });
    m_request.charts = 0;  // sendWish sees which charts are visible
    sendWish();
    m_thread->start();
}

void MonitorPage::showProblem(const QString& what) {
    m_broken = true;
    delete m_problem;
    m_problem = new EmptyView(tr("This run cannot be shown"), what);
    QPushButton* again = m_problem->addAction(tr("Try again"));
    again->setObjectName(u"tryAgainButton"_s);
    connect(again, &QPushButton::clicked, this, [this] { openRun(m_dir); });
    QPushButton* folder = m_problem->addAction(tr("Attach to a run…"));
    connect(folder, &QPushButton::clicked, this, &MonitorPage::chooseFolder);
    m_problem_room->addWidget(m_problem);
    m_stack->setCurrentIndex(kProblem);
    Q_EMIT shown();
}

void MonitorPage::take(const std::shared_ptr<const MonitorNews>& news) {
    const std::shared_ptr<const MonitorNews> before = std::exchange(m_news, news);
    const RunPicture& now = m_news->picture;
    m_log->setRanks(int(now.ranks.size()));
    m_log->add(m_news->lines);
    m_log->setFirstError(now.first_error ? std::optional(lineOf(*now.first_error)) : std::nullopt);
    showHeader();
    showFigures();
    showVerdict();
    if (!m_paused) m_samples->setSamples(m_news->samples);
    if (!m_paused) showRanks();
    showOptionalCharts();
    m_samples->setRun(trains_here(now.state) ? m_dir : QString());
    if (before) announceEnd(before->picture, now);
    announceAlerts(now);
    if (m_reader) QMetaObject::invokeMethod(m_reader, &RunReader::taken, Qt::QueuedConnection);
    Q_EMIT shown();
}

void MonitorPage::showOptionalCharts() {
    for (int kind = int(kFirstOptional); kind < kChartKinds; ++kind)
        m_charts[size_t(kind)]->setVisible((m_news->picture.optional_charts & bit(ChartKind(kind))) != 0);
}

/// Updates what a pause freezes: the table of ranks and the charts.
void MonitorPage::showRanks() {
    const RunPicture& now = m_news->picture;
    m_rank_model->setRows(now.ranks, unix_now());
    const int rows = std::clamp(int(now.ranks.size()), 2, kMostTableRows);
    m_ranks->setFixedHeight(m_ranks->horizontalHeader()->sizeHint().height() +
                            rows * m_ranks->verticalHeader()->defaultSectionSize() + space(0.9));
    fitRankColumns(*m_ranks, now.ranks);
    if (m_fed != now.charts) {
        m_fed = now.charts;
        m_stale.fill(true);
    }
    feedCharts();
    // The update may have scrolled other charts into view.
    QTimer::singleShot(0, this, &MonitorPage::feedCharts);
}

bool MonitorPage::isInSight(const QWidget* widget) const {
    return widget != nullptr && widget->isVisible() && !widget->visibleRegion().isEmpty();
}

void MonitorPage::feedCharts() {
    for (int kind = 0; kind < kChartKinds; ++kind) {
        if (m_stale[size_t(kind)] && isInSight(m_cards[size_t(kind)])) feed(ChartKind(kind));
    }
    sendWish();
}

void MonitorPage::feed(ChartKind kind) {
    if (!m_news || !m_fed || (m_fed->request.charts & bit(kind)) == 0) return;
    RunPicture now = m_news->picture;
    now.charts = m_fed;
    m_stale[size_t(kind)] = false;
    if (kind == ChartKind::Heat) {
        m_heat->setData(heatOf(now));
        if (auto* card = qobject_cast<Card*>(m_cards[size_t(kind)]))
            card->setSubtitle(chartSubtitle(kind, now));
        return;
    }
    ChartCard* card = m_charts[size_t(kind)];
    card->setSubtitle(chartSubtitle(kind, now));
    card->setData(chartOf(kind, now, m_log_axis->isChecked()));
}

void MonitorPage::sendWish() {
    if (!m_reader || m_paused) return;
    unsigned charts = 0;
    for (int kind = 0; kind < kChartKinds; ++kind) {
        if (isInSight(m_cards[size_t(kind)])) charts |= bit(ChartKind(kind));
    }
    m_request.charts = charts;
    m_request.width = m_charts[size_t(ChartKind::Loss)]->plot()->plotWidth();
    m_request.heat_columns = std::min(m_heat->columns(), 400);
    RunReader* reader = m_reader;
    QMetaObject::invokeMethod(
        reader, [reader, request = m_request] { reader->request(request); }, Qt::QueuedConnection);
}

bool MonitorPage::settled() const {
    if (m_dir.isEmpty() || m_broken) return true;
    if (!m_news || !m_fed || !m_news->picture.reading.whole()) return false;
    if (!(m_fed->request == m_request)) return false;
    for (int kind = 0; kind < kChartKinds; ++kind) {
        if (m_stale[size_t(kind)] && isInSight(m_cards[size_t(kind)])) return false;
    }
    return true;
}

void MonitorPage::setPaused(bool paused) {
    if (m_pause->isChecked() != paused) {
        m_pause->setChecked(paused);  // the button's signal calls setPaused again
        return;
    }
    m_paused = paused;
    m_pause->setText(paused ? tr("Paused") : tr("Pause"));
    if (!paused && m_news) {
        m_samples->setSamples(m_news->samples);
        showRanks();
    }
    sendWish();
}

void MonitorPage::setSmoothing(double weight) {
    m_request.smoothing = weight;
    const int part = int(std::lround(weight * 100));
    if (m_smoothing->value() != part) m_smoothing->setValue(part);
    m_smoothing_value->setText(weight > 0 ? show::number(weight, 2) : tr("off"));
    sendWish();
}

void MonitorPage::chooseRank(int rank) {
    if (rank == m_request.chosen_rank) return;
    m_request.chosen_rank = rank;
    m_heat->setChosenRank(rank);
    const QAbstractItemModel* rows = m_ranks->model();
    for (int row = 0; row < rows->rowCount(); ++row) {
        if (rows->index(row, 0).data(RankTableModel::RankRole).toInt() == rank) m_ranks->selectRow(row);
    }
    if (rank < 0) m_ranks->clearSelection();
    sendWish();
}

void MonitorPage::showSteps(std::optional<StepRange> range) {
    if (range && m_news) {
        const RunPicture& now = m_news->picture;
        const int64_t last = std::max<int64_t>(now.step.value_or(1), 1);
        const bool isAll = range->from <= 1 && range->to >= last;
        if (isAll || range->count() < 1) range.reset();
    }
    if (m_request.tail > 0) {
        const QSignalBlocker quiet(m_follow);
        m_follow->setChecked(false);
        m_request.tail = 0;
    }
    m_request.range = range;
    m_all->setVisible(range.has_value());
    sendWish();
}

void MonitorPage::askStop(StopHow how) {
    m_stopping = m_stopping || how == StopHow::FinishAndSave;
    m_stop->setEnabled(false);
    if (m_news) {
        showHeader();
        showVerdict();
    }
    m_session.keeper().leaveAlone(m_dir);  // a user who stops a run does not want a restart
    auto* watcher = new QFutureWatcher<QString>(this);
    connect(watcher, &QFutureWatcher<QString>::finished, this, [this, watcher] {
        watcher->deleteLater();
        if (watcher->result().isEmpty()) return;
        m_stopping = false;
        Q_EMIT m_session.notice(watcher->result());
        if (m_news) showHeader();
    });
    const RunDirectory at{m_dir.toStdString()};
    watcher->setFuture(QtConcurrent::run([at, how, person = m_session.person()] {
        const LongWait waits;
        return saidBy([&] { backend_of(at)->stop(at, how, person); });
    }));
}

void MonitorPage::exportTo(bool csv) {
    const QString name = QFileInfo(m_dir).fileName();
    const QString to =
        csv ? QFileDialog::getSaveFileName(this, tr("Export"), name + u".csv"_s, tr("Figures (*.csv)"))
            : QFileDialog::getExistingDirectory(this, tr("Export into an empty folder"));
    if (to.isEmpty()) return;
    auto* watcher = new QFutureWatcher<QString>(this);
    connect(watcher, &QFutureWatcher<QString>::finished, this, [this, watcher, to] {
        watcher->deleteLater();
        Q_EMIT m_session.notice(watcher->result().isEmpty() ? tr("Exported: %1").arg(to) : watcher->result());
    });
    const RunDirectory from{m_dir.toStdString()};
    watcher->setFuture(QtConcurrent::run([from, csv, file = to.toStdString()] {
        return saidBy([&] { csv ? export_csv(from, file) : export_tensorboard(from, file); });
    }));
}

void MonitorPage::saveFigures(ChartKind kind, const QString& file) {
    if (!m_reader) return;
    RunReader* reader = m_reader;
    QMetaObject::invokeMethod(
        reader, [reader, file, measures = measuresOf(kind)] { reader->writeCsv(file, measures); },
        Qt::QueuedConnection);
}

void MonitorPage::offerRuns(QPushButton* button) {
    QMenu* menu = button->menu();
    menu->clear();
    std::vector<RunSummary> runs;
    const QString problem = saidBy([&] { runs = list_runs(m_session.places().runs_dir); });
    if (runs.empty())
        menu->addAction(problem.isEmpty() ? tr("There are no runs yet") : problem)->setEnabled(false);
    for (const RunSummary& one : runs) {
        if (menu->actions().size() >= kOfferedRuns) break;
        const QString dir = QString::fromStdString(one.dir.string());
        const RunMark mark = runMark(one);
        menu->addAction(runIcon(mark, coloursOf(this)),
                        QString::fromStdString(one.name) + u" \u00B7 "_s + runWord(mark), this,
                        [this, dir] { openRun(dir); });
    }
}

void MonitorPage::chooseFolder() {
    const QString dir = QFileDialog::getExistingDirectory(this, tr("Attach to a run"));
    if (!dir.isEmpty()) openRun(dir);
}

void MonitorPage::announceEnd(const RunPicture& before, const RunPicture& now) {
    if (is_over(before.state.state) || !is_over(now.state.state)) return;
    const VerdictText said = verdictText(now.diagnosis);
    notifyDesktop(QString::fromStdString(now.state.name) + u": "_s + said.verdict, said.why);
    Q_EMIT m_session.runsChanged();
}

/// Shows new alerts as desktop notifications if the user's settings ask for that. Alerts from before the run
/// was opened are not shown.
void MonitorPage::announceAlerts(const RunPicture& now) {
    std::vector<Alert> alerts;
    std::copy_if(now.alerts.begin(), now.alerts.end(), std::back_inserter(alerts),
                 [this](const Alert& alert) { return alert.t > m_alerts_since; });
    if (alerts.empty()) return;
    m_alerts_since = alerts.back().t;
    AlertSettings settings;
    std::ignore = saidBy([&] { settings = read_alert_settings(alert_settings_file()); });
    for (const Alert& alert : alerts) {
        if (settings.desktop && settings.kinds.contains(alert.kind))
            notifyDesktop(QString::fromStdString(now.state.name), alertText(alert));
    }
}

void MonitorPage::resizeEvent(QResizeEvent* event) {
    Page::resizeEvent(event);
    QTimer::singleShot(0, this, [this] {
        if (m_news) fitRankColumns(*m_ranks, m_news->picture.ranks);
        feedCharts();
    });
}

void MonitorPage::appear() {
    QTimer::singleShot(0, this, &MonitorPage::feedCharts);
}

void MonitorPage::recolour() {
    m_pause->setIcon(icon(u"pause"_s));
}

void MonitorPage::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Space && m_pause->isVisible()) return setPaused(!m_paused);
    Page::keyPressEvent(event);
}

}  // namespace ringmaster
