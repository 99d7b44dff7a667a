/// Shows exactly what a launch would start, as `ringmaster launch --dry-run` prints it: automatically if this
/// needs no login, otherwise when the user presses the button.
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

    /// Sets the choice to preview. Without a choice, because the form is incomplete, the panel shows nothing.
    void setChoice(const std::optional<LaunchChoice>& choice);
    int hiddenHeight() const;                 ///< height of the text that is visible only by scrolling
    bool isShown() const { return m_shown; }  ///< true if the preview of the current choice is shown
    bool isBusy() const { return m_busy; }
    QString offer()
        const;  ///< text of the button that has to be pressed before anything is shown; empty: none
    /// Returns the machines reached for the current choice; null if there are none or they were taken before.
    std::shared_ptr<RunBackend> takeReached();

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
    std::shared_ptr<std::shared_ptr<RunBackend>> m_reached;
    QPushButton* m_button;
    QLabel* m_state;
    QPlainTextEdit* m_text;
    Banner* m_problem;
    bool m_shown = false, m_busy = false;
};

}  // namespace ringmaster
