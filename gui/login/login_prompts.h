/// What a person is asked while logging in to a machine, in a window instead of on a terminal: one question
/// at a time, whoever asks. Answers go to the machine and nowhere else: none is kept.
#pragma once

#include <QObject>
#include <QPointer>
#include <functional>
#include <memory>

#include "gui/session/agree.h"
#include "launcher/ssh/prompt.h"

class QWidget;

namespace ringmaster {

class QuestionDialog;

class LoginPrompts : public QObject {
    Q_OBJECT

  public:
    explicit LoginPrompts(QWidget* window);
    ~LoginPrompts() override;  ///< whoever asks after that finds nobody

    /// For one undertaking, which nobody waits for any more once `given_up` says so (empty: never): then its
    /// question goes away. Its functions are called from other threads and may outlive this object.
    SshPerson person(std::function<bool()> given_up);

    /// Another question of the same kind; to be called from another thread. False where nobody answers.
    static std::function<bool(const YesNo&, const std::function<bool()>&)> asking(LoginPrompts* prompts);

  private:
    struct Question;
    struct Desk;
    void showNext();

    QWidget* m_window;
    std::shared_ptr<Desk> m_desk;
    std::shared_ptr<Question> m_shown;
    QPointer<QuestionDialog> m_dialog;
};

}  // namespace ringmaster
