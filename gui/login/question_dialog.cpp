#include "gui/login/question_dialog.h"

#include <QDialogButtonBox>
#include <QFrame>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/look/card.h"
#include "gui/look/look.h"
#include "gui/look/scrolled.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr qsizetype kMostText = 2000;

QLabel* plainLabel(const QString& text) {
    auto* label = new QLabel(text);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    return label;
}

QLabel* codeLabel(const QString& text) {
    auto* label = new QLabel(text);
    label->setTextFormat(Qt::PlainText);
    label->setFont(fontOf(Type::Code));
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    return label;
}

QString shown(const std::string& text) {
    return shownServerText(text);
}

/// Returns the path of the host key of this type on the machine itself.
QString keyFile(const std::string& type) {
    const QString name = type.starts_with("ssh-") ? QString::fromStdString(type.substr(4)) : u"ecdsa"_s;
    return u"/etc/ssh/ssh_host_%1_key.pub"_s.arg(shown(name.toStdString()));
}

}  // namespace

QString shownServerText(const std::string& text) {
    const QString whole = QString::fromStdString(text);
    QString clean;
    for (const QChar c : whole) {
        const auto category = c.category();
        const bool obeyed = category == QChar::Other_Control || category == QChar::Other_Format ||
                            category == QChar::Separator_Line || category == QChar::Separator_Paragraph;
        if (c == u'\n' || !obeyed) clean += c;
    }
    clean = clean.trimmed();
    return clean.size() > kMostText ? clean.left(kMostText) + u'\u2026' : clean;
}

QuestionDialog::QuestionDialog(const QString& title, QWidget* parent)
    : QDialog(parent), m_layout(new QVBoxLayout(this)) {
    setWindowTitle(title);
    setMinimumWidth(space(30));
    m_layout->setContentsMargins(space(1.4), space(1.2), space(1.4), space(1.2));
    m_layout->setSpacing(space(0.8));
    QLabel* head = plainLabel(title);
    head->setFont(fontOf(Type::Title));
    m_layout->addWidget(head);
}

QLabel* QuestionDialog::addText(const QString& text) {
    QLabel* label = plainLabel(text);
    m_layout->addWidget(label);
    return label;
}

void QuestionDialog::addButtons(QPushButton* no, QPushButton* yes) {
    auto* buttons = twoButtons(yes, no);
    m_layout->addStretch(1);
    m_layout->addWidget(buttons);
    connect(no, &QPushButton::clicked, this, &QDialog::reject);
    connect(yes, &QPushButton::clicked, this, &QDialog::accept);
}

/// Sets the dialog's size as its minimum size, because Qt would otherwise open it at no more than 2/3 of the
/// screen. The size is known only here, after the style sheet has set the fonts.
void QuestionDialog::showEvent(QShowEvent* event) {
    QDialog::showEvent(event);
    if (event->spontaneous()) return;
    const int wide = std::max(minimumWidth(), m_layout->totalMinimumSize().width());
    setMinimumSize(wide, m_layout->totalHeightForWidth(wide));
    resize(minimumSize());
}

TrustDialog::TrustDialog(const UnknownHostKey& key, QWidget* parent)
    : QuestionDialog(tr("Is this really %1?").arg(shown(key.host)), parent) {
    setObjectName(u"trustDialog"_s);
    addText(
        tr("It shows a host key that is not known on this machine. If the key is not its own, someone may be "
           "intercepting the connection. Nothing has been sent to it yet."));
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(space(0.8));
    grid->setVerticalSpacing(space(0.3));
    grid->setColumnStretch(1, 1);
    auto* fingerprint = codeLabel(shown(key.fingerprint));
    fingerprint->setObjectName(u"fingerprintLabel"_s);
    const std::pair<QString, QLabel*> rows[] = {{tr("Fingerprint"), fingerprint},
                                                {tr("Type of key"), codeLabel(shown(key.type))},
                                                {tr("Remembered in"), codeLabel(shown(key.known_hosts))}};
    for (const auto& [name, value] : rows) {
        const int row = grid->rowCount();
        grid->addWidget(mutedLabel(name), row, 0);
        grid->addWidget(value, row, 1);
        value->setAccessibleName(name + u": "_s + value->text());
    }
    m_layout->addLayout(grid);
    addText(tr("Ask whoever runs the machine, or compare it with what this command prints there:"));
    m_layout->addWidget(codeLabel(u"ssh-keygen -lf "_s + keyFile(key.type)));
    auto* no = new QPushButton(tr("Do not trust it"));
    no->setObjectName(u"refuseKeyButton"_s);
    no->setDefault(true);
    auto* yes = new QPushButton(tr("Trust and remember"));
    yes->setObjectName(u"trustKeyButton"_s);
    yes->setAutoDefault(false);
    addButtons(no, yes);
    no->setFocus();
}

YesNoDialog::YesNoDialog(const YesNo& question, QWidget* parent) : QuestionDialog(question.title, parent) {
    setObjectName(u"yesNoDialog"_s);
    addText(shownServerText(question.text.toStdString()));
    QLabel* changes = addText(question.what_changes);
    changes->setObjectName(u"whatChanges"_s);
    changes->setContentsMargins(space(0.8), 0, 0, 0);
    addText(question.outcome);
    auto* no = new QPushButton(question.no);
    no->setObjectName(u"noButton"_s);
    no->setDefault(true);
    auto* yes = new QPushButton(question.yes);
    yes->setObjectName(u"yesButton"_s);
    yes->setAutoDefault(false);
    addButtons(no, yes);
    no->setFocus();
}

PromptDialog::PromptDialog(const LoginPrompt& prompt, bool asked_before, QWidget* parent)
    //: %1 is a machine
    : QuestionDialog(tr("Log in to %1").arg(shown(prompt.host)), parent), m_answer(new QLineEdit) {
    setObjectName(u"promptDialog"_s);
    addQuestion(prompt);
    m_answer->setObjectName(u"answerEdit"_s);
    m_answer->setEchoMode(prompt.echo ? QLineEdit::Normal : QLineEdit::Password);
    m_layout->addWidget(m_answer);
    if (asked_before) {
        auto* again = new Banner;
        again->setObjectName(u"askedAgain"_s);
        again->say(Tone::Warning, tr("Asked again."), tr("The last answer was not accepted."));
        m_layout->addWidget(again);
    }
    QLabel* kept = mutedLabel(tr("The answer goes only to that machine. It is not stored."));
    kept->setWordWrap(true);
    m_layout->addWidget(kept);
    auto* no = new QPushButton(tr("Cancel"));
    no->setObjectName(u"cancelPromptButton"_s);
    no->setAutoDefault(false);
    QPushButton* yes = primaryButton(tr("Answer"));
    yes->setObjectName(u"answerButton"_s);
    yes->setDefault(true);
    addButtons(no, yes);
    if (prompt.kind != PromptKind::Server) {  // a server may accept an empty answer
        yes->setEnabled(false);
        connect(m_answer, &QLineEdit::textChanged, yes,
                [yes](const QString& text) { yes->setEnabled(!text.isEmpty()); });
    }
    m_answer->setFocus();
}

void PromptDialog::addQuestion(const LoginPrompt& prompt) {
    const QString host = shown(prompt.host), of = shown(prompt.of);
    if (prompt.kind != PromptKind::Server) {
        const QString question = prompt.kind == PromptKind::Password
                                     ? (of.isEmpty() ? tr("Your password on %1").arg(host)
                                                     : tr("Password of %1 on %2").arg(of, host))
                                     : tr("Passphrase of the key %1, which stays on this machine").arg(of);
        addText(question)->setBuddy(m_answer);
        m_answer->setAccessibleName(question);
        return;
    }
    addText(tr("%1 asks, in its own words:").arg(host));
    auto* said = plainLabel(shownServerText(prompt.text));
    said->setObjectName(u"serverText"_s);
    said->setFont(fontOf(Type::Code));
    said->setContentsMargins(space(0.8), space(0.4), space(0.6), space(0.4));
    said->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    said->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* sheet = new QFrame;
    sheet->setObjectName(u"serverSheet"_s);
    sheet->setStyleSheet(u"#serverSheet { border-left: 3px solid %1; background: transparent; }"_s.arg(
        coloursOf(sheet).faint.name()));
    auto* inside = new QVBoxLayout(sheet);
    inside->setContentsMargins(0, 0, 0, 0);
    inside->addWidget(said);
    QScrollArea* scroll = scrolled(sheet);
    scroll->setMaximumHeight(space(14));
    scroll->setMinimumHeight(std::min(space(14), said->heightForWidth(space(27)) + space(0.4)));
    m_layout->addWidget(scroll);
    m_answer->setAccessibleName(tr("Answer to %1").arg(host));
    m_answer->setAccessibleDescription(said->text());
}

std::string PromptDialog::takeAnswer() {
    const std::string answer = m_answer->text().toStdString();
    m_answer->clear();
    return answer;
}

}  // namespace ringmaster
