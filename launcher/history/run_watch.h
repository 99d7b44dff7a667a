/// Polls a RunHistory and emits what is new, for programs with an event loop.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <vector>

#include "launcher/history/history.h"

namespace ringmaster {

class RunWatch : public QObject {
    Q_OBJECT

  public:
    explicit RunWatch(const RunDirectory& run, QObject* parent = nullptr);

    const RunHistory& history() const { return m_history; }

  Q_SIGNALS:
    void stateChanged();  ///< the run's state changed: queued, running, …
    /// Steps, evaluations, checkpoints and so on, ordered by time. history() already holds them.
    void eventsArrived(const std::vector<ringmaster::EventLine>& events);
    void lost(const QString& why);  ///< the run directory cannot be read; polling has stopped
    void ended();                   ///< the run is over and all events were read; polling has stopped

  private:
    void poll();
    bool readOnce();

    RunHistory m_history;
    RunPhase m_known;
    QTimer m_timer;
};

}  // namespace ringmaster
