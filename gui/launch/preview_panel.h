/// Exactly what a launch would start, as `ringmaster launch --dry-run` prints it: by itself where nobody has
/// to log in for it, else at a press.
#pragma once

#include <QPointer>
#include <QTimer>
#include <QWidget>
#include <optional>

#include "gui/launch/launch_steps.h"
#include "gui/session/session.h"

class QLabel;
class QPlainTextEdit;
class QPushButton;

namespace ringmaster {

class Banner;

class PreviewPanel : public QWidget {
    Q_OBJECT

  public:
    PreviewPanel(Session& session, const Request& request, QWidget* parent = nullptr);
    ~PreviewPanel() override;

    /// Of what it is from now on; empty: of nothing, since something is missing.
    void setChoice(const std::optional<LaunchChoice>& choice);
    bool isShown() const { return m_shown; }  ///< the present choice's
    bool isBusy() const { return m_busy; }
    QString text() const;
    /// The machines that it has reached for the present choice; empty: none, or taken.
    std::shared_ptr<Reached> takeReached();

  Q_SIGNALS:
    void changed();

  private:
    void begin();
    void giveUp();
    void showText(const QString& text);
    void showFailure(const JobFailure& failure);
    void showState();

    Session& m_session;
    Request m_request;
    std::optional<LaunchChoice> m_choice;
    QTimer m_soon;
    QPointer<Job> m_job;
    std::shared_ptr<std::atomic<bool>> m_given_up;
    std::shared_ptr<std::shared_ptr<Reached>> m_reached;
    QPushButton* m_button;
    QLabel* m_state;
    QPlainTextEdit* m_text;
    Banner* m_problem;
    bool m_shown = false, m_busy = false;
};

}  // namespace ringmaster
