/// Switches the user service that continues the queue after a restart of the machine, and shows whether it is
/// on.
#pragma once

#include <QFutureWatcher>
#include <QWidget>

#include "gui/session/session.h"
#include "launcher/queue/queue_service.h"

class QCheckBox;
class QLabel;

namespace ringmaster {

class Banner;

class ServiceSwitch : public QWidget {
    Q_OBJECT

  public:
    explicit ServiceSwitch(Session& session, QWidget* parent = nullptr);
    ~ServiceSwitch() override;

    void refresh();  ///< asks systemd for the service's current state
    bool settled() const { return !m_watcher.isRunning(); }

  private:
    enum class Change { None, On, Off };
    struct Answer {
        QueueService service;
        QString problem;  ///< why systemd refused the change; empty if it did not
    };
    void ask(Change change);
    void take();

    Session& m_session;
    QFutureWatcher<Answer> m_watcher;
    Change m_change = Change::None;
    QCheckBox* m_switch;
    QLabel* m_note;
    Banner* m_problem;
};

}  // namespace ringmaster
