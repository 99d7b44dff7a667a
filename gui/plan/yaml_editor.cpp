#include "gui/plan/yaml_editor.h"

#include <QHelpEvent>
#include <QMimeData>
#include <QPainter>
#include <QPainterPath>
#include <QScrollBar>
#include <QToolTip>
#include <QUrl>
#include <cmath>

#include "gui/look/look.h"
#include "gui/plan/problem_list.h"
#include "gui/plan/yaml_formats.h"
#include "gui/plan/yaml_typing.h"
#include "gui/session/finding_words.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

class Gutter : public QWidget {
  public:
    explicit Gutter(YamlEditor* editor) : QWidget(editor), m_editor(editor) {
        setCursor(Qt::PointingHandCursor);
    }
    QSize sizeHint() const override { return {m_editor->gutterWidth(), 0}; }

  protected:
    void paintEvent(QPaintEvent* event) override { m_editor->paintGutter(event); }
    void mousePressEvent(QMouseEvent* event) override {
        if (const int line = m_editor->lineAt(event->position().toPoint().y()); line > 0)
            m_editor->goToLine(line);
    }

  private:
    YamlEditor* m_editor;
};

QColor colour_of(Severity severity, const Colours& c) {
    switch (severity) {
        case Severity::Error:
            return c.error;
        case Severity::Warning:
            return c.warning;
        case Severity::Info:
            break;
    }
    return c.faint;
}

constexpr int kMostFound = 500;  // maximum number of matches that are marked at once

}  // namespace

void paint_severity(QPainter& painter, const QRectF& into, Severity severity, const QPalette& palette) {
    const Colours c = coloursOf(palette);
    const QColor colour = colour_of(severity, c);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF box = into.adjusted(1, 1, -1, -1);
    if (severity == Severity::Error) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(colour);
        painter.drawEllipse(box);
        painter.setPen(QPen(c.card, box.width() / 7, Qt::SolidLine, Qt::RoundCap));
        const QRectF cross =
            box.adjusted(box.width() * 0.31, box.height() * 0.31, -box.width() * 0.31, -box.height() * 0.31);
        painter.drawLine(cross.topLeft(), cross.bottomRight());
        painter.drawLine(cross.topRight(), cross.bottomLeft());
    } else if (severity == Severity::Warning) {
        QPainterPath triangle(QPointF(box.center().x(), box.top()));
        triangle.lineTo(box.right(), box.bottom() - box.height() * 0.06);
        triangle.lineTo(box.left(), box.bottom() - box.height() * 0.06);
        triangle.closeSubpath();
        painter.fillPath(triangle, colour);
        painter.setPen(QPen(c.card, box.width() / 8, Qt::SolidLine, Qt::RoundCap));
        const double x = box.center().x();
        painter.drawLine(QPointF(x, box.top() + box.height() * 0.4),
                         QPointF(x, box.top() + box.height() * 0.62));
        painter.drawPoint(QPointF(x, box.top() + box.height() * 0.79));
    } else {
        painter.setPen(QPen(colour, box.width() / 8));
        painter.drawEllipse(box.adjusted(1, 1, -1, -1));
        const double x = box.center().x();
        painter.drawLine(QPointF(x, box.center().y()), QPointF(x, box.bottom() - box.height() * 0.28));
        painter.drawPoint(QPointF(x, box.top() + box.height() * 0.3));
    }
    painter.restore();
}

YamlEditor::YamlEditor(QWidget* parent) : QPlainTextEdit(parent), m_gutter(new Gutter(this)) {
    setObjectName(u"yamlEditor"_s);
    setAccessibleName(tr("Configuration text"));
    setLineWrapMode(QPlainTextEdit::NoWrap);
    setTabChangesFocus(true);  // Tab moves focus out of the editor; YAML is indented with spaces
    setFrameShape(QFrame::NoFrame);
    setStyleSheet(u"QPlainTextEdit { border: none; border-radius: 0; }"_s);
    setUpLook();
    new YamlTyping(this);
    connect(this, &QPlainTextEdit::blockCountChanged, this, [this] { setUpLook(); });
    connect(this, &QPlainTextEdit::updateRequest, this, [this](const QRect& rect, int dy) {
        if (dy != 0) {
            m_gutter->scroll(0, dy);
        } else {
            m_gutter->update(0, rect.y(), m_gutter->width(), rect.height());
        }
        colourVisible();
    });
    connect(this, &QPlainTextEdit::cursorPositionChanged, this, [this] {
        selectLines();
        Q_EMIT lineChanged(currentLine());
    });
}

void YamlEditor::setUpLook() {
    const QFont code = fontOf(Type::Code);
    if (font() != code) setFont(code);
    setViewportMargins(gutterWidth(), space(0.3), 0, 0);
    setTabStopDistance(4 * fontMetrics().horizontalAdvance(u' '));
}

QString YamlEditor::text() const {
    QString raw = document()->toRawText();
    raw.replace(QChar::ParagraphSeparator, u'\n');
    return raw;
}

void YamlEditor::load(const QString& text) {
    m_marks.clear();
    setPlainText(text);
    document()->clearUndoRedoStacks();
    document()->setModified(false);
    forgetColours();
}

void YamlEditor::edit(const QString& wanted) {
    const QString now = text();
    if (now == wanted) return;
    const qsizetype shorter = std::min(now.size(), wanted.size());
    qsizetype same = 0, same_behind = 0;
    while (same < shorter && now[same] == wanted[same]) ++same;
    while (same_behind < shorter - same &&
           now[now.size() - 1 - same_behind] == wanted[wanted.size() - 1 - same_behind])
        ++same_behind;
    QTextCursor cursor(document());
    cursor.beginEditBlock();
    cursor.setPosition(int(same));
    cursor.setPosition(int(now.size() - same_behind), QTextCursor::KeepAnchor);
    cursor.insertText(wanted.mid(same, wanted.size() - same - same_behind));
    cursor.endEditBlock();
    cursor.setPosition(int(same));
    setTextCursor(cursor);
    centerCursor();
}

void YamlEditor::setMarks(const Diagnostics& diagnostics) {
    m_marks.clear();
    for (const Diagnostic& said : diagnostics) {
        if (said.line < 1) continue;
        Mark mark{said.severity, begun_message(said), hint_of(said)};
        const auto [at, first] = m_marks.emplace(said.line, mark);
        if (!first && at->second.severity < said.severity) at->second = mark;
    }
    selectLines();
    m_gutter->update();
    viewport()->update();
}

int YamlEditor::currentLine() const {
    return textCursor().blockNumber() + 1;
}

void YamlEditor::goToLine(int line) {
    const QTextBlock block = document()->findBlockByNumber(std::max(0, line - 1));
    if (!block.isValid()) return;
    QTextCursor cursor(block);
    setTextCursor(cursor);
    ensureCursorVisible();
}

// ------------------------------------------------------------ colours

void YamlEditor::forgetColours() {
    ++m_generation;
    colourVisible();
}

/// Colours lines only when they appear on the screen, so that a file of 8 MiB costs no more than one of 8
/// KiB.
void YamlEditor::colourVisible() {
    if (m_colouring) return;
    m_colouring = true;
    const Colours colours = coloursOf(this);
    const int bottom = viewport()->height();
    for (QTextBlock block = firstVisibleBlock(); block.isValid(); block = block.next()) {
        if (blockBoundingGeometry(block).translated(contentOffset()).top() > bottom) break;
        const int state = (block.revision() * 64 + m_generation % 64) & 0x7fffffff;
        if (block.userState() == state) continue;
        block.setUserState(state);
        block.layout()->setFormats(yaml_formats(block.text(), colours));
    }
    m_colouring = false;
}

void YamlEditor::selectLines() {
    const Colours c = coloursOf(this);
    QList<QTextEdit::ExtraSelection> selections;
    const auto add = [&](const QTextCursor& cursor, const QColor& fill, bool whole) {
        QTextEdit::ExtraSelection selection;
        selection.cursor = cursor;
        selection.format.setBackground(fill);
        if (whole) selection.format.setProperty(QTextFormat::FullWidthSelection, true);
        selections.append(selection);
    };
    QTextCursor here = textCursor();
    here.clearSelection();
    add(here, c.sunken, true);
    for (const auto& [line, mark] : m_marks) {
        const QTextBlock block = document()->findBlockByNumber(line - 1);
        if (!block.isValid() || mark.severity == Severity::Info || selections.size() > kMostFound) continue;
        add(QTextCursor(block), mark.severity == Severity::Error ? c.errorFill : c.warningFill, true);
    }
    if (!m_sought.isEmpty()) {
        QTextCursor found(document());
        while (selections.size() < 2 * kMostFound) {
            found = document()->find(m_sought, found);
            if (found.isNull()) break;
            add(found, mixed(c.card, c.accent, 0.3), false);
        }
    }
    setExtraSelections(selections);
}

// ------------------------------------------------------------ find

int YamlEditor::find(const QString& what, bool backwards, bool stay) {
    m_sought = what;
    const int count = what.isEmpty() ? 0 : int(text().count(what, Qt::CaseInsensitive));
    if (count > 0) {
        QTextCursor from = textCursor();
        if (stay) from.setPosition(from.selectionStart());
        const QTextDocument::FindFlags how =
            backwards ? QTextDocument::FindBackward : QTextDocument::FindFlags();
        QTextCursor found = document()->find(what, from, how);
        if (found.isNull()) {  // wraps around
            QTextCursor end(document());
            end.movePosition(backwards ? QTextCursor::End : QTextCursor::Start);
            found = document()->find(what, end, how);
        }
        if (!found.isNull()) setTextCursor(found);
    }
    selectLines();
    return count;
}

void YamlEditor::clearFound() {
    m_sought.clear();
    selectLines();
}

// ------------------------------------------------------------ painting

int YamlEditor::gutterWidth() const {
    const int digits = std::max(2, int(QString::number(std::max(1, blockCount())).size()));
    const int line = fontMetrics().height();
    return digits * fontMetrics().horizontalAdvance(u'9') + line + space(0.9);
}

int YamlEditor::wantedHeight() const {
    return blockCount() * fontMetrics().lineSpacing() + height() - viewport()->height() +
           int(std::ceil(2 * document()->documentMargin()));
}

int YamlEditor::widthOf(int characters) const {
    return gutterWidth() + characters * fontMetrics().horizontalAdvance(u'0') +
           int(std::ceil(2 * document()->documentMargin())) + verticalScrollBar()->sizeHint().width();
}

int YamlEditor::lineAt(int y) const {
    for (QTextBlock block = firstVisibleBlock(); block.isValid(); block = block.next()) {
        const QRectF box = blockBoundingGeometry(block).translated(contentOffset());
        if (y < box.bottom()) return block.blockNumber() + 1;
        if (box.top() > viewport()->height()) break;
    }
    return 0;
}

void YamlEditor::paintGutter(QPaintEvent* event) {
    const Colours c = coloursOf(this);
    QPainter painter(m_gutter);
    painter.setFont(font());
    const int height = fontMetrics().height();
    const double side = height * 0.72;
    for (QTextBlock block = firstVisibleBlock(); block.isValid(); block = block.next()) {
        const QRectF box = blockBoundingGeometry(block).translated(contentOffset());
        if (box.top() > event->rect().bottom()) break;
        const int line = block.blockNumber() + 1;
        painter.setPen(line == currentLine() ? c.text : c.muted);
        const double right = m_gutter->width() - height - space(0.35);
        painter.drawText(QRectF(0, box.top(), right, height), int(Qt::AlignRight | Qt::AlignVCenter),
                         QString::number(line));
        const auto mark = m_marks.find(line);
        if (mark == m_marks.end()) continue;
        const QRectF into(right + space(0.2), box.top() + (height - side) / 2, side, side);
        paint_severity(painter, into, mark->second.severity, palette());
    }
}

double YamlEditor::noteLeft(const QTextBlock& block) const {
    return contentOffset().x() + document()->documentMargin() +
           fontMetrics().horizontalAdvance(block.text()) + space(1);
}

QString YamlEditor::noteOf(int line) const {
    const auto mark = m_marks.find(line);
    if (mark == m_marks.end() || mark->second.severity == Severity::Info) return {};
    const QString& whole = mark->second.message;
    const double room = viewport()->width() - noteLeft(document()->findBlockByNumber(line - 1)) - space(0.5);
    return QFontMetricsF(fontOf(Type::Small)).horizontalAdvance(whole) <= room ? whole : QString();
}

/// Paints the message of each visible line's problem after the line's end, if it fits.
void YamlEditor::paintMessages() {
    if (m_marks.empty()) return;
    const Colours c = coloursOf(this);
    QPainter painter(viewport());
    painter.setFont(fontOf(Type::Small));
    for (QTextBlock block = firstVisibleBlock(); block.isValid(); block = block.next()) {
        const QRectF box = blockBoundingGeometry(block).translated(contentOffset());
        if (box.top() > viewport()->height()) break;
        const QString note = noteOf(block.blockNumber() + 1);
        if (note.isEmpty()) continue;
        painter.setPen(colour_of(m_marks.at(block.blockNumber() + 1).severity, c));
        painter.drawText(QRectF(noteLeft(block), box.top(), viewport()->width(), fontMetrics().height()),
                         int(Qt::AlignLeft | Qt::AlignVCenter | Qt::TextDontClip), note);
    }
}

void YamlEditor::paintEvent(QPaintEvent* event) {
    QPlainTextEdit::paintEvent(event);
    paintMessages();
}

void YamlEditor::resizeEvent(QResizeEvent* event) {
    QPlainTextEdit::resizeEvent(event);
    const QRect text = viewport()->geometry();  // without the scroll bars
    m_gutter->setGeometry(contentsRect().left(), text.top(), gutterWidth(), text.height());
    colourVisible();
}

void YamlEditor::changeEvent(QEvent* event) {
    QPlainTextEdit::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange) {
        forgetColours();
        selectLines();
    }
}

/// Returns the key at the beginning of the line under the pointer, if the pointer is on the key.
QString YamlEditor::keyAt(const QPoint& at) const {
    const QTextCursor here = cursorForPosition(at);
    const QString line = here.block().text();
    const qsizetype colon = line.indexOf(u':');
    return colon > 0 && here.positionInBlock() <= colon ? line.left(colon) : QString();
}

bool YamlEditor::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const auto mark = m_marks.find(lineAt(viewport()->mapFrom(this, help->pos()).y()));
        if (mark != m_marks.end()) {
            const QString hint = mark->second.hint.isEmpty() ? QString() : u"\n"_s + mark->second.hint;
            QToolTip::showText(help->globalPos(), mark->second.message + hint, this);
            return true;
        }
        const QString words = words_of_key(keyAt(viewport()->mapFrom(this, help->pos())));
        if (!words.isEmpty()) {
            QToolTip::showText(help->globalPos(), words, this);
            return true;
        }
    }
    return QPlainTextEdit::event(event);
}

bool YamlEditor::canInsertFromMimeData(const QMimeData* source) const {
    return source->hasUrls() || QPlainTextEdit::canInsertFromMimeData(source);
}

void YamlEditor::insertFromMimeData(const QMimeData* source) {
    if (source->hasUrls() && !source->urls().isEmpty() && source->urls().first().isLocalFile()) {
        Q_EMIT fileDropped(source->urls().first().toLocalFile());
        return;
    }
    QString text = source->text();
    text.replace(u"\r\n"_s, u"\n"_s);
    textCursor().insertText(text);
    ensureCursorVisible();
}

}  // namespace ringmaster
