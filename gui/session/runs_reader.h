/// Reads the runs of the user's folder in the background: at once when refresh() is called, and every two
/// seconds while active. Asks this machine's Slurm, at most every 30 seconds, about jobs that ended without
/// reporting how.
#pragma once

#include <QFutureWatcher>
#include <QObject>
#include <QTimer>
#include <memory>
#include <vector>

#include "launcher/history/run_table.h"

namespace ringmaster {

class RunsReader : public QObject {
    Q_OBJECT

  public:
    explicit RunsReader(std::filesystem::path runs_dir, QObject* parent = nullptr);
    ~RunsReader() override;

    void setActive(bool active);  ///< a hidden page needs no updates
    void refresh();
    bool hasRead() const { return m_has_read; }
    const std::vector<RunRow>& rows() const { return m_rows; }

  Q_SIGNALS:
    void arrived();  ///< emitted when rows() is new

  private:
    void take();
    void settle();

    std::filesystem::path m_runs_dir;
    std::shared_ptr<RunTable> m_table;
    QFutureWatcher<std::vector<RunRow>> m_watcher;
    QTimer m_timer;
    std::vector<RunRow> m_rows;
    bool m_has_read = false;
    bool m_again = false;
    QFutureWatcher<bool> m_settling;  ///< asks Slurm about jobs that did not report their end
    double m_settled = 0;             ///< time of the last question, Unix seconds
};

}  // namespace ringmaster
