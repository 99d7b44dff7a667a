/// From a press of Launch (or Resume, or Set up) to the first step: where it is to go, then phases with
/// progress, a way to call it off in each of them, and where one fails what to do next. What happens is the
/// launcher's doing; here it is only told.
#pragma once

#include <QDialog>
#include <QPointer>
#include <memory>

#include "gui/launch/launch_steps.h"
#include "gui/session/session.h"
#include "launcher/run_watch.h"

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace ringmaster {

class Banner;
class LaunchForm;
class Stepper;

class LaunchDialog : public QDialog {
    Q_OBJECT

  public:
    explicit LaunchDialog(Session& session, QWidget* parent = nullptr);
    ~LaunchDialog() override;

    void ask(const Request& request);  ///< where to, before anything is done
    void launch(const Request& request, const LaunchChoice& choice = {}, bool overwrite = false);
    void resume(const QString& dir, const ResumeOptions& options);
    void setUp();
    void makeExample();

    bool isBusy() const { return m_busy; }

  Q_SIGNALS:
    void started(const QString& dir);    ///< its agent has taken over
    void firstStep(const QString& dir);  ///< it trains
    void exampleMade(const QString& file);
    void madeReady();    ///< the Python environment is there
    void nodesWanted();  ///< to the Nodes page

  protected:
    void reject() override;

  private:
    void clear(const QString& title);
    void dropForm();
    void begin(const QString& title, const QStringList& phases, Job::Work work);
    void go();
    LaunchOrder orderFor(const Destination& to);
    void take(const LaunchOrder& order, const QString& dir);
    void follow(const QString& dir);
    void reach(LaunchPhase phase);
    void showQueue();
    void stopNow();
    void read(const std::vector<EventLine>& events);
    void stateChanged();
    void showFailure(const JobFailure& failure);
    void showEnd(const QString& what, const QString& hint);
    QPushButton* offer(const QString& text);

    Session& m_session;
    QLabel* m_title;
    QVBoxLayout* m_room;  ///< of the stepper
    QPointer<Stepper> m_stepper;
    Banner* m_banner;
    QLabel* m_warnings;
    QPushButton* m_cancel;
    QPushButton* m_away;  ///< leaves it to itself, or closes
    QPointer<Job> m_job;
    std::unique_ptr<RunWatch> m_watch;
    std::shared_ptr<std::atomic<bool>> m_given_up;  ///< what is asked while the job logs in
    QPointer<LaunchForm> m_form;
    QPushButton* m_go;
    Request m_request;
    LaunchChoice m_choice;
    std::vector<LaunchPhase> m_phases;
    QString m_dir;
    bool m_busy = false;
};

}  // namespace ringmaster
