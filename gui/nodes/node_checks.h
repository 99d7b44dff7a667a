/// The targets that a person has named and their checks: on threads of their own, eight at a time, each of
/// which can be called off. What was found is remembered between starts.
#pragma once

#include <QObject>
#include <QThreadPool>
#include <QTimer>
#include <atomic>
#include <filesystem>
#include <memory>
#include <vector>

#include "gui/session/session.h"
#include "launcher/anywhere/roster.h"
#include "launcher/progress.h"

namespace ringmaster {

enum class CheckPhase { Idle, Waiting, Checking };

/// What is done with a target, beyond looking at it.
enum class CheckKind {
    Look,
    TryOut,           ///< self-test and links, with the others that are tried out
    InstallLibTorch,  ///< by its own pip
    SendLibTorch,     ///< from here
};

class NodeChecks : public QObject {
    Q_OBJECT

  public:
    explicit NodeChecks(Session& session, QObject* parent = nullptr);
    ~NodeChecks() override;  ///< within a moment, whatever is waited for

    int count() const { return int(m_rows.size()); }
    const RosterEntry& entry(int row) const { return m_rows[size_t(row)].entry; }
    CheckPhase phase(int row) const;
    int rowOf(const Target& target) const;  ///< -1: it is not there
    int underWay() const;                   ///< checks that wait or run
    int asked() const { return m_asked; }   ///< since none was under way

    CheckKind kind(int row) const;            ///< of a check under way
    const ProgressStep& step(int row) const;  ///< how far it is

    int add(const Target& target);  ///< its row; checks it where it is new
    void remove(int row);           ///< not this machine
    void check(int row, CheckKind kind = CheckKind::Look);
    void checkAll();
    bool canTryOut() const;  ///< a machine over SSH that can train is there, and idle
    void tryOut();           ///< all of them; the first is taken for rank 0's
    void cancel(int row);
    void cancelAll();

  Q_SIGNALS:
    void aboutToAdd(int row);
    void added(int row);
    void aboutToRemove(int row);
    void removed(int row);
    void changed(int row);  ///< its phase or report
    void moved();           ///< a check began or ended

  private:
    /// Those of one trial are given up together.
    struct Check {
        std::shared_ptr<std::atomic<bool>> given_up = std::make_shared<std::atomic<bool>>(false);
        std::atomic<bool> at_work = false;
        CheckKind kind = CheckKind::Look;
        ProgressStep step = {};  ///< of the GUI thread
    };
    using Checks = std::vector<std::shared_ptr<Check>>;
    struct Row {
        RosterEntry entry;
        std::shared_ptr<Check> check;  ///< under way; empty: none is
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
