#include "gui/session/run_keeper.h"

#include <QCoreApplication>
#include <QPointer>
#include <QtConcurrent/QtConcurrentRun>

#include "engine/error.h"
#include "engine/events/event_log.h"
#include "gui/session/session.h"
#include "launcher/nodes/remote_run.h"

namespace ringmaster {

namespace {

constexpr int kLookMs = 1000;
constexpr int kThreads = 16;        ///< each waits for a machine
constexpr int kPatienceMs = 3000;   ///< for those that listen, at the end
constexpr double kLastWord_s = 40;  ///< that Slurm may take to say how a job ended

}  // namespace

RunKeeper::RunKeeper(Session& session) : m_session(session), m_pool(new QThreadPool) {
    m_pool->setMaxThreadCount(kThreads);
    m_timer.setInterval(kLookMs);
    connect(&m_timer, &QTimer::timeout, this, &RunKeeper::look);
}

RunKeeper::~RunKeeper() {
    for (auto& [dir, kept] : m_kept) letGo(std::move(kept));
    if (m_pool->waitForDone(kPatienceMs)) delete m_pool;  // else it waits for a name server, and ends with us
}

void RunKeeper::keep(const QString& dir) {
    keep(dir, nullptr);
}

void RunKeeper::keep(const QString& dir, std::shared_ptr<Sessions> sessions) {
    const auto known = m_kept.find(dir);
    if (known != m_kept.end() && known->second->over_since == 0) return;
    try {
        if (needs_companion(RunDirectory{dir.toStdString()})) begin(dir, sessions);
    } catch (const Error&) {  // the page that shows it says what is wrong with it
        return;
    }
}

void RunKeeper::reconnect(const QString& dir) {
    const auto known = m_kept.find(dir);
    if (known != m_kept.end()) {
        letGo(std::move(known->second));
        m_kept.erase(known);
    }
    keep(dir);
}

KeptNews RunKeeper::news(const QString& dir) const {
    const auto known = m_kept.find(dir);
    return known == m_kept.end() ? KeptNews() : known->second->news;
}

void RunKeeper::begin(const QString& dir, const std::shared_ptr<Sessions>& sessions) {
    auto kept = std::make_shared<Kept>();
    kept->news.connecting = true;
    const SshPerson person = m_session.person([flag = kept->given_up] { return flag->load(); });
    if (const auto old = m_kept.find(dir); old != m_kept.end()) letGo(std::move(old->second));
    m_kept[dir] = kept;
    m_timer.start();
    const QPointer<RunKeeper> self(this);
    std::ignore = QtConcurrent::run(m_pool, [self, kept, dir, sessions, person] {
        const RunDirectory run{dir.toStdString()};
        std::unique_ptr<RunCompanion> companion;
        QString trouble;
        try {
            companion = sessions ? std::make_unique<RunCompanion>(run, std::move(*sessions), person)
                                 : companion_of(run, person, {});
        } catch (const Error& problem) {
            trouble = QString::fromStdString(problem.text());
        }
        QCoreApplication* app = QCoreApplication::instance();
        if (app == nullptr) return;
        auto made = std::make_shared<std::unique_ptr<RunCompanion>>(std::move(companion));
        QMetaObject::invokeMethod(
            app,
            [self, kept, dir, made, trouble] {
                kept->companion = std::move(*made);
                kept->news = {{}, trouble, false};
                if (self) self->took(dir, kept);
            },
            Qt::QueuedConnection);
    });
    Q_EMIT changed(dir);
}

void RunKeeper::took(const QString& dir, const std::shared_ptr<Kept>& kept) {
    const auto known = m_kept.find(dir);
    if (known == m_kept.end() || known->second != kept) {  // it was let go meanwhile
        letGo(kept);
        return;
    }
    Q_EMIT changed(dir);
    look();
}

void RunKeeper::look() {
    for (auto at = m_kept.begin(); at != m_kept.end();) {
        const auto [dir, kept] = *at++;
        if (!kept->companion) continue;
        const KeptNews now{QString::fromStdString(kept->companion->job_note()),
                           QString::fromStdString(kept->companion->trouble()), false};
        const bool is_new = !(now == kept->news);
        kept->news = now;
        bool open = false;
        try {
            open = !is_over(read_run_state(dir.toStdString()).state);
        } catch (const Error&) {  // it was deleted
            open = false;
        }
        kept->over_since = open ? 0 : kept->over_since > 0 ? kept->over_since : unix_now();
        const double rest = is_slurm(RunDirectory{dir.toStdString()}) ? kLastWord_s : 0;
        if (!open && unix_now() >= kept->over_since + rest) {
            m_kept.erase(dir);
            letGo(kept);
        }
        if (is_new) Q_EMIT changed(dir);
    }
    if (m_kept.empty()) m_timer.stop();
}

/// Ending what listens waits for it: not on this thread.
void RunKeeper::letGo(std::shared_ptr<Kept> kept) {
    kept->given_up->store(true);
    if (!kept->companion) return;
    auto leaving = std::make_shared<std::unique_ptr<RunCompanion>>(std::move(kept->companion));
    std::ignore = QtConcurrent::run(m_pool, [leaving] { leaving->reset(); });
}

}  // namespace ringmaster
