/// Follows runs on other machines or in Slurm and updates their local run directories while the app runs.
/// Logins and followers run on other threads. If a run was launched or resumed here on several nodes with
/// restarts, it is restarted when it fails, as `ringmaster launch` does. Nothing else here starts or stops a
/// run.
#pragma once

#include <QObject>
#include <QString>
#include <QThreadPool>
#include <QTimer>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "launcher/anywhere/restart.h"
#include "launcher/backends/run_follower.h"

namespace ringmaster {

class Session;

/// Holds the state of a run that is followed.
struct KeptNews {
    QString job;                 ///< state in Slurm, such as "Slurm job 42 waits: Resources"; may be empty
    QString trouble;             ///< reason why a node does not answer; empty if all do
    bool connecting = false;     ///< true while nothing is known yet
    bool restarting = false;     ///< true while a failed run is being restarted
    QString restart = {};        ///< progress of the restart, such as "restart 1 of 3"
    QString why_not_again = {};  ///< reason why a failed run with restarts left was not restarted

    bool operator==(const KeptNews&) const = default;
};

class RunKeeper : public QObject {
    Q_OBJECT

  public:
    explicit RunKeeper(Session& session);
    ~RunKeeper() override;  ///< returns within seconds

    /// Follows a run until it is over. Does nothing if the run is already followed or runs on this machine.
    /// Logs in to the run's machines, and may ask the user questions.
    void keep(const QString& dir);
    /// Follows a run that was just started or found, over existing `sessions`. The state of an earlier
    /// attempt is dropped. A run that fails is restarted as often as `limits` says.
    void keep(const QString& dir, std::shared_ptr<Sessions> sessions, const RestartLimits& limits = {});
    void reconnect(const QString& dir);  ///< logs in again after a refusal, at the user's request
    KeptNews news(const QString& dir) const;

    bool willRestart(const QString& dir) const;  ///< true if a failure will cause, or has caused, a restart
    void leaveAlone(const QString& dir);         ///< cancels all restarts, even one in progress
    int restartsAhead() const;                   ///< number of runs that restart only while the app runs

  Q_SIGNALS:
    void changed(const QString& dir);  ///< emitted when news of the run changed

  private:
    using Flag = std::shared_ptr<std::atomic<bool>>;
    struct Kept {
        Flag given_up = std::make_shared<std::atomic<bool>>(false);
        Flag left_alone = std::make_shared<std::atomic<bool>>(false);  ///< true: restarts are cancelled
        std::unique_ptr<RunFollower> follower;
        bool connected = false;
        KeptNews news;
        double over_since = 0;  ///< Unix seconds of the run's end; 0: not over
        RestartLimits limits;
        int restarts = 0;  ///< number of restarts so far
    };
    void begin(const QString& dir, const std::shared_ptr<Sessions>& sessions, const RestartLimits& limits);
    void work(const QString& dir, const std::shared_ptr<Kept>& kept,
              const std::function<std::unique_ptr<RunFollower>()>& connect, bool restarts);
    void took(const QString& dir, const std::shared_ptr<Kept>& kept);
    void look();
    void lookAt(const QString& dir, const std::shared_ptr<Kept>& kept);
    void restart(const QString& dir, const std::shared_ptr<Kept>& kept);
    void letGo(std::shared_ptr<Kept> kept);

    Session& m_session;
    QThreadPool* m_pool;
    QTimer m_timer;
    std::map<QString, std::shared_ptr<Kept>> m_kept;
};

}  // namespace ringmaster
