/// Runs that live on other machines or in Slurm, kept up to date in their local run directories while
/// somebody looks at them. Logging in, listening and letting go are other threads' work. A run that was
/// launched or resumed here, over several nodes and with restarts, is started again when it fails, as
/// `ringmaster launch` does while it follows; nothing else here starts or stops a run.
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

#include "launcher/anywhere/companion.h"
#include "launcher/anywhere/restart.h"

namespace ringmaster {

class Session;

/// Of a run that is kept.
struct KeptNews {
    QString job;                 ///< "Slurm job 42 waits: Resources"; empty: nothing to tell
    QString trouble;             ///< why a node is not heard; empty: all are
    bool connecting = false;     ///< nothing is known yet
    bool restarting = false;     ///< it failed, and is on its way again
    QString restart = {};        ///< how far that is: "restart 1 of 3"
    QString why_not_again = {};  ///< it failed, restarts were left, and it could not be started again

    bool operator==(const KeptNews&) const = default;
};

class RunKeeper : public QObject {
    Q_OBJECT

  public:
    using Sessions = std::vector<std::unique_ptr<SshSession>>;

    explicit RunKeeper(Session& session);
    ~RunKeeper() override;  ///< within a moment, whatever it waits for

    /// Until the run is over; a run that is kept already, or that this machine keeps by itself, is left
    /// alone. Logs in and may ask the person.
    void keep(const QString& dir);
    /// One that has just been started or found, with the sessions that there are: what was heard of it until
    /// then, of an attempt that is over, is let go. What fails is started again as often as `wish` says.
    void keep(const QString& dir, std::shared_ptr<Sessions> sessions, const RestartWish& wish = {});
    void reconnect(const QString& dir);  ///< what the person presses where a login was refused
    KeptNews news(const QString& dir) const;

    bool willRestart(const QString& dir) const;  ///< should it fail, or as it has failed
    void leaveAlone(const QString& dir);         ///< no restart any more; one that is under way is called off
    int restartsAhead() const;                   ///< runs that are started again only while this is here

  Q_SIGNALS:
    void changed(const QString& dir);  ///< its news

  private:
    using Flag = std::shared_ptr<std::atomic<bool>>;
    struct Kept {
        Flag given_up = std::make_shared<std::atomic<bool>>(false);
        Flag left_alone = std::make_shared<std::atomic<bool>>(false);  ///< of its restarts
        std::unique_ptr<RunCompanion> companion;
        bool connected = false;
        KeptNews news;
        double over_since = 0;  ///< Unix seconds; 0: it is not
        RestartWish wish;
        int restarts = 0;  ///< done
    };
    void begin(const QString& dir, const std::shared_ptr<Sessions>& sessions, const RestartWish& wish);
    void work(const QString& dir, const std::shared_ptr<Kept>& kept,
              const std::function<std::unique_ptr<RunCompanion>()>& connect, bool restarts);
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
