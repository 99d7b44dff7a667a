#include "gui/look/side_by_side.h"

#include <QAbstractTextDocumentLayout>
#include <QEvent>
#include <QScrollBar>
#include <QTextCursor>
#include <QTextTable>
#include <algorithm>

#include "gui/look/look.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr qsizetype kShortPrompt = 160;  ///< longest prompt, in letters, that is repeated before each text

struct Formats {
    QTextCharFormat text, quiet, head;

    explicit Formats(const Colours& c) {
        text.setForeground(c.text);
        quiet.setForeground(c.muted);
        head = quiet;
        head.setFont(fontOf(Type::Small));
    }
};

/// Returns true if the prompt is repeated before each text. Otherwise it is written once, above the texts.
bool isRepeated(const SideRow& row) {
    return row.continues && row.prompt.size() <= kShortPrompt;
}

void writeText(QTextCursor at, const SideRow& row, const SideText& text, const Formats& formats) {
    if (isRepeated(row)) at.insertText(row.prompt, formats.quiet);
    at.insertText(text.text, formats.text);
    if (text.note.isEmpty()) return;
    const bool follows = !text.text.isEmpty() || isRepeated(row);
    at.insertText((follows ? u"\n"_s : QString()) + text.note, formats.head);
}

QTextTableFormat tableFormat(qsizetype columns, const Colours& c) {
    QTextTableFormat format;
    format.setBorder(0);
    format.setCellSpacing(0);
    format.setCellPadding(space(0.35));
    format.setWidth(QTextLength(QTextLength::PercentageLength, 100));
    format.setColumnWidthConstraints(
        QList<QTextLength>(columns, QTextLength(QTextLength::PercentageLength, 100.0 / double(columns))));
    format.setBorderCollapse(true);
    format.setBorderBrush(c.grid);
    return format;
}

/// Draws a line above a row's cells.
void ruleAbove(QTextTable* table, int row, const Colours& c) {
    for (int column = 0; column < table->columns(); ++column) {
        QTextTableCell cell = table->cellAt(row, column);
        QTextTableCellFormat format = cell.format().toTableCellFormat();
        format.setTopBorder(1);
        format.setTopBorderStyle(QTextFrameFormat::BorderStyle_Solid);
        format.setTopBorderBrush(c.grid);
        cell.setFormat(format);
    }
}

}  // namespace

SideBySide::SideBySide(QWidget* parent) : QTextBrowser(parent) {
    setFont(fontOf(Type::Code));
    setOpenLinks(false);
    setUndoRedoEnabled(false);
    setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    setTabChangesFocus(true);
    document()->setDocumentMargin(space(0.2));
    connect(document()->documentLayout(), &QAbstractTextDocumentLayout::documentSizeChanged, this,
            &SideBySide::fit);
}

void SideBySide::setTexts(const QStringList& columns, const std::vector<SideRow>& rows) {
    if (columns == m_columns && rows == m_rows) return;
    m_columns = columns;
    m_rows = rows;
    write();
}

void SideBySide::fitHeight(double least, double most) {
    m_least = least;
    m_most = most;
    fit();
}

void SideBySide::fit() {
    if (m_most <= 0) return;
    const int wanted = int(document()->size().height()) + 2 * frameWidth() + space(0.3);
    setFixedHeight(std::clamp(wanted, space(m_least), space(m_most)));
}

void SideBySide::write() {
    const int scrolled = verticalScrollBar()->value();
    clear();
    if (m_columns.isEmpty() || m_rows.empty()) return;
    const Colours c = coloursOf(this);
    const Formats formats(c);
    QTextCursor at(document());
    at.beginEditBlock();
    int lines = 1;
    for (const SideRow& row : m_rows) lines += isRepeated(row) ? 1 : 2;
    QTextTable* table = at.insertTable(lines, int(m_columns.size()), tableFormat(m_columns.size(), c));
    for (int column = 0; column < m_columns.size(); ++column)
        table->cellAt(0, column).firstCursorPosition().insertText(m_columns[column], formats.head);
    int line = 1;
    for (const SideRow& row : m_rows) {
        ruleAbove(table, line, c);
        if (!isRepeated(row)) {
            table->mergeCells(line, 0, 1, table->columns());
            table->cellAt(line, 0).firstCursorPosition().insertText(row.prompt, formats.quiet);
            ++line;
        }
        for (int column = 0; column < std::min(int(row.texts.size()), table->columns()); ++column)
            writeText(table->cellAt(line, column).firstCursorPosition(), row, row.texts[size_t(column)],
                      formats);
        ++line;
    }
    at.endEditBlock();
    verticalScrollBar()->setValue(scrolled);
}

void SideBySide::changeEvent(QEvent* event) {
    QTextBrowser::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) write();
}

}  // namespace ringmaster
