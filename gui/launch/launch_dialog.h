/// Takes the user from Launch (or Resume, or Set up) to the first step, or into the queue. It asks where to
/// run, then shows the phases with their progress. Every phase can be cancelled, and a failed one says what
/// to do next. The launcher does the work; this dialog only shows it.
#pragma once

#include <QDialog>
#include <QPointer>
#include <memory>

#include "gui/launch/launch_steps.h"
#include "gui/session/session.h"

class QDialogButtonBox;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace ringmaster {

class Banner;
class LaunchForm;
class StartedRun;
class Stepper;

class LaunchDialog : public QDialog {
    Q_OBJECT

  public:
    explicit LaunchDialog(Session& session, QWidget* parent = nullptr);
    ~LaunchDialog() override;

    void ask(const Request& request);  ///< asks where to run, before anything is done
    void launch(const Request& request, const LaunchChoice& choice = {}, LaunchWhen when = LaunchWhen::Now,
                bool overwrite = false);
    void resume(const QString& dir, const ResumeOptions& options);
    void setUp();
    void measure();  ///< measures this machine
    void makeExample();

    bool isBusy() const { return m_busy; }

  Q_SIGNALS:
    void started(const QString& dir);  ///< emitted when the run's agent has taken over
    void queued(const QString& dir);   ///< emitted when the run waits in the queue
    void exampleMade(const QString& file);
    void madeReady();    ///< emitted when the Python environment is installed or the machine measured
    void nodesWanted();  ///< asks for the Nodes page

  protected:
    bool event(QEvent* event) override;
    void reject() override;

  private:
    void clear(const QString& title);
    void setOffered(QPushButton* button, bool offered);
    void dropForm();
    void begin(const LaunchJob& job);
    void go(LaunchWhen when);
    LaunchOrder orderFor(const Request& request, const LaunchChoice& choice);
    void take(const LaunchOrder& order, const QString& dir);
    void reach(LaunchPhase phase);
    void finish();
    void makeReady(const LaunchJob& job);
    void showFailure(const JobFailure& failure);
    void showEnd(const QString& what, const QString& hint);
    void growToFit();
    QPushButton* offer(const QString& text);

    Session& m_session;
    QLabel* m_title;
    QVBoxLayout* m_room;  ///< layout that holds the stepper
    QPointer<Stepper> m_stepper;
    Banner* m_banner;
    QLabel* m_warnings;
    QPushButton* m_cancel;
    QDialogButtonBox* m_buttons;  ///< the buttons that are offered now
    QPushButton* m_away;          ///< closes the dialog and lets the run continue
    QPointer<Job> m_job;
    QPointer<StartedRun> m_started;
    std::shared_ptr<std::atomic<bool>> m_given_up;  ///< cancels questions while the job logs in
    QPointer<LaunchForm> m_form;
    QPointer<QWidget> m_form_room;  ///< scrolls m_form, and owns it
    QPushButton *m_go, *m_queue;
    QString m_refused;  ///< begins the message of a failure
    Request m_request;
    std::vector<LaunchPhase> m_phases;
    bool m_busy = false;
};

}  // namespace ringmaster
