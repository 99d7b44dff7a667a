#include "gui/session/runs_reader.h"

#include <QtConcurrent/QtConcurrentRun>

#include "engine/error.h"
#include "engine/events/event_log.h"
#include "gui/session/long_wait.h"
#include "launcher/backends/run_follower.h"

namespace ringmaster {

namespace {

constexpr int kEveryMs = 2000;
constexpr double kSettleEvery_s = 30;

}  // namespace

RunsReader::RunsReader(std::filesystem::path runs_dir, QObject* parent)
    : QObject(parent), m_runs_dir(std::move(runs_dir)), m_table(std::make_shared<RunTable>()) {
    connect(&m_watcher, &QFutureWatcherBase::finished, this, &RunsReader::take);
    connect(&m_settling, &QFutureWatcherBase::finished, this, [this] {
        if (m_settling.result()) refresh();
    });
    m_timer.setInterval(kEveryMs);
    connect(&m_timer, &QTimer::timeout, this, &RunsReader::refresh);
}

RunsReader::~RunsReader() = default;  // a read in progress keeps the table alive

void RunsReader::setActive(bool active) {
    if (active == m_timer.isActive()) return;
    if (!active) {
        m_timer.stop();
        return;
    }
    m_timer.start();
    refresh();
}

void RunsReader::refresh() {
    if (m_watcher.isRunning()) {
        m_again = true;
        return;
    }
    m_watcher.setFuture(QtConcurrent::run([table = m_table, dir = m_runs_dir] {
        try {
            return table->read(dir);
        } catch (const std::exception&) {  // the folder changed during the read; the next read follows soon
            return std::vector<RunRow>{};
        }
    }));
}

void RunsReader::take() {
    m_rows = m_watcher.result();
    m_has_read = true;
    Q_EMIT arrived();
    settle();
    if (m_again) {
        m_again = false;
        refresh();
    }
}

void RunsReader::settle() {
    if (m_settling.isRunning() || unix_now() < m_settled + kSettleEvery_s) return;
    m_settled = unix_now();
    std::vector<RunDirectory> open;
    for (const RunRow& row : m_rows) {
        if (row.problem.empty() && !is_over(row.state.state)) open.push_back({row.dir});
    }
    if (open.empty()) return;
    m_settling.setFuture(QtConcurrent::run([open] {
        const LongWait waits;
        try {
            return settle_open_runs(open);
        } catch (const Error&) {  // Slurm does not answer at the moment
            return false;
        }
    }));
}

}  // namespace ringmaster
