/// Follows one run on its own thread and sends pictures of it to the page. It sends a picture only after the
/// page has taken the previous one.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "gui/monitor/log_line.h"
#include "gui/monitor/run_picture.h"
#include "launcher/base/log_follower.h"

namespace ringmaster {

using SamplesByStep = std::map<int64_t, SamplesOfStep>;

struct MonitorNews {
    RunPicture picture;
    std::vector<LogLine> lines;  ///< lines since the last news
    std::shared_ptr<const SamplesByStep> samples;
};

class RunReader : public QObject {
    Q_OBJECT

  public:
    explicit RunReader(QString dir);

    void leave() { m_left = true; }  ///< may be called on any thread; ends a read early

    // Call these on the reader's thread:
    void begin();
    void request(const ChartRequest& request);
    void taken();  ///< call this when the page shows the last picture
    /// Writes every step of these measures for each rank, and emits `written` with the result.
    void writeCsv(const QString& file, std::vector<Measure> measures);

  Q_SIGNALS:
    void news(const std::shared_ptr<const ringmaster::MonitorNews>& news);
    void unreadable(const QString& what);  ///< emitted if the run is missing or damaged; reading then ends
    void written(const QString& file, const QString& problem);

  private:
    void tick();
    void readOnce();
    bool readLogs();
    void addEvents();
    void addLogs();
    void tell();

    QString m_dir;
    std::unique_ptr<RunHistory> m_history;
    std::optional<Plan> m_plan;
    std::string m_plan_problem;
    std::map<int, LogFollower> m_logs;  ///< log of each rank; -1: the agent's
    std::map<int, double> m_log_times;
    ChartRequest m_request;
    std::shared_ptr<const RunCharts> m_charts;
    std::shared_ptr<const SamplesByStep> m_samples = std::make_shared<const SamplesByStep>();
    std::vector<LogLine> m_lines;
    std::vector<LogLine> m_log_lines;                   ///< read, but not yet compared with the events
    std::multiset<std::pair<int, QString>> m_repeated;  ///< rank and log line of each event that is shown
    bool m_stale = true, m_waiting = false;
    double m_told_at = 0;
    double m_made_ms = 0;
    std::atomic<bool> m_left = false;
    QTimer* m_timer = nullptr;
};

}  // namespace ringmaster
