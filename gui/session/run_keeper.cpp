#include "gui/session/run_keeper.h"

#include <QtConcurrent/QtConcurrentRun>

#include "engine/error.h"
#include "engine/events/event_log.h"
#include "gui/session/agree.h"
#include "gui/session/failure_words.h"
#include "gui/session/finding_words.h"
#include "gui/session/on_gui.h"
#include "gui/session/progress_words.h"
#include "gui/session/session.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kLookMs = 1000;
constexpr int kThreads = 16;       ///< each thread waits for a machine
constexpr int kPatienceMs = 3000;  ///< maximum wait for followers to end when the app closes

}  // namespace

RunKeeper::RunKeeper(Session& session) : m_session(session), m_pool(new QThreadPool) {
    m_pool->setMaxThreadCount(kThreads);
    m_timer.setInterval(kLookMs);
    connect(&m_timer, &QTimer::timeout, this, &RunKeeper::look);
}

RunKeeper::~RunKeeper() {
    for (auto& [dir, kept] : m_kept) letGo(std::move(kept));
    if (m_pool->waitForDone(kPatienceMs)) delete m_pool;  // otherwise the pool ends with the process
}

void RunKeeper::keep(const QString& dir) {
    const auto known = m_kept.find(dir);
    if (known == m_kept.end() || known->second->over_since > 0) keep(dir, nullptr);
}

void RunKeeper::keep(const QString& dir, std::shared_ptr<Sessions> sessions, const RestartLimits& limits) {
    try {
        const RunDirectory run{dir.toStdString()};
        if (backend_of(run)->is_pending(run)) begin(dir, sessions, limits);
    } catch (const Error&) {  // the page that shows the run reports what is wrong
        return;
    }
}

void RunKeeper::reconnect(const QString& dir) {
    const auto known = m_kept.find(dir);
    RestartLimits limits;
    if (known != m_kept.end()) {
        if (known->second->news.restarting) return;  // the restart makes its own connections
        limits = known->second->limits;
        limits.restarts -= known->second->restarts;
        letGo(std::move(known->second));
        m_kept.erase(known);
    }
    keep(dir, nullptr, limits);
}

KeptNews RunKeeper::news(const QString& dir) const {
    const auto known = m_kept.find(dir);
    return known == m_kept.end() ? KeptNews() : known->second->news;
}

bool RunKeeper::willRestart(const QString& dir) const {
    const auto known = m_kept.find(dir);
    return known != m_kept.end() &&
           (known->second->news.restarting || known->second->restarts < known->second->limits.restarts);
}

void RunKeeper::leaveAlone(const QString& dir) {
    const auto known = m_kept.find(dir);
    if (known == m_kept.end()) return;
    known->second->limits.restarts = 0;
    known->second->left_alone->store(true);
}

int RunKeeper::restartsAhead() const {
    int count = 0;
    for (const auto& [dir, kept] : m_kept) count += willRestart(dir) ? 1 : 0;
    return count;
}

void RunKeeper::begin(const QString& dir, const std::shared_ptr<Sessions>& sessions,
                      const RestartLimits& limits) {
    auto kept = std::make_shared<Kept>();
    kept->limits = limits;
    kept->news.connecting = true;
    const SshPerson person = m_session.person([flag = kept->given_up] { return flag->load(); });
    if (const auto old = m_kept.find(dir); old != m_kept.end()) letGo(std::move(old->second));
    m_kept[dir] = kept;
    m_timer.start();
    work(
        dir, kept,
        [dir, sessions, person] {
            return follower_of(RunDirectory{dir.toStdString()}, person, {},
                               sessions ? std::move(*sessions) : Sessions());
        },
        false);
}

/// Calls `connect` on another thread, and handles its result or error on this one.
void RunKeeper::work(const QString& dir, const std::shared_ptr<Kept>& kept,
                     const std::function<std::unique_ptr<RunFollower>()>& connect, bool restarts) {
    const QPointer<RunKeeper> self(this);
    std::ignore = QtConcurrent::run(m_pool, [self, kept, dir, connect, restarts] {
        auto made = std::make_shared<std::unique_ptr<RunFollower>>();
        QString trouble;
        try {
            *made = connect();
        } catch (const Error& problem) {
            trouble = text_of(problem);
        } catch (const Cancelled&) {
            trouble = tr("it was called off");
        }
        onGui(self, [kept, dir, made, trouble, restarts](RunKeeper& keeper) {
            kept->follower = std::move(*made);
            kept->connected = trouble.isEmpty();
            kept->news = {};
            (restarts ? kept->news.why_not_again : kept->news.trouble) =
                !trouble.isEmpty() && kept->left_alone->load() ? tr("it was called off") : trouble;
            if (restarts && !trouble.isEmpty()) {
                kept->over_since = unix_now();
                kept->limits.restarts = 0;
            }
            // The restart's sessions keep the old flag. With a new one, leaveAlone() can cancel later
            // restarts without cancelling these sessions.
            if (restarts) kept->left_alone = std::make_shared<std::atomic<bool>>(false);
            keeper.took(dir, kept);
        });
    });
    Q_EMIT changed(dir);
}

void RunKeeper::took(const QString& dir, const std::shared_ptr<Kept>& kept) {
    const auto known = m_kept.find(dir);
    if (known == m_kept.end() || known->second != kept) {  // the run was dropped meanwhile
        letGo(kept);
        return;
    }
    Q_EMIT changed(dir);
    look();
}

void RunKeeper::look() {
    for (auto at = m_kept.begin(); at != m_kept.end();) {
        const auto [dir, kept] = *at++;
        if (kept->connected) lookAt(dir, kept);
    }
    if (m_kept.empty()) m_timer.stop();
}

void RunKeeper::lookAt(const QString& dir, const std::shared_ptr<Kept>& kept) {
    KeptNews now;
    if (kept->follower)
        now = {note_of(kept->follower->job_note().whole()), troubleWords(kept->follower->trouble())};
    if (kept->follower && now.trouble.isEmpty()) now.trouble = note_of(kept->follower->not_contacted());
    const bool is_new = !(now == kept->news);
    kept->news = now;
    RunPhase phase = RunPhase::Stopped;
    try {
        phase = read_run_state(dir.toStdString()).state;
    } catch (const Error&) {  // the run was deleted
        kept->limits.restarts = 0;
    }
    const bool open = !is_over(phase);
    kept->over_since = open ? 0 : kept->over_since > 0 ? kept->over_since : unix_now();
    const double rest = kept->follower ? kept->follower->last_word_s() : 0;
    if (phase == RunPhase::Failed && kept->restarts < kept->limits.restarts) {
        restart(dir, kept);
    } else if (!open && unix_now() >= kept->over_since + rest) {
        m_kept.erase(dir);
        letGo(kept);
    }
    if (is_new) Q_EMIT changed(dir);
}

/// Restarts a run with the function that `ringmaster launch --restarts` uses.
void RunKeeper::restart(const QString& dir, const std::shared_ptr<Kept>& kept) {
    kept->over_since = 0;
    kept->connected = false;
    ++kept->restarts;
    //: a run that failed is restarted; %1 and %2 are numbers
    const QString head = tr("restart %1 of %2").arg(kept->restarts).arg(kept->limits.restarts);
    kept->news = {};
    kept->news.restarting = true;
    kept->news.restart = head;
    const auto given_up = [whole = kept->given_up, restart = kept->left_alone] {
        return whole->load() || restart->load();
    };
    const SshPerson person = m_session.person(given_up);
    const SshPerson later = m_session.person([flag = kept->given_up] { return flag->load(); });
    AgreeToShrink agree = agreeIn(m_session, given_up);
    if (kept->limits.may_shrink) agree = [](const NodesLeft&, const Shrunk&) { return true; };
    Progress progress;
    progress.cancelled = given_up;
    progress.step = [self = QPointer(this), kept, dir, head](const ProgressStep& step) {
        const QString text = head + u": "_s + progress_words(step);
        onGui(self, [kept, dir, text](RunKeeper& keeper) {
            if (!kept->news.restarting || kept->news.restart == text) return;
            kept->news.restart = text;
            Q_EMIT keeper.changed(dir);
        });
    };
    auto leaving = std::make_shared<std::unique_ptr<RunFollower>>(std::move(kept->follower));
    work(
        dir, kept,
        [dir, leaving, person, later, agree, progress, places = m_session.places()] {
            leaving->reset();  // ends its sessions and releases the run directory
            const RunDirectory run{dir.toStdString()};
            PreparedResume resume = restart_run(run, agree, places, person, progress);
            return resume.at->follow(run, resume.at->take_sessions(), later);
        },
        true);
}

/// Stops following a run. Its follower ends on another thread, because ending it takes time.
void RunKeeper::letGo(std::shared_ptr<Kept> kept) {
    kept->given_up->store(true);
    if (!kept->follower) return;
    auto leaving = std::make_shared<std::unique_ptr<RunFollower>>(std::move(kept->follower));
    std::ignore = QtConcurrent::run(m_pool, [leaving] { leaving->reset(); });
}

}  // namespace ringmaster
