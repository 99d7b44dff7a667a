/// Runs that live on other machines or in Slurm, kept up to date in their local run directories while
/// somebody looks at them. Logging in, listening and letting go are other threads' work; nothing here starts
/// or stops a run.
#pragma once

#include <QObject>
#include <QString>
#include <QThreadPool>
#include <QTimer>
#include <atomic>
#include <map>
#include <memory>
#include <vector>

#include "launcher/anywhere/companion.h"

namespace ringmaster {

class Session;

/// Of a run that is kept.
struct KeptNews {
    QString job;              ///< "Slurm job 42 waits: Resources"; empty: nothing to tell
    QString trouble;          ///< why a node is not heard; empty: all are
    bool connecting = false;  ///< nothing is known yet

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
    void keep(const QString& dir, std::shared_ptr<Sessions> sessions);  ///< with those that there are
    void reconnect(const QString& dir);  ///< what the person presses where a login was refused
    KeptNews news(const QString& dir) const;

  Q_SIGNALS:
    void changed(const QString& dir);  ///< its news

  private:
    struct Kept {
        std::shared_ptr<std::atomic<bool>> given_up = std::make_shared<std::atomic<bool>>(false);
        std::unique_ptr<RunCompanion> companion;
        KeptNews news;
        double over_since = 0;  ///< Unix seconds; 0: it is not
    };
    void begin(const QString& dir, const std::shared_ptr<Sessions>& sessions);
    void took(const QString& dir, const std::shared_ptr<Kept>& kept);
    void look();
    void letGo(std::shared_ptr<Kept> kept);

    Session& m_session;
    QThreadPool* m_pool;
    QTimer m_timer;
    std::map<QString, std::shared_ptr<Kept>> m_kept;
};

}  // namespace ringmaster
