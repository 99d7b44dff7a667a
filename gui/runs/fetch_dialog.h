/// What a run on other machines has made, brought here: its final model or a checkpoint, verified by its
/// hash.
#pragma once

#include <QDialog>
#include <QPointer>
#include <memory>

#include "gui/session/job.h"
#include "gui/session/session.h"
#include "launcher/anywhere/fetch_run.h"

class QLabel;
class QListWidget;
class QProgressBar;
class QPushButton;

namespace ringmaster {

class Banner;

class FetchDialog : public QDialog {
    Q_OBJECT

  public:
    FetchDialog(Session& session, const QString& dir, QWidget* parent = nullptr);
    ~FetchDialog() override;

    void ask();                          ///< the machine for what there is
    void show(const FetchOffer& offer);  ///< what it said
    bool isBusy() const { return m_busy; }

  Q_SIGNALS:
    void fetched(const QString& path);

  protected:
    void reject() override;  ///< and calls off what is under way

  private:
    struct There;
    void fetch();
    void begin(const QString& what, Job::Work work);
    void end();
    void giveUp();
    void showFailure(const JobFailure& failure);
    void showState();

    Session& m_session;
    RunDirectory m_run;
    QListWidget* m_offer;
    QLabel* m_state;
    QProgressBar* m_progress;
    Banner* m_banner;
    QPushButton *m_cancel, *m_fetch;
    QPointer<Job> m_job;
    std::shared_ptr<std::atomic<bool>> m_given_up;
    std::shared_ptr<There> m_there;
    bool m_busy = false;
};

}  // namespace ringmaster
