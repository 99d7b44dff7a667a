/// Defines the base class of dialogs that ask another machine. It shows a text, the machine's answer and the
/// progress, and runs one job at a time. If a job is cancelled, its result is dropped and its logins end soon
/// after.
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
    /// `action` is the text of the primary button.
    MachineDialog(Session& session, const QString& title, const QString& about, const QString& action,
                  QWidget* parent);
    ~MachineDialog() override;

    /// Places widgets from top to bottom under the introduction; the last one gets the remaining height.
    void fill(const QList<QWidget*>& body);

    /// Cancels the current work. Later jobs log in as one task, which can be cancelled as a whole.
    void startOver();
    SshPerson person() const;  ///< asks the user until the work is cancelled
    /// Starts a job. Shows `doing` meanwhile, and calls `then` with what the work returned.
    void begin(const QString& doing, Job::Work work, std::function<void(const QString&)> then);
    void letLive() { m_given_up.reset(); }  ///< keeps opened sessions alive beyond the dialog
    virtual void giveUp();
    virtual void showFailure(const JobFailure& failure);
    virtual void showState();
    void say(Tone tone, const QString& verdict, const QString& why, const QString& next = {});
    void reject() override;
    bool event(QEvent* event) override;  ///< keeps the dialog large enough for its texts

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
