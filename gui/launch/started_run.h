/// Follows a started run up to its first step, and stops it on request.
#pragma once

#include <QObject>
#include <memory>

#include "gui/launch/launch_steps.h"
#include "gui/session/session.h"
#include "launcher/history/run_watch.h"

namespace ringmaster {

class StartedRun : public QObject {
    Q_OBJECT

  public:
    StartedRun(Session& session, const QString& dir, QObject* parent);

    void begin();
    /// Stops the run on another thread, because reaching it can take as long as a login.
    void stopNow();

  Q_SIGNALS:
    void reached(LaunchPhase phase);
    void progressed(const QString& what, qint64 done, qint64 total);
    void done();  ///< emitted when the run has made a step, or has ended without a failure
    void failed(const QString& what, const QString& hint);

  private:
    void read(const std::vector<EventLine>& events);
    void tellState();
    void tellQueue();
    void fail(const JobFailure& failure);

    Session& m_session;
    QString m_dir;
    std::unique_ptr<RunWatch> m_watch;
};

}  // namespace ringmaster
