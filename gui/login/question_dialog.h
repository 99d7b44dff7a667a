/// Asks the questions of a login: whether to trust the machine's host key, and for passwords and passphrases.
#pragma once

#include <QDialog>
#include <string>

#include "gui/session/agree.h"
#include "launcher/ssh/prompt.h"

class QGridLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QVBoxLayout;

namespace ringmaster {

class QuestionDialog : public QDialog {
    Q_OBJECT

  public:
    virtual std::string takeAnswer() { return {}; }  ///< returns the accepted answer and forgets it

  protected:
    QuestionDialog(const QString& title, QWidget* parent);
    QLabel* addText(const QString& text);
    void showEvent(QShowEvent* event) override;
    void addButtons(QPushButton* no, QPushButton* yes);

    QVBoxLayout* m_layout;
};

/// Shows an unknown host key with its fingerprint. Enter and Escape choose No.
class TrustDialog : public QuestionDialog {
    Q_OBJECT

  public:
    TrustDialog(const UnknownHostKey& key, QWidget* parent);
};

/// Asks for a password, a passphrase, or what the server asks in its own words.
class PromptDialog : public QuestionDialog {
    Q_OBJECT

  public:
    PromptDialog(const LoginPrompt& prompt, bool asked_before, QWidget* parent);
    std::string takeAnswer() override;

  private:
    void addQuestion(const LoginPrompt& prompt);

    QLineEdit* m_answer;
};

/// Asks a yes-or-no question, with a panel that lists the changes that a yes makes.
class YesNoDialog : public QuestionDialog {
    Q_OBJECT

  public:
    YesNoDialog(const YesNo& question, QWidget* parent);
};

/// Returns a server's text in a form that is safe to show: shortened, and without characters that change how
/// text is displayed.
QString shownServerText(const std::string& text);

}  // namespace ringmaster
