#include "gui/plan/keys_card.h"

#include "gui/look/look.h"
#include "gui/session/finding_words.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

QString line_of(const KeyVerdicts::Reason& key, const QString& reason) {
    return u"<b>%1</b> \u2013 %2"_s.arg(QString::fromStdString(key.key).toHtmlEscaped(),
                                        reason.toHtmlEscaped());
}

}  // namespace

KeysCard::KeysCard(QWidget* parent)
    : Card(tr("Keys of the file"), parent),
      m_used(addSection(u"keysUsed"_s)),
      m_no_effect(addSection(u"keysNoEffect"_s)),
      m_unsupported(addSection(u"keysUnsupported"_s)) {
    body()->addStretch(1);
}

KeysCard::Section KeysCard::addSection(const QString& name) {
    auto* head = new QToolButton;
    head->setObjectName(name);
    head->setCheckable(true);
    head->setAutoRaise(true);
    head->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    head->setArrowType(Qt::RightArrow);
    head->setStyleSheet(
        u"QToolButton { border: none; background: transparent; padding: 0.1em 0; min-height: 0; }"
        "QToolButton:checked { color: palette(window-text); }"
        "QToolButton:focus { text-decoration: underline; }"_s);
    auto* list = mutedLabel();
    list->setWordWrap(true);
    list->setTextFormat(Qt::RichText);
    list->setTextInteractionFlags(Qt::TextSelectableByMouse);
    list->setContentsMargins(space(1), 0, 0, space(0.3));
    list->hide();
    body()->addWidget(head, 0, Qt::AlignLeft);
    body()->addWidget(list);
    connect(head, &QToolButton::toggled, this, [head, list](bool open) {
        head->setArrowType(open ? Qt::DownArrow : Qt::RightArrow);
        list->setVisible(open);
    });
    return {head, list};
}

void KeysCard::write(const Section& section, const QString& title, const QStringList& lines,
                     bool inline_list) {
    section.head->setText(title);
    section.head->setAccessibleName(title);
    section.head->setEnabled(!lines.isEmpty());
    if (lines.isEmpty()) section.head->setChecked(false);
    section.list->setText(lines.join(inline_list ? u", "_s : u"<br>"_s));
}

void KeysCard::setPlan(const Plan& plan) {
    QStringList used, no_effect, unsupported;
    for (const std::string& key : plan.keys.used) used << QString::fromStdString(key).toHtmlEscaped();
    write(m_used, tr("Used: %1").arg(used.size()), used, true);
    for (const KeyVerdicts::Reason& key : plan.keys.no_effect) no_effect << line_of(key, reason_of_key(key));
    for (const KeyVerdicts::Reason& key : plan.keys.unsupported)
        unsupported << line_of(key, refusal_of_key(key, plan.diagnostics));
    write(m_no_effect, tr("Without effect here: %1").arg(no_effect.size()), no_effect, false);
    write(m_unsupported, tr("Not supported: %1").arg(unsupported.size()), unsupported, false);
}

}  // namespace ringmaster
