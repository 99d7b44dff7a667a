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

namespace ringmaster {

enum class CheckPhase { Idle, Waiting, Checking };

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

    int add(const Target& target);  ///< its row; checks it where it is new
    void remove(int row);           ///< not this machine
    void check(int row);
    void checkAll();
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
    struct Check {
        std::atomic<bool> given_up = false, at_work = false;
    };
    struct Row {
        RosterEntry entry;
        std::shared_ptr<Check> check;  ///< under way; empty: none is
    };
    void begin(int row);
    void drop(int row);
    int rowOf(const std::shared_ptr<Check>& check) const;
    void took(const std::shared_ptr<Check>& check, TargetReport report);
    void save();

    Session& m_session;
    std::filesystem::path m_file;
    std::vector<Row> m_rows;
    QThreadPool* m_pool;
    QTimer m_saving;
    int m_asked = 0;
};

}  // namespace ringmaster
