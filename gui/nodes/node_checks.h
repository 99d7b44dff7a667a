/// Keeps the targets that a user has named and checks them on threads, eight at a time; each check can be
/// cancelled. Results are remembered between starts of the app.
#pragma once

#include <QObject>
#include <QThreadPool>
#include <QTimer>
#include <atomic>
#include <filesystem>
#include <memory>
#include <vector>

#include "gui/session/session.h"
#include "launcher/anywhere/saved_targets.h"
#include "launcher/base/progress.h"

namespace ringmaster {

enum class CheckPhase { Idle, Waiting, Checking };

/// Says what a check does with a target.
enum class CheckKind {
    Look,
    TryOut,           ///< self-test, and links to the other machines in the trial
    InstallLibTorch,  ///< installs LibTorch with the machine's own pip
    SendLibTorch,     ///< copies LibTorch from this machine
};

class NodeChecks : public QObject {
    Q_OBJECT

  public:
    explicit NodeChecks(Session& session, QObject* parent = nullptr);
    ~NodeChecks() override;  ///< cancels running checks and waits at most 1.5 seconds for them

    int count() const { return int(m_rows.size()); }
    const SavedTarget& entry(int row) const { return m_rows[size_t(row)].entry; }
    CheckPhase phase(int row) const;
    int rowOf(const Target& target) const;  ///< -1: no such target
    int underWay() const;                   ///< number of checks that wait or run
    int asked() const { return m_asked; }  ///< checks requested since the last moment without a running check

    CheckKind kind(int row) const;            ///< kind of the check in progress
    const ProgressStep& step(int row) const;  ///< progress of the check

    int add(const Target& target);  ///< returns the row; checks the target if it is new
    void remove(int row);           ///< removes any row but this machine's
    void check(int row, CheckKind kind = CheckKind::Look);
    void checkAll();
    bool canTryOut() const;  ///< true if an SSH machine that can train is idle
    void tryOut();           ///< tries all of these machines in one trial; the first is rank 0's node
    void cancel(int row);
    void cancelAll();

  Q_SIGNALS:
    void aboutToAdd(int row);
    void added(int row);
    void aboutToRemove(int row);
    void removed(int row);
    void changed(int row);  ///< emitted for a new phase or report
    void moved();           ///< emitted when a check began or ended

  private:
    /// Holds one check. The checks of one trial share `given_up`.
    struct Check {
        std::shared_ptr<std::atomic<bool>> given_up = std::make_shared<std::atomic<bool>>(false);
        std::atomic<bool> at_work = false;
        CheckKind kind = CheckKind::Look;
        ProgressStep step = {};  ///< used on the GUI thread only
    };
    using Checks = std::vector<std::shared_ptr<Check>>;
    struct Row {
        SavedTarget entry;
        std::shared_ptr<Check> check;  ///< check in progress, or null
    };
    std::shared_ptr<Check> begin(int row, CheckKind kind);
    void work(const Checks& checks, const std::function<std::vector<TargetReport>(const Progress&)>& task);
    Progress progressOf(const Checks& checks);
    void drop(int row);
    int rowOf(const std::shared_ptr<Check>& check) const;
    void took(const std::shared_ptr<Check>& check, TargetReport report);
    void started(const Checks& checks);
    void wentOn(const Checks& checks, const ProgressStep& step);
    void ended(const Checks& checks);
    void save();

    Session& m_session;
    std::filesystem::path m_file;
    std::vector<Row> m_rows;
    QThreadPool* m_pool;
    QTimer m_saving;
    int m_asked = 0;
};

}  // namespace ringmaster
