/// A RunFollower that polls by itself and says what came: for anything with an event loop.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <map>
#include <vector>

#include "launcher/follower.h"

namespace ringmaster {

class RunWatch : public QObject {
    Q_OBJECT

  public:
    explicit RunWatch(const RunDirectory& run, QObject* parent = nullptr);

    const RunFollower& follower() const { return m_follower; }
    /// Also follow a rank's log from its beginning; `logArrived` brings the lines.
    void followLog(int rank);

  Q_SIGNALS:
    void stateChanged();  ///< queued, running, …, or the reason of an end
    /// Steps, evaluations, checkpoints and the like, by time; follower() holds them already.
    void eventsArrived(const std::vector<ringmaster::EventLine>& events);
    void logArrived(int rank, const QStringList& lines);
    void lost(const QString& why);  ///< the run directory is gone; polling has ended
    void ended();                   ///< the run is over and everything has been read; polling has ended

  private:
    void poll();
    bool readOnce();
    bool readLogs();

    RunFollower m_follower;
    std::map<int, LogFollower> m_logs;
    RunPhase m_known;
    QTimer m_timer;
};

}  // namespace ringmaster
