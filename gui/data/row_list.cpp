#include "gui/data/row_list.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>

#include "gui/look/look.h"
#include "gui/look/numbers.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int64_t kBeginning = 48;  ///< maximum number of a row's tokens that its line shows

}  // namespace

RowList::RowList(QWidget* parent) : QAbstractScrollArea(parent), m_heading(new QWidget(this)) {
    setObjectName(u"rowList"_s);
    setAccessibleName(tr("Rows"));
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    viewport()->setAutoFillBackground(false);
    m_heading->setObjectName(u"rowHeading"_s);
    m_heading->installEventFilter(this);
}

QStringList RowList::headings() {
    return {tr("Row"), tr("Tokens"), tr("Text")};
}

void RowList::setRows(OpenRowsPtr rows) {
    m_rows = std::move(rows);
    m_found.reset();
    m_line = -1;
    fitScrollBar();
    verticalScrollBar()->setValue(0);
    m_heading->update();
    viewport()->update();
}

void RowList::setFound(std::optional<std::vector<int64_t>> found) {
    m_found = std::move(found);
    m_line = -1;
    fitScrollBar();
    verticalScrollBar()->setValue(0);
    viewport()->update();
}

int64_t RowList::count() const {
    if (m_found) return int64_t(m_found->size());
    return m_rows ? m_rows->rows.rows() : 0;
}

int64_t RowList::rowOf(int64_t line) const {
    return m_found ? (*m_found)[size_t(line)] : line;
}

int64_t RowList::currentRow() const {
    return m_line < 0 ? -1 : rowOf(m_line);
}

int RowList::lineHeight() const {
    return fontMetrics().height() + space(0.5);
}

int64_t RowList::visibleLines() const {
    return std::max(1, viewport()->height() / lineHeight());
}

void RowList::fitScrollBar() {
    verticalScrollBar()->setRange(
        0, int(std::min<int64_t>(1 << 30, std::max<int64_t>(0, count() - visibleLines()))));
    verticalScrollBar()->setPageStep(int(visibleLines()));
    verticalScrollBar()->setSingleStep(1);
}

void RowList::choose(int64_t line) {
    if (count() == 0) return;
    m_line = std::clamp<int64_t>(line, 0, count() - 1);
    QScrollBar* bar = verticalScrollBar();
    if (m_line < bar->value()) bar->setValue(int(m_line));
    if (m_line >= bar->value() + visibleLines()) bar->setValue(int(m_line - visibleLines() + 1));
    setAccessibleDescription(
        tr("Row %1 of %2").arg(show::count(rowOf(m_line) + 1), show::count(m_rows->rows.rows())));
    viewport()->update();
    Q_EMIT rowChosen(rowOf(m_line));
}

void RowList::paintLine(QPainter& painter, const QRect& box, int64_t line) const {
    const Colours c = coloursOf(this);
    const int64_t row = rowOf(line);
    if (line == m_line) painter.fillRect(box, mixed(c.card, c.accent, hasFocus() ? 0.35 : 0.2));
    const QString text = QString::fromStdString(m_rows->rows.beginning(row, kBeginning));
    paintCells(painter, box, {show::count(row + 1), show::count(m_rows->rows.length(row)), text.left(400)},
               c.text);
}

/// Paints a row's number, its length and its text, or the headings of these columns.
void RowList::paintCells(QPainter& painter, const QRect& box, const QStringList& cells,
                         const QColor& text) const {
    const auto wide = [this](const QString& one, const QString& other) {
        return std::max(fontMetrics().horizontalAdvance(one), fontMetrics().horizontalAdvance(other));
    };
    const QRect inside = box.adjusted(space(0.5), 0, -space(0.4), 0);
    const int number = wide(show::count(m_rows->rows.rows()), headings()[0]) + space(0.5);
    const int length = wide(u"9,999,999"_s, headings()[1]) + space(0.3);
    painter.setPen(coloursOf(this).muted);
    painter.drawText(QRect(inside.left(), box.top(), number, box.height()), Qt::AlignVCenter | Qt::AlignLeft,
                     cells[0]);
    painter.drawText(QRect(inside.left() + number, box.top(), length, box.height()),
                     Qt::AlignVCenter | Qt::AlignRight, cells[1]);
    painter.setPen(text);
    const int left = inside.left() + number + length + space(0.8);
    const QRect room(left, box.top(), inside.right() - left, box.height());
    painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine,
                     fontMetrics().elidedText(cells[2], Qt::ElideRight, room.width()));
}

void RowList::paintHeading() {
    if (!m_rows) return;
    QPainter painter(m_heading);
    const Colours c = coloursOf(this);
    paintCells(painter, m_heading->rect(), headings(), c.muted);
    painter.fillRect(0, m_heading->height() - 1, m_heading->width(), 1, c.border);
}

bool RowList::eventFilter(QObject* watched, QEvent* event) {
    if (watched != m_heading || event->type() != QEvent::Paint)
        return QAbstractScrollArea::eventFilter(watched, event);
    paintHeading();
    return true;
}

void RowList::paintEvent(QPaintEvent*) {
    if (!m_rows) return;
    QPainter painter(viewport());
    const int64_t first = verticalScrollBar()->value();
    for (int64_t line = first; line < std::min(count(), first + visibleLines() + 1); ++line)
        paintLine(painter, QRect(0, int(line - first) * lineHeight(), viewport()->width(), lineHeight()),
                  line);
}

void RowList::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    setViewportMargins(0, lineHeight(), 0, 0);
    const QRect lines = viewport()->geometry();
    m_heading->setGeometry(lines.left(), lines.top() - lineHeight(), lines.width(), lineHeight());
    fitScrollBar();
}

void RowList::mousePressEvent(QMouseEvent* event) {
    const int64_t line = verticalScrollBar()->value() + int(event->position().y()) / lineHeight();
    if (line < count()) choose(line);
}

void RowList::keyPressEvent(QKeyEvent* event) {
    const int64_t at = std::max<int64_t>(0, m_line), page = visibleLines();
    switch (event->key()) {
        case Qt::Key_Up:
            return choose(at - 1);
        case Qt::Key_Down:
            return choose(m_line < 0 ? 0 : at + 1);
        case Qt::Key_PageUp:
            return choose(at - page);
        case Qt::Key_PageDown:
            return choose(at + page);
        case Qt::Key_Home:
            return choose(0);
        case Qt::Key_End:
            return choose(count() - 1);
        default:
            QAbstractScrollArea::keyPressEvent(event);
    }
}

void RowList::focusInEvent(QFocusEvent* event) {
    QAbstractScrollArea::focusInEvent(event);
    if (m_line < 0 && event->reason() != Qt::MouseFocusReason) choose(0);
    viewport()->update();
}

void RowList::focusOutEvent(QFocusEvent* event) {
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

}  // namespace ringmaster
