#include "gui/charts/plot.h"

#include <QElapsedTimer>
#include <QEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/look/numbers.h"

namespace ringmaster {

namespace {

using namespace Qt::Literals::StringLiterals;

constexpr double kReach = 12;  ///< distance in pixels within which the pointer selects a line
constexpr double kLeastDrag = 5;
constexpr size_t kMostReadings = 8;
constexpr size_t kLinkedReadings = 3;
constexpr int kMostMarks = 3;

QFontMetricsF smallMetrics() {
    return QFontMetricsF(fontOf(Type::Small));
}

}  // namespace

Plot::Plot(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    setCursor(Qt::CrossCursor);
}

QSize Plot::sizeHint() const {
    return {space(16), space(13)};
}
QSize Plot::minimumSizeHint() const {
    return {space(10), space(7)};
}

void Plot::setData(ChartData chart) {
    m_data = std::move(chart);
    setAccessibleDescription(describe(m_data));
    stale();
}

void Plot::setEmptyText(const QString& text) {
    if (text == m_empty) return;
    m_empty = text;
    stale();
}

void Plot::stale() {
    m_stale = true;
    update();
}

void Plot::resizeEvent(QResizeEvent*) {
    stale();
}

void Plot::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) stale();
    QWidget::changeEvent(event);
}

int Plot::plotWidth() const {
    return std::max(64, int(width() - smallMetrics().horizontalAdvance(u"00000000"_s)));
}

QRectF Plot::plotArea() const {
    return m_frame.area;
}

Plot::Frame Plot::frameFor(const QSizeF& size, Mapping& map) const {
    const QFontMetricsF metrics = smallMetrics();
    const double line = metrics.height();
    map.x = xExtent(m_data);
    map.y = yExtent(m_data, map.x);
    map.logY = m_data.logY;
    Frame frame;
    int rows = std::max(3, int((size.height() - line) / (line * 2.2)));
    do {  // rounding the distance up may leave too few ticks
        frame.yTicks = map.logY ? logTicks(m_data.yUnit, map.y.low, map.y.high, rows)
                                : ticks(m_data.yUnit, map.y.low, map.y.high, rows);
        ++rows;
    } while (frame.yTicks.size() < 3 && rows < 12);
    double left = 0;
    for (const Tick& tick : frame.yTicks) left = std::max(left, metrics.horizontalAdvance(tick.text));
    left = std::ceil(left + line * 0.5);
    frame.area = QRectF(left, std::ceil(line * 0.5), std::floor(size.width() - left - line * 0.3),
                        std::floor(size.height() - line * 2));
    if (frame.area.width() < 10 || frame.area.height() < 10) frame.area = {};
    map.size = frame.area.size();
    const double each =
        metrics.horizontalAdvance(ticks(m_data.xUnit, map.x.low, map.x.high, 4).empty()
                                      ? u"000"_s
                                      : ticks(m_data.xUnit, map.x.low, map.x.high, 4).back().text);
    const int columns = std::clamp(int(frame.area.width() / (each + line * 2.2)), 1, 8);
    frame.xTicks = ticks(m_data.xUnit, map.x.low, map.x.high, columns);
    return frame;
}

void Plot::drawFrame(QPainter& painter, const Frame& frame, const Mapping& map) const {
    const Colours c = coloursOf(this);
    const QFontMetricsF metrics = smallMetrics();
    painter.setFont(fontOf(Type::Small));
    const QRectF& area = frame.area;
    for (const Tick& tick : frame.yTicks) {
        const double y = std::round(area.top() + map.toY(tick.value)) + 0.5;
        painter.setPen(QPen(c.grid, 1));
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
        painter.setPen(c.muted);
        painter.drawText(
            QRectF(0, y - metrics.height() / 2, area.left() - metrics.height() * 0.4, metrics.height()),
            int(Qt::AlignRight | Qt::AlignVCenter), tick.text);
    }
    for (const Tick& tick : frame.xTicks) {
        const double x = std::round(area.left() + map.toX(tick.value)) + 0.5;
        painter.setPen(QPen(c.grid, 1));
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
        const double wide = metrics.horizontalAdvance(tick.text) + 2;
        const double from =
            std::clamp(x - wide / 2, 0.0, std::max(0.0, area.right() + metrics.height() * 0.3 - wide));
        painter.setPen(c.muted);
        painter.drawText(QRectF(from, area.bottom() + metrics.height() * 0.3, wide, metrics.height()),
                         int(Qt::AlignCenter), tick.text);
    }
}

void Plot::drawWhole(QPainter& painter, const QSizeF& size, double pixelRatio, Frame& frame, Mapping& map) {
    frame = frameFor(size, map);
    const Colours c = coloursOf(this);
    if (frame.area.isEmpty()) return;
    if (!hasFigures(m_data)) {
        painter.setPen(c.muted);
        painter.setFont(fontOf(Type::Body));
        painter.drawText(QRectF(QPointF(), size), int(Qt::AlignCenter | Qt::TextWordWrap), m_empty);
        return;
    }
    drawFrame(painter, frame, map);
    painter.drawPixmap(frame.area.topLeft(), m_canvas.draw(m_data, map, c, pixelRatio));
    drawPoints(painter, frame.area.topLeft(), m_data, map, c);
    drawMarks(painter, frame, map);
    if (m_data.logY && hasBelowLog(m_data)) {
        painter.setPen(c.muted);
        painter.setFont(fontOf(Type::Small));
        painter.drawText(frame.area.adjusted(0, 0, -space(0.3), -space(0.2)),
                         int(Qt::AlignRight | Qt::AlignBottom), tr("0 and below lie at the foot"));
    }
}

void paintTriangle(QPainter& painter, const QPointF& foot, const Colours& c) {
    const double half = space(0.22);
    painter.setPen(QPen(c.card, 2));
    painter.setBrush(c.text);
    const QPolygonF triangle{
        {foot.x() - half, foot.y()}, {foot.x() + half, foot.y()}, {foot.x(), foot.y() - 1.6 * half}};
    painter.drawPolygon(triangle);
    painter.setPen(Qt::NoPen);
    painter.drawPolygon(triangle);
}

void Plot::drawMarks(QPainter& painter, const Frame& frame, const Mapping& map) const {
    const Colours c = coloursOf(this);
    for (const ChartMark& mark : m_data.marks) {
        if (mark.x < map.x.low || mark.x > map.x.high) continue;
        const double x = std::round(frame.area.left() + map.toX(mark.x)) + 0.5, foot = frame.area.bottom();
        if (mark.strong) {
            painter.setPen(QPen(c.warning, 1, Qt::DashLine));
            painter.drawLine(QPointF(x, frame.area.top()), QPointF(x, foot));
        } else {
            paintTriangle(painter, {x, foot}, c);
        }
    }
}

/// Returns the texts of the marks near x.
QStringList Plot::marksNear(double x) const {
    QStringList texts;
    for (const ChartMark& mark : m_data.marks) {
        if (std::abs(m_map.toX(mark.x) - m_map.toX(x)) <= kLeastDrag) texts << mark.text;
    }
    return texts.mid(0, kMostMarks);
}

void Plot::drawInto(QPainter& painter, const QSizeF& size, double pixelRatio) {
    Frame frame;
    Mapping map;
    drawWhole(painter, size, pixelRatio, frame, map);
}

void Plot::paintEvent(QPaintEvent*) {
    if (m_stale || m_picture.devicePixelRatio() != devicePixelRatioF()) {
        QElapsedTimer timer;
        timer.start();
        m_picture = QPixmap((QSizeF(size()) * devicePixelRatioF()).toSize());
        m_picture.setDevicePixelRatio(devicePixelRatioF());
        m_picture.fill(Qt::transparent);
        QPainter painter(&m_picture);
        painter.setRenderHint(QPainter::Antialiasing);
        drawWhole(painter, size(), devicePixelRatioF(), m_frame, m_map);
        m_stale = false;
        m_paint_ms = double(timer.nsecsElapsed()) * 1e-6;
    }
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.drawPixmap(0, 0, m_picture);
    if (m_frame.area.isEmpty()) return;
    drawSelection(painter);
    drawReadOut(painter);
    if (hasFocus()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(coloursOf(this).accent, 1));
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), space(0.2), space(0.2));
    }
}

void Plot::drawSelection(QPainter& painter) {
    if (!m_pressed || std::abs(m_dragged - *m_pressed) < kLeastDrag) return;
    QColor fill = coloursOf(this).accent;
    fill.setAlphaF(0.18F);
    const QRectF& area = m_frame.area;
    const double from = std::clamp(std::min(*m_pressed, m_dragged), area.left(), area.right());
    const double to = std::clamp(std::max(*m_pressed, m_dragged), area.left(), area.right());
    painter.fillRect(QRectF(from, area.top(), to - from, area.height()), fill);
}

/// Returns each line's value at the cursor. If there are too many lines, keeps strong lines first, then the
/// lines nearest to the pointer.
std::vector<std::pair<const ChartSeries*, double>> Plot::readings() const {
    std::vector<std::pair<const ChartSeries*, double>> found;
    const double within = (m_map.x.high - m_map.x.low) / 40;
    for (const ChartSeries& series : m_data.series) {
        if (const auto value = valueNear(m_data, series, *m_cursor, within))
            found.emplace_back(&series, *value);
    }
    const size_t most = m_hovered ? kMostReadings : kLinkedReadings;
    if (found.size() <= most) return found;
    auto distance = [&](const auto& reading) {
        if (reading.first->strong) return -1.0;
        if (!m_hovered || m_pointerY < 0) return 1.0;
        return std::abs(m_map.toY(reading.second) + m_frame.area.top() - m_pointerY);
    };
    std::stable_sort(found.begin(), found.end(),
                     [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
    found.resize(most);
    return found;
}

void Plot::drawReadOut(QPainter& painter) {
    if (!m_cursor || m_data.series.empty() || *m_cursor < m_map.x.low || *m_cursor > m_map.x.high) return;
    const Colours c = coloursOf(this);
    const QRectF& area = m_frame.area;
    const double x = area.left() + m_map.toX(*m_cursor);
    painter.setPen(QPen(c.faint, 1));
    painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
    const auto found = readings();
    const QFontMetricsF metrics = smallMetrics();
    const double line = metrics.height() * 1.15, pad = metrics.height() * 0.45;
    const QString head = m_data.xName + u" "_s + figureText(m_data.xUnit, *m_cursor);
    double names = 0, figures = 0;
    for (const auto& [series, value] : found) {
        names = std::max(names, metrics.horizontalAdvance(series->name));
        figures = std::max(figures, metrics.horizontalAdvance(figureText(m_data.yUnit, value)));
        if (series->mark == Mark::Stacked) continue;
        painter.setPen(QPen(c.card, 1));
        painter.setBrush(series->colour ? series->colour(c) : c.text);
        painter.drawEllipse(QPointF(x, area.top() + m_map.toY(value)), space(0.16), space(0.16));
    }
    const double dot = line * 0.9;
    const QStringList marks = marksNear(*m_cursor);
    double wide = std::max(metrics.horizontalAdvance(head), dot + names + line * 0.7 + figures) + 2 * pad;
    for (const QString& mark : marks) wide = std::max(wide, metrics.horizontalAdvance(mark) + 2 * pad);
    const double rows = double(found.size() + 1) + double(marks.size());
    QRectF box(x + line * 0.7, area.top() + 2, wide, line * rows + 2 * pad);
    if (box.right() > width() - 1) box.moveRight(x - line * 0.7);
    if (box.left() < 0) box.moveLeft(0);
    QColor sheet = c.card;
    sheet.setAlphaF(0.94F);
    painter.setBrush(sheet);
    painter.setPen(QPen(c.border, 1));
    painter.drawRoundedRect(box, space(0.2), space(0.2));
    painter.setFont(fontOf(Type::Small));
    painter.setPen(c.muted);
    QRectF row(box.left() + pad, box.top() + pad, wide - 2 * pad, line);
    painter.drawText(row, int(Qt::AlignLeft | Qt::AlignVCenter), head);
    for (const auto& [series, value] : found) {
        row.translate(0, line);
        painter.setPen(Qt::NoPen);
        painter.setBrush(series->colour ? series->colour(c) : c.text);
        painter.drawEllipse(QPointF(row.left() + space(0.16), row.center().y()), space(0.16), space(0.16));
        painter.setPen(c.text);
        painter.drawText(row.adjusted(dot, 0, 0, 0), int(Qt::AlignLeft | Qt::AlignVCenter), series->name);
        painter.drawText(row, int(Qt::AlignRight | Qt::AlignVCenter), figureText(m_data.yUnit, value));
    }
    painter.setPen(c.muted);
    for (const QString& mark : marks) {
        row.translate(0, line);
        painter.drawText(row, int(Qt::AlignLeft | Qt::AlignVCenter), mark);
    }
}

void Plot::setCursorX(std::optional<double> x) {
    if (x == m_cursor) return;
    m_cursor = x;
    update();
}

void Plot::moveCursor(std::optional<double> x) {
    if (x && !m_data.x.empty()) x = m_data.x[size_t(nearestIndex(m_data.x, *x))];
    update();
    if (x == m_cursor) return;
    m_cursor = x;
    Q_EMIT cursorMoved(x);
}

void Plot::mouseMoveEvent(QMouseEvent* event) {
    m_hovered = true;
    m_pointerY = event->position().y();
    if (m_pressed) {
        m_dragged = event->position().x();
        update();
    }
    const bool inside = m_frame.area.adjusted(-2, 0, 2, 0)
                            .contains(QPointF(event->position().x(), m_frame.area.center().y()));
    moveCursor(inside ? std::optional(m_map.fromX(event->position().x() - m_frame.area.left()))
                      : std::nullopt);
}

void Plot::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return QWidget::mousePressEvent(event);
    mouseMoveEvent(event);
    m_pressed = m_dragged = event->position().x();
}

void Plot::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !m_pressed) return QWidget::mouseReleaseEvent(event);
    const double from = *m_pressed, to = event->position().x();
    m_pressed.reset();
    update();
    if (std::abs(to - from) < kLeastDrag) {
        const ChartSeries* chosen = seriesAt(event->position());
        if (chosen != nullptr && chosen->rank >= 0) Q_EMIT rankChosen(chosen->rank);
        return;
    }
    const auto at = [&](double pixel) {
        return std::clamp(m_map.fromX(pixel - m_frame.area.left()), m_map.x.low, m_map.x.high);
    };
    Q_EMIT rangeChosen(at(std::min(from, to)), at(std::max(from, to)));
}

void Plot::mouseDoubleClickEvent(QMouseEvent*) {
    m_pressed.reset();
    Q_EMIT rangeReset();
}

const ChartSeries* Plot::seriesAt(const QPointF& at) const {
    if (!m_cursor) return nullptr;
    const ChartSeries* nearest = nullptr;
    double least = kReach;
    for (const ChartSeries& series : m_data.series) {
        const auto value = valueNear(m_data, series, *m_cursor, (m_map.x.high - m_map.x.low) / 40);
        if (!value || series.rank < 0) continue;
        const double away = std::abs(m_map.toY(*value) + m_frame.area.top() - at.y());
        if (away >= least) continue;
        least = away;
        nearest = &series;
    }
    return nearest;
}

void Plot::stepCursor(int by) {
    if (m_data.x.empty()) return;
    const auto last = int(m_data.x.size()) - 1;
    const int now = m_cursor ? nearestIndex(m_data.x, *m_cursor) : last;
    m_hovered = true;
    m_pointerY = -1;
    moveCursor(m_data.x[size_t(std::clamp(now + by, 0, last))]);
}

void Plot::zoom(double factor) {
    const double middle = m_cursor.value_or((m_map.x.low + m_map.x.high) / 2);
    Q_EMIT rangeChosen(middle - (middle - m_map.x.low) * factor, middle + (m_map.x.high - middle) * factor);
}

void Plot::keyPressEvent(QKeyEvent* event) {
    const int page = std::max(1, int(m_data.x.size()) / 10), all = int(m_data.x.size());
    switch (event->key()) {
        case Qt::Key_Left:
            return stepCursor(-1);
        case Qt::Key_Right:
            return stepCursor(1);
        case Qt::Key_PageUp:
            return stepCursor(-page);
        case Qt::Key_PageDown:
            return stepCursor(page);
        case Qt::Key_Home:
            return stepCursor(-all);
        case Qt::Key_End:
            return stepCursor(all);
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            return zoom(0.5);
        case Qt::Key_Minus:
            return zoom(2);
        case Qt::Key_0:
            Q_EMIT rangeReset();
            return;
        case Qt::Key_Escape:
            if (!m_cursor) break;
            return moveCursor({});
        default:
            break;
    }
    QWidget::keyPressEvent(event);
}

void Plot::leaveEvent(QEvent*) {
    m_hovered = false;
    m_pointerY = -1;
    if (!hasFocus()) moveCursor({});
}

void Plot::focusOutEvent(QFocusEvent* event) {
    m_hovered = false;
    if (!underMouse()) moveCursor({});
    QWidget::focusOutEvent(event);
}

}  // namespace ringmaster
