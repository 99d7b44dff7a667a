/// Asks which configuration to queue, once or as a sweep over keys, and prepares its runs.
#pragma once

#include <QPointer>

#include "gui/look/fitted_dialog.h"
#include "gui/session/job.h"
#include "gui/session/session.h"

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QProgressBar;
class QPushButton;

namespace ringmaster {

class Banner;

class QueueDialog : public FittedDialog {
    Q_OBJECT

  public:
    QueueDialog(Session& session, const QString& file, QWidget* parent = nullptr);

    bool isBusy() const { return !m_job.isNull(); }

  Q_SIGNALS:
    void queued(const QString& dir);  ///< emitted for each run

  protected:
    void reject() override;  ///< cancels work in progress first

  private:
    void browse();
    void add();
    void fail(const JobFailure& failure);
    void refuse(const QString& what, const QString& hint);
    void showState();

    Session& m_session;
    QLineEdit *m_file, *m_name;
    QPlainTextEdit* m_sweep;
    Banner* m_problem;
    QLabel* m_doing;
    QProgressBar* m_progress;
    QPushButton *m_browse, *m_cancel, *m_add;
    QPointer<Job> m_job;
};

}  // namespace ringmaster
