#include "gui/data/row_text.h"

#include <QEvent>
#include <QScrollBar>
#include <QTextCursor>

#include "gui/look/look.h"
#include "gui/look/numbers.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

QTextCharFormat format_of(const RowPart& part, const Colours& c) {
    QTextCharFormat format;
    format.setForeground(part.trained ? c.text : c.muted);
    if (part.trained) {
        format.setBackground(c.goodFill);
        format.setFontUnderline(true);
    }
    if (part.kind == TokenKind::Special) {
        format.setForeground(c.accent);
        format.setFontWeight(QFont::Bold);
    }
    return format;
}

}  // namespace

RowText::RowText(QWidget* parent) : QTextBrowser(parent) {
    setObjectName(u"rowText"_s);
    setAccessibleName(tr("Text of the chosen row"));
    setFont(fontOf(Type::Code));
    setOpenLinks(false);
    setUndoRedoEnabled(false);
}

void RowText::setRow(const ShownRow& row, bool hasPairs) {
    m_row = row;
    m_hasPairs = hasPairs;
    write();
}

void RowText::clearRow() {
    m_row = {};
    clear();
}

/// Returns the label of a document of a pair; the chosen answer comes first.
QString RowText::nameOf(int64_t document) {
    //: the better one of two answers to a question, which is trained to become more likely
    return document % 2 == 0 ? tr("Chosen")
                             //: the worse one of two answers to a question
                             : tr("Rejected");
}

void RowText::write() {
    const Colours c = coloursOf(this);
    clear();
    QTextCursor at(document());
    at.beginEditBlock();
    QTextCharFormat heading;
    heading.setForeground(c.muted);
    heading.setFontItalic(true);
    for (int64_t document = -1; const RowPart& part : m_row.parts) {
        if (m_hasPairs && part.document != document)
            at.insertText((document < 0 ? u""_s : u"\n\n"_s) + nameOf(part.document) + u'\n', heading);
        document = part.document;
        at.insertText(QString::fromStdString(part.text), format_of(part, c));
    }
    int64_t shown = 0;
    for (const RowPart& part : m_row.parts) shown += int64_t(part.ids.size());
    if (shown < m_row.tokens) {
        QTextCharFormat quiet;
        quiet.setForeground(c.muted);
        at.insertText(u"\n\n"_s + tr("… and %1 more tokens").arg(show::count(m_row.tokens - shown)), quiet);
    }
    at.endEditBlock();
    verticalScrollBar()->setValue(0);
}

void RowText::changeEvent(QEvent* event) {
    QTextBrowser::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && !m_row.parts.empty()) write();
}

}  // namespace ringmaster
