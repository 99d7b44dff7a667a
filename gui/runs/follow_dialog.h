/// A run that another machine launched: which machine it is on, which of the runs there, and from then on it
/// is followed like any. Nothing here starts or stops anything.
#pragma once

#include <QDialog>
#include <QPointer>
#include <memory>

#include "gui/session/job.h"
#include "gui/session/session.h"
#include "launcher/anywhere/runs_there.h"

class QComboBox;
class QLabel;
class QProgressBar;
class QPushButton;
class QTreeWidget;

namespace ringmaster {

class Banner;

class FollowDialog : public QDialog {
    Q_OBJECT

  public:
    explicit FollowDialog(Session& session, QWidget* parent = nullptr);
    ~FollowDialog() override;

    bool isBusy() const { return m_busy; }
    void show(const RunsThere& there);  ///< what was found

  Q_SIGNALS:
    void followed(const QString& dir);  ///< it is here now

  protected:
    void reject() override;  ///< what is under way first

  private:
    struct Looked;
    QWidget* makeHost();
    void fillHosts();
    void look();
    void follow();
    void begin(const QString& what, Job::Work work);
    void end();
    void giveUp();
    void showFailure(const JobFailure& failure);
    void showState();
    std::vector<std::string> hosts() const;
    const RunThere* chosen() const;

    Session& m_session;
    QComboBox* m_host;
    QPushButton* m_look;
    QLabel* m_state;
    QProgressBar* m_wait;
    Banner* m_banner;
    QTreeWidget* m_runs;
    QPushButton *m_cancel, *m_follow;
    QPointer<Job> m_job;
    std::shared_ptr<std::atomic<bool>> m_given_up;
    std::shared_ptr<Looked> m_looked;  ///< with the session that it was asked through
    RunsThere m_there;
    bool m_busy = false;
};

}  // namespace ringmaster
