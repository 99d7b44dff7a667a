/// Shows the runs that wait on this machine for their turn: their order, their results, and the sweeps that
/// made them.
#pragma once

#include <QFutureWatcher>
#include <QTimer>

#include "gui/session/page.h"
#include "gui/session/session.h"
#include "launcher/queue/queue_edit.h"

class QPushButton;
class QSpinBox;
class QStackedWidget;

namespace ringmaster {

class Banner;
class Card;
class PageHeader;
class ParallelPlot;
class QueueTable;
class ServiceSwitch;

class QueuePage : public Page {
    Q_OBJECT

  public:
    explicit QueuePage(Session& session, QWidget* parent = nullptr);
    ~QueuePage() override;

    void offer(const QString& file) { m_file = file; }  ///< sets the configuration with which Add begins
    bool settled() const override;

  private:
    void appear() override;
    void disappear() override;
    void recolour() override;
    struct Now {
        Queue queue;
        std::vector<std::pair<QueuedRun, RunSummary>> runs;
        std::vector<QueuePlace> places;  ///< one for each run
        bool is_alive = false;           ///< the queue's process is alive
        QString problem;
    };
    QWidget* makeList();
    void refresh();
    void take();
    void add();
    void removeChosen();
    void move(const QString& dir, int place);
    void setSlots(int count);
    void change(const std::function<void()>& work);
    void showState();

    Session& m_session;
    QString m_file;
    QTimer m_timer;
    QFutureWatcher<Now> m_watcher;
    Now m_now;
    bool m_read = false, m_again = false;
    PageHeader* m_header;
    Banner *m_problem, *m_still;
    QStackedWidget* m_stack;
    QPushButton *m_add, *m_up, *m_down, *m_remove, *m_open;
    QSpinBox* m_slots;
    ServiceSwitch* m_service;
    QueueTable* m_table;
    Card* m_results;
    ParallelPlot* m_plot;
};

}  // namespace ringmaster
