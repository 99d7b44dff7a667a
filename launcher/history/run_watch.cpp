#include "launcher/history/run_watch.h"

#include "engine/error.h"

namespace ringmaster {

namespace {

constexpr int kPollMs = 200;
constexpr int64_t kKeptSteps = 1000;

}  // namespace

RunWatch::RunWatch(const RunDirectory& run, QObject* parent)
    : QObject(parent), m_history(run, kKeptSteps), m_known(m_history.state().state) {
    connect(&m_timer, &QTimer::timeout, this, &RunWatch::poll);
    m_timer.start(kPollMs);
}

void RunWatch::poll() {
    try {
        const bool cameSomething = readOnce();
        if (cameSomething || !is_over(m_known)) return;
        m_timer.stop();
        Q_EMIT ended();
    } catch (const Error& problem) {
        m_timer.stop();
        Q_EMIT lost(QString::fromStdString(problem.text()));
    }
}

bool RunWatch::readOnce() {
    const std::vector<EventLine> events = m_history.poll();
    if (!events.empty()) Q_EMIT eventsArrived(events);
    if (m_history.state().state != m_known) {
        m_known = m_history.state().state;
        Q_EMIT stateChanged();
    }
    return !events.empty();
}

}  // namespace ringmaster
