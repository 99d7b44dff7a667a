/// From a press of Launch (or Resume, or Set up) to the first step: phases with progress, a way to call it
/// off in each of them, and where one fails what to do next. What happens is the launcher's doing; here it is
/// only told.
#pragma once

#include <QDialog>
#include <QPointer>
#include <memory>

#include "gui/launch/job.h"
#include "gui/session/session.h"
#include "launcher/run_watch.h"

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace ringmaster {

class Banner;
class Stepper;

class LaunchDialog : public QDialog {
    Q_OBJECT

  public:
    explicit LaunchDialog(Session& session, QWidget* parent = nullptr);

    void launch(const Request& request, bool overwrite = false);
    void resume(const QString& dir, const ResumeOptions& options);
    void setUp();
    void makeExample();

    bool isBusy() const { return m_busy; }

  Q_SIGNALS:
    void started(const QString& dir);    ///< its agent has taken over
    void firstStep(const QString& dir);  ///< it trains
    void exampleMade(const QString& file);
    void madeReady();  ///< the Python environment is there

  protected:
    void reject() override;

  private:
    void begin(const QString& title, const QStringList& phases, Job::Work work);
    void follow(const QString& dir);
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
    std::optional<Request> m_request;
    QString m_dir;
    bool m_busy = false;
};

}  // namespace ringmaster
