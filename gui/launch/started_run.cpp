#include "gui/launch/started_run.h"

#include "engine/error.h"
#include "gui/look/numbers.h"
#include "gui/session/failure_words.h"
#include "gui/session/finding_words.h"
#include "gui/session/progress_words.h"
#include "gui/session/reason_words.h"

namespace ringmaster {

StartedRun::StartedRun(Session& session, const QString& dir, QObject* parent)
    : QObject(parent), m_session(session), m_dir(dir) {
    connect(&session.keeper(), &RunKeeper::changed, this, [this](const QString& changed) {
        if (changed == m_dir) tellQueue();
    });
}

void StartedRun::begin() {
    tellQueue();
    try {
        m_watch = std::make_unique<RunWatch>(RunDirectory{m_dir.toStdString()});
    } catch (const Error& error) {
        return fail({message_of(error), place_of(error), {}, {}});
    }
    connect(m_watch.get(), &RunWatch::eventsArrived, this, &StartedRun::read);
    connect(m_watch.get(), &RunWatch::stateChanged, this, &StartedRun::tellState);
}

void StartedRun::fail(const JobFailure& failure) {
    const auto [what, next] = failureWords(failure);
    Q_EMIT failed(what, next);
}

void StartedRun::read(const std::vector<EventLine>& events) {
    const RunHistory& history = m_watch->history();
    int met = 0;
    const RunState& state = history.state();
    for (const RankHistory& rank : history.ranks()) met += rank.hello && rank.hello->attempt == state.attempt;
    const int all = state.ranks;
    if (met > 0) Q_EMIT reached(LaunchPhase::Meet);
    if (met > 0 && met < all) Q_EMIT progressed(tr("ranks"), met, all);
    if (all > 0 && met >= all) Q_EMIT reached(LaunchPhase::FirstStep);
    for (const EventLine& line : events) {
        if (const auto* phase = std::get_if<PhaseEvent>(&line.event); phase && line.rank == 0) {
            const bool waits = counts_seconds(*phase);
            Q_EMIT progressed(waits ? phase_text(*phase) : progress_words({phase->name}),
                              waits ? 0 : phase->done, waits ? 0 : phase->total);
        }
        const auto* step = std::get_if<StepEvent>(&line.event);
        if (step && state.state == RunPhase::Running && line.t >= state.started) {
            Q_EMIT done();
            return;
        }
    }
}

/// Reports what Slurm says about a waiting job, or which node does not answer.
void StartedRun::tellQueue() {
    const KeptNews news = m_session.keeper().news(m_dir);
    const QString said = news.job.isEmpty() ? news.trouble : news.job;
    if (!said.isEmpty()) Q_EMIT progressed(said, 0, 0);
}

void StartedRun::tellState() {
    const RunState& state = m_watch->history().state();
    if (state.state == RunPhase::Running) Q_EMIT reached(LaunchPhase::Meet);
    if (!is_over(state.state)) return;
    if (state.state == RunPhase::Failed && !m_session.keeper().willRestart(m_dir)) {
        Q_EMIT failed(show::begun(reason_of(state)), tr("The ranks' logs are in Monitor."));
    } else {
        Q_EMIT done();
    }
}

void StartedRun::stopNow() {
    auto* stopping = new Job(
        [dir = m_dir, person = m_session.person()](const Job::Reporter&) {
            const RunDirectory run{dir.toStdString()};
            backend_of(run)->stop(run, StopHow::Now, person);
            return QString();
        },
        this);
    m_session.keeper().leaveAlone(m_dir);
    connect(stopping, &Job::finished, stopping, &QObject::deleteLater);
    connect(stopping, &Job::failed, this, [this, stopping](const JobFailure& failure) {
        stopping->deleteLater();
        fail(failure);
    });
    stopping->start();
}

}  // namespace ringmaster
