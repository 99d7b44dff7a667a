/// A dialog that asks another machine: what it is about, what the machine says, how far it is. One job at a
/// time; what is given up is for nobody any more, and its logins end within a moment.
#pragma once

#include <QDialog>
#include <QPointer>
#include <atomic>
#include <functional>
#include <memory>

#include "gui/look/card.h"
#include "gui/session/job.h"
#include "gui/session/session.h"

class QProgressBar;

namespace ringmaster {

class MachineDialog : public QDialog {
    Q_OBJECT

  public:
    bool isBusy() const { return m_busy; }

  protected:
    /// `action` is what its primary button says.
    MachineDialog(Session& session, const QString& title, const QString& about, const QString& action,
                  QWidget* parent);
    ~MachineDialog() override;

    /// From top to bottom, below what it is about; the last one gets the room.
    void fill(const QList<QWidget*>& body);

    /// Gives up what was; the jobs to come log in as one undertaking.
    void startOver();
    SshPerson person() const;  ///< who is asked, until it is given up
    /// `doing` is said meanwhile, and `then` told what the work returned.
    void begin(const QString& doing, Job::Work work, std::function<void(const QString&)> then);
    void letLive() { m_given_up.reset(); }  ///< what has been opened, whatever becomes of the dialog
    virtual void giveUp();
    virtual void showFailure(const JobFailure& failure);
    virtual void showState();
    void say(Tone tone, const QString& verdict, const QString& why, const QString& next = {});
    void reject() override;
    bool event(QEvent* event) override;  ///< never so small that a text is cut

    Session& m_session;
    Banner* m_banner;
    QPushButton *m_cancel, *m_go;

  private:
    void end();

    QLabel* m_state;
    QProgressBar* m_progress;
    QPointer<Job> m_job;
    std::shared_ptr<std::atomic<bool>> m_given_up;
    bool m_busy = false;
};

}  // namespace ringmaster
