#include "gui/plan/find_bar.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QToolButton>

#include "gui/look/card.h"
#include "gui/look/look.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

FindBar::FindBar(YamlEditor* editor, QWidget* parent)
    : QWidget(parent), m_editor(editor), m_what(new QLineEdit), m_count(mutedLabel()) {
    m_what->setObjectName(u"findText"_s);
    m_what->setPlaceholderText(tr("Find"));
    m_what->setAccessibleName(tr("Find in the text"));
    m_what->setClearButtonEnabled(true);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(space(0.5), space(0.3), space(0.5), space(0.3));
    layout->setSpacing(space(0.3));
    layout->addWidget(m_what, 1);
    layout->addWidget(m_count);
    const auto button = [&](const QString& sign, const QString& name, auto slot) {
        auto* made = new QToolButton;
        made->setText(sign);
        made->setToolTip(name);
        made->setAccessibleName(name);
        made->setFocusPolicy(Qt::TabFocus);
        connect(made, &QToolButton::clicked, this, slot);
        layout->addWidget(made);
    };
    button(u"\u2191"_s, tr("Previous (Shift+Enter)"), [this] { look(true, false); });
    button(u"\u2193"_s, tr("Next (Enter)"), [this] { look(false, false); });
    button(u"\u00D7"_s, tr("Close (Esc)"), [this] { stop(); });
    connect(m_what, &QLineEdit::textChanged, this, [this] { look(false, true); });
    hide();
}

void FindBar::start() {
    const QString selected = m_editor->textCursor().selectedText();
    show();
    if (!selected.isEmpty() && !selected.contains(QChar::ParagraphSeparator)) m_what->setText(selected);
    m_what->setFocus();
    m_what->selectAll();
    look(false, true);
}

void FindBar::stop() {
    hide();
    m_editor->clearFound();
    m_editor->setFocus();
}

void FindBar::look(bool backwards, bool stay) {
    const int count = m_editor->find(m_what->text(), backwards, stay);
    m_count->setText(m_what->text().isEmpty() ? QString()
                     : count == 0             ? tr("not found")
                                              : tr("%n found", nullptr, count));
}

void FindBar::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) return stop();
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)
        return look(event->modifiers() & Qt::ShiftModifier, false);
    QWidget::keyPressEvent(event);
}

}  // namespace ringmaster
