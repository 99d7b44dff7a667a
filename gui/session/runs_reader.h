/// The runs of the user's folder, read in the background: at once, when somebody says that they changed, and
/// every two seconds while it is active. Of jobs that ended without a last word this machine's Slurm is
/// asked, at a civil pace.
#pragma once

#include <QFutureWatcher>
#include <QObject>
#include <QTimer>
#include <memory>
#include <vector>

#include "launcher/run_table.h"

namespace ringmaster {

class RunsReader : public QObject {
    Q_OBJECT

  public:
    explicit RunsReader(std::filesystem::path runs_dir, QObject* parent = nullptr);
    ~RunsReader() override;

    void setActive(bool active);  ///< a page that is not seen need not know
    void refresh();
    bool hasRead() const { return m_has_read; }
    const std::vector<RunRow>& rows() const { return m_rows; }

  Q_SIGNALS:
    void arrived();  ///< rows() is new

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
    QFutureWatcher<bool> m_settling;  ///< asks Slurm about jobs that have no last word
    double m_settled = 0;             ///< Unix seconds
};

}  // namespace ringmaster
