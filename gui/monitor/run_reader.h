/// Follows one run on a thread of its own and says what the page shows of it: a picture at a time, the next
/// when the last has been taken.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "gui/monitor/log_line.h"
#include "gui/monitor/run_picture.h"
#include "launcher/follower.h"

namespace ringmaster {

struct MonitorNews {
    RunPicture picture;
    std::vector<LogLine> lines;  ///< that came since the last
};

class RunReader : public QObject {
    Q_OBJECT

  public:
    explicit RunReader(QString dir);

    void leave() { m_left = true; }  ///< from any thread: a read under way ends early

    // On its own thread:
    void begin();
    void wish(const ViewWish& wish);
    void taken();  ///< the last news are on the screen
    /// Every step of these measures, of each rank. Says how it went by `written`.
    void writeCsv(const QString& file, const std::vector<Measure>& measures);

  Q_SIGNALS:
    void news(const std::shared_ptr<const ringmaster::MonitorNews>& news);
    void unreadable(const QString& what);  ///< no run, or a damaged one; reading has ended
    void written(const QString& file, const QString& problem);

  private:
    void tick();
    void readOnce();
    void readLogs(std::vector<LogLine>& lines);
    void tell();

    QString m_dir;
    std::unique_ptr<RunHistory> m_history;
    std::optional<Plan> m_plan;
    std::string m_plan_problem;
    std::map<int, LogFollower> m_logs;  ///< -1: the agent's
    std::map<int, double> m_log_times;
    ViewWish m_wish;
    std::shared_ptr<const RunCharts> m_charts;
    std::vector<LogLine> m_lines;
    bool m_stale = true, m_waiting = false;
    double m_told_at = 0;
    double m_made_ms = 0;
    std::atomic<bool> m_left = false;
    QTimer* m_timer = nullptr;
};

}  // namespace ringmaster
