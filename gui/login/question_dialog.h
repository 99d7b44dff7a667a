/// The questions of a login: is this the machine that it should be, and what does it get to let us in.
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
    virtual std::string takeAnswer() { return {}; }  ///< after it was accepted; it is here no more

  protected:
    QuestionDialog(const QString& title, QWidget* parent);
    QLabel* addText(const QString& text);
    void addButtons(QPushButton* no, QPushButton* yes);

    QVBoxLayout* m_layout;
};

/// An unknown host key with its fingerprint. No is what Enter and Escape say.
class TrustDialog : public QuestionDialog {
    Q_OBJECT

  public:
    TrustDialog(const UnknownHostKey& key, QWidget* parent);
};

/// A password, a passphrase, or what the server asks in its own words.
class PromptDialog : public QuestionDialog {
    Q_OBJECT

  public:
    PromptDialog(const Prompt& prompt, bool asked_before, QWidget* parent);
    std::string takeAnswer() override;

  private:
    void addQuestion(const Prompt& prompt);

    QLineEdit* m_answer;
};

/// Yes or no, what changes with yes on a sheet of its own.
class YesNoDialog : public QuestionDialog {
    Q_OBJECT

  public:
    YesNoDialog(const YesNo& question, QWidget* parent);
};

/// As it may be shown: a server's words, without what changes how they are read, and not without end.
QString shownServerText(const std::string& text);

}  // namespace ringmaster
