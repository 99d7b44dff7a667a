#include "gui/app/alerts_dialog.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "engine/error.h"
#include "gui/look/card.h"
#include "gui/look/form.h"
#include "gui/look/look.h"
#include "gui/session/alert_words.h"
#include "gui/session/finding_words.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

AlertsDialog::AlertsDialog(QWidget* parent)
    : FittedDialog(parent),
      m_banner(new Banner),
      m_desktop(new QCheckBox(tr("Show a notification on this desktop"))),
      m_webhook(new QLineEdit),
      m_command(new QLineEdit) {
    setObjectName(u"alertsDialog"_s);
    setWindowTitle(tr("Alerts"));
    m_desktop->setObjectName(u"alertDesktop"_s);
    m_webhook->setObjectName(u"alertWebhook"_s);
    m_webhook->setPlaceholderText(u"https://…"_s);
    m_command->setObjectName(u"alertCommand"_s);
    m_command->setPlaceholderText(u"/usr/bin/notify-send Ringmaster"_s);
    auto* about = mutedLabel(tr(
        "All charts mark alerts. The app shows those of the run in Monitor on this desktop. The webhook and "
        "the command belong to the runs that are made from now on: the machine of a run's first node calls "
        "them, even when this window is closed."));
    about->setWordWrap(true);
    auto* words = mutedLabel(
        tr("The webhook gets a POST with JSON. The command is run without a shell: the message is its last "
           "argument, and the JSON is on its input."));
    words->setWordWrap(true);
    auto* form = new QFormLayout;
    form->addRow(tr("Webhook"), m_webhook);
    form->addRow(tr("Command"), m_command);
    alignNames(form);
    auto* cancel = new QPushButton(tr("Cancel"));
    auto* save = primaryButton(tr("Save"));
    save->setObjectName(u"alertSave"_s);
    save->setDefault(true);
    auto* buttons = twoButtons(save, cancel);
    connect(save, &QPushButton::clicked, this, &AlertsDialog::accept);
    connect(cancel, &QPushButton::clicked, this, &AlertsDialog::reject);
    rows()->addWidget(m_banner);
    rows()->addWidget(about);
    rows()->addWidget(makeKinds());
    rows()->addWidget(m_desktop);
    rows()->addLayout(form);
    rows()->addWidget(words);
    rows()->addStretch(1);
    rows()->addWidget(buttons);
    m_banner->hide();
    setMinimumWidth(space(30));
    AlertSettings now;
    try {
        now = read_alert_settings(alert_settings_file());
    } catch (const Error& problem) {
        m_banner->say(Tone::Warning, tr("The settings cannot be read."), message_of(problem),
                      tr("Saving replaces them."));
        m_banner->show();
    }
    for (const auto& [kind, box] : m_kinds) box->setChecked(now.kinds.contains(kind));
    m_desktop->setChecked(now.desktop);
    m_webhook->setText(QString::fromStdString(now.webhook));
    m_command->setText(QString::fromStdString(joined_command(now.command)));
}

QWidget* AlertsDialog::makeKinds() {
    auto* box = new QWidget;
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(space(0.2));
    column->addWidget(new QLabel(tr("Tell me when")));
    for (const AlertKind kind : kAlertKinds) {
        auto* check = new QCheckBox(alertName(kind));
        check->setObjectName(u"alert-"_s + QString::fromLatin1(to_string(kind)));
        column->addWidget(check);
        m_kinds[kind] = check;
    }
    return box;
}

/// Throws Error(Refused) for a command whose quotes are not closed.
AlertSettings AlertsDialog::written() const {
    AlertSettings settings;
    settings.kinds.clear();
    for (const auto& [kind, box] : m_kinds) {
        if (box->isChecked()) settings.kinds.insert(kind);
    }
    settings.desktop = m_desktop->isChecked();
    settings.webhook = m_webhook->text().trimmed().toStdString();
    settings.command = split_command(m_command->text().toStdString());
    return settings;
}

/// Returns true if `check` throws Error; then also shows `why` and `next`, and moves the focus to the field.
bool AlertsDialog::refuses(QLineEdit* field, const std::function<void()>& check, const QString& why,
                           const QString& next) {
    try {
        check();
        return false;
    } catch (const Error&) {
        say(why, next);
        field->setFocus();
        return true;
    }
}

void AlertsDialog::say(const QString& why, const QString& next) {
    m_banner->say(Tone::Error, tr("The settings were not saved."), why, next);
    m_banner->show();
    m_banner->updateGeometry();  // the new text may need more lines
    fitHeight();
}

void AlertsDialog::accept() {
    AlertSettings settings;
    const auto check_address = [&] {
        if (!settings.webhook.empty()) check_webhook(settings.webhook, "webhook");
    };
    const auto check_words = [&] {
        if (!settings.command.empty()) check_alert_command(settings.command, "command");
    };
    if (refuses(
            m_command, [&] { settings = written(); }, tr("A quotation mark in the command is not closed."),
            tr("Add the second quote.")) ||
        refuses(m_webhook, check_address,
                tr("The webhook is not an address that begins with https:// or http://."),
                tr("Paste the address as the service shows it.")) ||
        refuses(m_command, check_words,
                tr("The command has to begin with a program, and may have at most 63 arguments of at "
                   "most 4,096 characters."),
                tr("Name a program and its arguments, or leave the field empty.")))
        return;
    try {
        write_alert_settings(alert_settings_file(), settings);
        QDialog::accept();
    } catch (const Error& problem) {
        say(message_of(problem), hint_of(problem));
    }
}

}  // namespace ringmaster
