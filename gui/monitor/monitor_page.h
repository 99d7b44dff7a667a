/// Shows a run, live or ended: state and verdict, figures, linked charts, ranks and log.
#pragma once

#include <QPointer>
#include <QThread>
#include <array>
#include <memory>
#include <optional>

#include "gui/charts/chart_card.h"
#include "gui/charts/heat_map.h"
#include "gui/look/card.h"
#include "gui/monitor/log_view.h"
#include "gui/monitor/rank_table.h"
#include "gui/monitor/run_reader.h"
#include "gui/monitor/samples_card.h"
#include "gui/session/page.h"
#include "gui/session/run_keeper.h"
#include "gui/session/session.h"
#include "launcher/run/local_node.h"

class QCheckBox;
class QComboBox;
class QProgressBar;
class QScrollArea;
class QSlider;
class QStackedWidget;
class QTableView;
class QTimer;
class QToolButton;

namespace ringmaster {

class MonitorPage : public Page {
    Q_OBJECT

  public:
    explicit MonitorPage(Session& session, QWidget* parent = nullptr);
    ~MonitorPage() override;

    void openRun(const QString& dir);
    QString run() const { return m_dir; }  ///< empty: no run is open
    bool settled() const override;

    const RunPicture* picture() const { return m_news ? &m_news->picture : nullptr; }
    ChartCard* chart(ChartKind kind) const { return m_charts[size_t(kind)]; }  ///< null for the heat map
    LogView* log() const { return m_log; }
    void setPaused(bool paused);
    void setSmoothing(double weight);
    void chooseRank(int rank);  ///< -1: no rank
    void showSteps(std::optional<StepRange> range);

  Q_SIGNALS:
    void tryWanted(const QString& dir);    ///< asks to generate text with the run's model
    void mergeWanted(const QString& dir);  ///< asks to add the run's adapter to its base model
    void shown();                          ///< emitted when the newest data are on the screen

  protected:
    void resizeEvent(QResizeEvent* event) override;
    void appear() override;
    void recolour() override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    enum Sheet { kEmpty, kProblem, kRun };

    QWidget* makeEmpty();
    QWidget* makeProblem();
    QWidget* makeRun();
    void makeHeader(QVBoxLayout* layout);
    void makeFigures(QVBoxLayout* layout);
    void makeTools(QVBoxLayout* layout);
    void makeCards(QVBoxLayout* layout);
    ChartCard* makeChart(ChartKind kind);
    Card* makeHeatCard();
    Card* makeTableCard();
    Card* makeLogCard();

    void closeRun();
    void take(const std::shared_ptr<const MonitorNews>& news);
    void showProblem(const QString& what);
    void showRanks();
    void showOptionalCharts();
    void showHeader();
    void showFigures();
    void showVerdict();
    bool queueStandsStill() const;
    bool showElsewhere();
    void showRestart(const KeptNews& news);
    void greyOut(bool grey);
    void showAge();
    void feedCharts();
    void feed(ChartKind kind);
    bool isInSight(const QWidget* widget) const;
    void sendWish();
    void askStop(StopHow how);
    void exportTo(bool csv);
    void offerRuns(QPushButton* button);
    bool hasTrainedAdapter() const;
    void chooseFolder();
    void announceEnd(const RunPicture& before, const RunPicture& now);
    void announceAlerts(const RunPicture& now);
    void saveFigures(ChartKind kind, const QString& file);

    Session& m_session;
    QString m_dir;
    QStackedWidget* m_stack;
    EmptyView* m_problem = nullptr;
    QVBoxLayout* m_problem_room = nullptr;
    PageHeader* m_header;
    QPushButton *m_stop, *m_stop_now, *m_resume, *m_try, *m_fetch, *m_export;
    QProgressBar* m_progress;
    Figure *m_steps, *m_loss, *m_rate, *m_overhead, *m_memory, *m_age;
    Banner* m_banner;
    QPushButton* m_pause;
    QSlider* m_smoothing;
    QLabel* m_smoothing_value;
    QCheckBox *m_log_axis, *m_follow;
    QComboBox* m_axis;
    QPushButton* m_all;
    QScrollArea* m_scroll;
    std::array<ChartCard*, kChartKinds> m_charts{};
    std::array<QWidget*, kChartKinds> m_cards{};
    std::array<bool, kChartKinds> m_stale{};
    HeatMap* m_heat = nullptr;
    SamplesCard* m_samples = nullptr;
    RankTableModel* m_rank_model;
    QTableView* m_ranks;
    LogView* m_log;
    QTimer* m_ticker;

    QPointer<RunReader> m_reader;
    QPointer<QThread> m_thread;
    std::shared_ptr<const MonitorNews> m_news;
    std::shared_ptr<const RunCharts> m_fed;  ///< data that the charts show now
    ChartRequest m_request;
    /// Unix seconds; alerts after this time have not been shown on the desktop yet.
    double m_alerts_since = 0;
    bool m_paused = false, m_broken = false, m_stopping = false, m_stands_still = false;
    std::optional<KeptNews> m_elsewhere;  ///< news that the banner shows
};

}  // namespace ringmaster
