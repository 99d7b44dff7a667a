/// Asks the questions of a login in a window instead of on a terminal, one question at a time for all
/// threads. Answers are sent only to the machine; none is stored.
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
    ~LoginPrompts() override;  ///< later questions get no answer

    /// Returns an SshPerson for one task. Its questions close without an answer when `given_up` returns true;
    /// an empty `given_up` never does. The person's functions are called from other threads and may outlive
    /// this object.
    SshPerson person(std::function<bool()> given_up);

    /// Returns a function that other threads call to ask yes-or-no questions. It returns false if nobody
    /// answers.
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
