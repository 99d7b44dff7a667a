// Shows the run's state: the header, the figures below it, and the verdict.
#include <QGraphicsOpacityEffect>
#include <QProgressBar>
#include <QStackedWidget>
#include <algorithm>

#include "engine/error.h"
#include "engine/events/event_log.h"
#include "engine/plan/resolve/plan_json.h"
#include "gui/look/numbers.h"
#include "gui/look/run_mark.h"
#include "gui/monitor/monitor_page.h"
#include "gui/monitor/verdict_text.h"
#include "gui/session/progress_words.h"
#include "gui/session/reason_words.h"
#include "gui/session/run_keeper.h"
#include "launcher/queue/queue_file.h"
#include "launcher/queue/queue_runner.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr double kGreyed = 0.5;

}  // namespace

void MonitorPage::showHeader() {
    const RunPicture& now = m_news->picture;
    const RunState& state = now.state;
    const bool unknown = now.diagnosis.finding == Finding::Disconnected;
    const bool stopping = m_stopping && state.state == RunPhase::Running;
    QStringList parts{unknown                        ? tr("disconnected")
                      : stopping                     ? runWord(RunMark::Stopping)
                      : now.diagnosis.is_cut_short() ? runWord(RunMark::Incomplete)
                                                     : runWord(runMark(state.state))};
    QStringList hosts;
    for (const RankRow& rank : now.ranks) {
        const QString host = QString::fromStdString(rank.host);
        if (!host.isEmpty() && !hosts.contains(host)) hosts << host;
    }
    parts << tr("%n rank(s)", nullptr, state.ranks);
    if (!hosts.isEmpty() && hosts.size() <= 4) parts << show::listed(hosts);
    if (hosts.size() > 4) parts << tr("%n hosts", nullptr, int(hosts.size()));
    if (state.attempt > 1) parts << tr("attempt %1").arg(state.attempt);
    if (now.phase && now.diagnosis.finding != Finding::AwaitingRollouts) parts << phase_text(*now.phase);
    if (!now.reading.whole()) {
        const double share = double(now.reading.read_bytes) / double(now.reading.total_bytes);
        parts << tr("%1 read").arg(show::percent(share));
    }
    const QString name = state.name.empty() ? m_dir.section(u'/', -1) : QString::fromStdString(state.name);
    m_header->setTitle(name);
    for (ChartCard* card : m_charts) {
        if (card == nullptr) continue;
        card->setRun(name);
        card->plot()->setEmptyText(is_over(state.state) ? tr("Nothing was measured.")
                                                        : tr("Nothing measured yet."));
    }
    m_header->setSubtitle(parts.join(u" \u00B7 "_s));
    const bool live = state.state == RunPhase::Running || state.state == RunPhase::Stopping;
    const bool queued = state.state == RunPhase::Queued && is_active(state);
    m_stop->setVisible(live);
    m_stop_now->setVisible(live || queued);
    m_stop_now->setText(queued ? tr("Take out of the queue") : tr("Stop now"));
    m_stop->setEnabled(state.state == RunPhase::Running && !m_stopping && !unknown);
    m_stop_now->setEnabled(!unknown);
    m_resume->setVisible(now.can_resume && !m_session.keeper().news(m_dir).restarting);
    m_pause->setVisible((live && now.step.value_or(0) > 0) || m_paused);
    m_try->setVisible(state.state == RunPhase::Completed);
    const RunDirectory run{m_dir.toStdString()};
    m_fetch->setVisible(is_over(state.state) && backend_of(run)->has_results_elsewhere(run));
    if (!live) m_stopping = false;
    const bool known = now.total_steps && *now.total_steps > 0 && now.step;
    m_progress->setVisible(known);
    if (known)
        m_progress->setValue(int(double(*now.step) / double(*now.total_steps) * m_progress->maximum()));
}

void MonitorPage::showFigures() {
    const RunPicture& now = m_news->picture;
    m_steps->setValue(now.step ? show::progress(*now.step, now.total_steps) : show::unknown());
    //: shown under the number of steps; %1 is a duration
    m_steps->setCaption(now.eta_s && *now.eta_s > 0 ? tr("step · %1 left").arg(show::duration(*now.eta_s))
                                                    : tr("step"));
    const bool over = is_over(now.state.state);
    m_rate->setCaption(over          ? tr("tokens per second at the end")
                       : now.goes_on ? tr("tokens per second now")
                                     : tr("tokens per second at the last step"));
    m_overhead->setCaption(over          ? tr("exposed communication at the end")
                           : now.goes_on ? tr("exposed communication, mean now")
                                         : tr("exposed communication at the last step"));
    m_loss->setValue(now.loss ? show::loss(*now.loss) : show::unknown());
    m_rate->setValue(now.tokens_per_s ? show::rate(*now.tokens_per_s) : show::unknown());
    m_overhead->setValue(now.overhead ? show::percent(*now.overhead) : show::unknown());
    if (now.fullest_bytes > 0 && now.capacity_bytes > 0) {
        //: memory: %1 is the measured size, %2 the capacity
        m_memory->setValue(
            tr("%1 of %2").arg(show::bytes(now.fullest_bytes), show::bytes(now.capacity_bytes)));
    } else {
        m_memory->setValue(now.fullest_bytes > 0 ? show::bytes(now.fullest_bytes) : show::unknown());
    }
    m_memory->setCaption(
        now.expected_bytes > 0
            ? tr("tensors of the fullest rank · expected %1").arg(show::bytes(now.expected_bytes))
            : tr("tensors of the fullest rank"));
    showAge();
}

void MonitorPage::showAge() {
    if (!m_news || m_stack->currentIndex() != kRun) return;
    if (m_stands_still != queueStandsStill()) showVerdict();
    const RunPicture& now = m_news->picture;
    if (is_over(now.state.state)) {
        const bool known = now.state.started > 0 && now.state.ended >= now.state.started;
        //: caption of a duration; %1 is a time
        m_age->setCaption(known ? tr("duration \u00B7 ended %1").arg(show::time(now.state.ended))
                                : tr("ended"));
        m_age->setValue(known ? show::duration(now.duration_s.value_or(0)) : show::unknown());
        return;
    }
    //: a run that waits in the queue: how long ago it came there
    m_age->setCaption(now.state.state == RunPhase::Queued ? tr("queued") : tr("last heard"));
    m_age->setValue(now.last_heard > 0 ? show::age(unix_now() - now.last_heard) : show::unknown());
}

void MonitorPage::showVerdict() {
    const RunPicture& now = m_news->picture;
    Diagnosis found = now.diagnosis;
    if (m_stopping && now.state.state == RunPhase::Running)  // requested here, not in the run's files yet
        found = {.finding = Finding::Stopping};
    m_stands_still = queueStandsStill();
    VerdictText said = m_stands_still ? VerdictText{Tone::Warning,
                                                    tr("The queue stands still."),
                                                    tr("The process that starts its runs is not running."),
                                                    {}}
                                      : verdictText(found);
    // The phase's text says how long the run waits.
    if (found.finding == Finding::AwaitingRollouts && now.phase)
        said.verdict = show::sentence(show::begun(phase_text(*now.phase)));
    QStringList next{said.next};
    if (now.odd_lines > 0)
        next << tr("%n line(s) of its events make no sense and are left out.", nullptr,
                   int(std::min<int64_t>(now.odd_lines, 1000000)));
    if (!now.plan_problem.empty()) next << tr("Its plan cannot be read: no estimates.");
    const QString& why_not_again = m_session.keeper().news(m_dir).why_not_again;
    if (!why_not_again.isEmpty() && is_over(now.state.state))
        next << tr("Not started again: %1").arg(why_not_again);
    greyOut(now.diagnosis.finding == Finding::Disconnected);
    if (showElsewhere()) return;
    m_elsewhere.reset();
    m_banner->clearActions();
    m_banner->say(said.tone, said.verdict, said.why, show::sentences(next));
    if (m_stands_still) {
        QPushButton* wake = m_banner->addAction(tr("Start"));
        wake->setObjectName(u"wakeQueueButton"_s);
        connect(wake, &QPushButton::clicked, this, [this] { wake_queue(m_session.places()); });
    }
    if (now.diagnosis.rank && now.diagnosis.urgency != Urgency::None) {
        const int rank = *now.diagnosis.rank;
        QPushButton* show = m_banner->addAction(tr("Show rank %1").arg(rank));
        show->setObjectName(u"showRankButton"_s);
        connect(show, &QPushButton::clicked, this, [this, rank] {
            chooseRank(rank);
            m_log->showRank(rank);
        });
    }
}

/// Returns true if the run waits in this machine's queue while the process that starts its runs is not
/// running.
bool MonitorPage::queueStandsStill() const {
    if (m_news->picture.state.state != RunPhase::Queued) return false;
    try {
        const Queue queue = read_queue(queue_folder(m_session.places()));
        const auto is_it = [this](const QueuedRun& queued) {
            return queued.run.dir == std::filesystem::path(m_dir.toStdString());
        };
        return std::any_of(queue.runs.begin(), queue.runs.end(), is_it) &&
               !is_queue_alive(m_session.places());
    } catch (const Error&) {  // the Queue page says what is wrong
        return false;
    }
}

void MonitorPage::greyOut(bool grey) {
    QWidget* charts = m_cards.front()->parentWidget();
    if (grey == (charts->graphicsEffect() != nullptr)) return;
    auto* effect = grey ? new QGraphicsOpacityEffect(charts) : nullptr;
    if (effect != nullptr) effect->setOpacity(kGreyed);
    charts->setGraphicsEffect(effect);
}

/// Shows news of a run on other machines if it matters more than the verdict. Returns false if there is none.
bool MonitorPage::showElsewhere() {
    const KeptNews news = m_session.keeper().news(m_dir);
    const RunState& state = m_news->picture.state;
    const bool waits = !news.job.isEmpty() && state.state == RunPhase::Queued;
    if (news.restarting) {
        showRestart(news);
        return true;
    }
    if (is_over(state.state) || (news.trouble.isEmpty() && !waits)) return false;
    if (m_elsewhere == news) return true;  // unchanged: keeps its button, which may be pressed
    m_elsewhere = news;
    m_banner->clearActions();
    if (!news.trouble.isEmpty()) {
        m_banner->say(Tone::Warning, tr("Not everything is heard just now."), news.trouble,
                      tr("The run does not need the connection; it is tried again by itself."));
        QPushButton* again = m_banner->addAction(tr("Reconnect"));
        again->setObjectName(u"reconnectButton"_s);
        connect(again, &QPushButton::clicked, this, [this] { m_session.keeper().reconnect(m_dir); });
        return true;
    }
    m_banner->say(Tone::Plain, tr("Waiting in the queue."), news.job);
    return true;
}

void MonitorPage::showRestart(const KeptNews& news) {
    if (m_elsewhere == news) return;  // unchanged: keeps its button, which may be pressed
    m_elsewhere = news;
    m_banner->clearActions();
    m_banner->say(Tone::Warning, tr("It failed, and is started again."),
                  show::begun(reason_of(m_news->picture.state).section(u'\n', 0, 0)), news.restart);
    QPushButton* leave = m_banner->addAction(tr("Leave it"));
    leave->setObjectName(u"leaveItButton"_s);
    connect(leave, &QPushButton::clicked, this, [this, leave] {
        leave->setEnabled(false);
        m_session.keeper().leaveAlone(m_dir);
    });
}

bool MonitorPage::hasTrainedAdapter() const {
    if (!m_news || m_news->picture.state.state != RunPhase::Completed) return false;
    try {
        return read_plan(RunDirectory{m_dir.toStdString()}.plan().string()).config.lora.on();
    } catch (const Error&) {
        return false;  // the verdict says that the plan cannot be read
    }
}

}  // namespace ringmaster
