#include "gui/charts/heat_map.h"

#include <QEvent>
#include <QFontMetricsF>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "gui/look/numbers.h"

namespace ringmaster {

namespace {

using namespace Qt::Literals::StringLiterals;

constexpr float kFullScale = 0.25F;

QColor slower(const Colours& c) {
    return timeColour(TimePart::ExposedCommunication, c);
}
QColor faster(const Colours& c) {
    return timeColour(TimePart::Compute, c);
}

QColor heatColour(float heat, const Colours& c) {
    if (std::isnan(heat)) return c.card;
    const QColor calm = mixed(c.card, c.text, c.dark ? 0.09 : 0.06);
    // The square root makes small differences visible.
    const double depth = std::sqrt(double(std::abs(heat)));
    return mixed(calm, heat > 0 ? slower(c) : faster(c), std::abs(heat) < 0.04F ? 0 : depth);
}

}  // namespace

float heatOf(float value, float median) {
    if (std::isnan(value) || !(median > 0)) return std::numeric_limits<float>::quiet_NaN();
    return std::clamp((value / median - 1) / kFullScale, -1.0F, 1.0F);
}

HeatMap::HeatMap(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    setAccessibleName(tr("Ranks over time"));
}

QSize HeatMap::sizeHint() const {
    return {space(16), space(13)};
}
QSize HeatMap::minimumSizeHint() const {
    return {space(10), space(7)};
}

void HeatMap::setData(HeatData heat) {
    m_data = std::move(heat);
    makeImage();
    const auto ranks = int(m_data.rows.size());
    QString text = tr("%n ranks against their median.", nullptr, ranks);
    for (int rank = 0; rank < ranks; ++rank) {
        const auto& row = m_data.rows[size_t(rank)];
        if (row.empty() || m_data.median.empty()) continue;
        if (heatOf(row.back(), m_data.median.back()) > 0.4F)
            text += u" "_s + tr("%1 is slower now.").arg(m_data.names[size_t(rank)]);
    }
    setAccessibleDescription(text);
    update();
}

void HeatMap::setChosenRank(int rank) {
    m_chosen = rank;
    update();
}

void HeatMap::setCursorX(std::optional<double> x) {
    m_cursor = x;
    update();
}

int HeatMap::columns() const {
    return std::max(32, int(frame().cells.width() / 3));
}

void HeatMap::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange) makeImage();
    QWidget::changeEvent(event);
}

void HeatMap::makeImage() {
    const Colours c = coloursOf(this);
    const auto columns = int(m_data.x.size()), rows = int(m_data.rows.size());
    m_image = columns > 0 && rows > 0 ? QImage(columns, rows, QImage::Format_RGB32) : QImage();
    for (int row = 0; row < m_image.height(); ++row) {
        auto* line = reinterpret_cast<QRgb*>(m_image.scanLine(row));
        const std::vector<float>& values = m_data.rows[size_t(row)];
        for (size_t column = 0; column < size_t(columns); ++column) {
            const bool known = column < values.size() && column < m_data.median.size();
            line[column] = heatColour(known ? heatOf(values[column], m_data.median[column])
                                            : std::numeric_limits<float>::quiet_NaN(),
                                      c)
                               .rgb();
        }
    }
}

HeatMap::Frame HeatMap::frame() const {
    const QFontMetricsF metrics(fontOf(Type::Small));
    const double line = metrics.height();
    double left = 0;
    for (const QString& name : m_data.names) left = std::max(left, metrics.horizontalAdvance(name));
    left = std::ceil(left + line * 0.6);
    Frame f;
    f.cells = QRectF(left, std::ceil(line * 0.3), std::max(1.0, width() - left - line * 0.3),
                     std::max(1.0, height() - line * 3.6));
    const auto rows = double(std::max<size_t>(m_data.rows.size(), 1));
    f.row = std::min(f.cells.height() / rows, line * 3.2);
    f.cells.setHeight(f.row * rows);
    f.legend = QRectF(left, f.cells.bottom() + line * 1.8, f.cells.width(), line * 1.2);
    return f;
}

void HeatMap::drawNames(QPainter& painter, const Frame& f) const {
    const Colours c = coloursOf(this);
    const QFontMetricsF metrics(fontOf(Type::Small));
    const int every = std::max(1, int(std::ceil(metrics.height() * 1.05 / f.row)));
    for (int row = 0; row < int(m_data.names.size()); ++row) {
        const bool chosen = row == m_chosen;
        if (row % every != 0 && !chosen) continue;
        if (!chosen && m_chosen >= 0 && std::abs(row - m_chosen) < every) continue;
        painter.setPen(chosen ? c.text : c.muted);
        painter.setFont(fontOf(Type::Small));
        const double middle = f.cells.top() + (row + 0.5) * f.row;
        painter.drawText(QRectF(0, middle - metrics.height() / 2, f.cells.left() - metrics.height() * 0.5,
                                metrics.height()),
                         int(Qt::AlignRight | Qt::AlignVCenter), m_data.names[size_t(row)]);
    }
}

void HeatMap::drawAxis(QPainter& painter, const QRectF& cells) const {
    if (m_data.x.size() < 2) return;
    const QFontMetricsF metrics(fontOf(Type::Small));
    const double low = m_data.x.front(), high = m_data.x.back();
    painter.setPen(coloursOf(this).muted);
    for (const Tick& tick :
         ticks(m_data.xUnit, low, high, std::max(2, int(cells.width() / (metrics.height() * 6))))) {
        const double x = cells.left() + (tick.value - low) / (high - low) * cells.width();
        const double wide = metrics.horizontalAdvance(tick.text) + 2;
        painter.drawText(QRectF(std::clamp(x - wide / 2, 0.0, std::max(0.0, width() - wide)),
                                cells.bottom() + metrics.height() * 0.2, wide, metrics.height()),
                         int(Qt::AlignCenter), tick.text);
    }
}

void HeatMap::drawLegend(QPainter& painter, const QRectF& at) const {
    const Colours c = coloursOf(this);
    const QFontMetricsF metrics(fontOf(Type::Small));
    const double swatch = metrics.height() * 0.75;
    painter.setFont(fontOf(Type::Small));
    //: colours of a heat map's scale: text on its left, text on its right
    const QString left = tr("faster"), right = tr("slower by a quarter or more");
    double x = at.left();
    painter.setPen(c.muted);
    painter.drawText(QRectF(x, at.top(), metrics.horizontalAdvance(left) + 2, at.height()),
                     int(Qt::AlignLeft | Qt::AlignVCenter), left);
    x += metrics.horizontalAdvance(left) + swatch * 0.7;
    for (float heat : {-1.0F, -0.4F, 0.0F, 0.4F, 1.0F}) {
        painter.fillRect(QRectF(x, at.center().y() - swatch / 2, swatch, swatch), heatColour(heat, c));
        x += swatch * 1.12;
    }
    painter.drawText(QRectF(x + swatch * 0.5, at.top(), width() - x, at.height()),
                     int(Qt::AlignLeft | Qt::AlignVCenter), right);
}

void HeatMap::paintEvent(QPaintEvent*) {
    const Colours c = coloursOf(this);
    QPainter painter(this);
    painter.setFont(fontOf(Type::Small));
    if (m_image.isNull()) {
        painter.setPen(c.muted);
        painter.setFont(fontOf(Type::Body));
        painter.drawText(rect(), int(Qt::AlignCenter | Qt::TextWordWrap), tr("Nothing to compare yet."));
        return;
    }
    const Frame f = frame();
    painter.drawImage(f.cells, m_image);
    const double between = f.row > 6 ? (f.row > 12 ? 2 : 1) : 0;
    for (int row = 1; between > 0 && row < m_image.height(); ++row)
        painter.fillRect(QRectF(f.cells.left(), std::round(f.cells.top() + row * f.row) - between / 2,
                                f.cells.width(), between),
                         c.card);
    drawNames(painter, f);
    drawAxis(painter, f.cells);
    drawLegend(painter, f.legend);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(Qt::NoBrush);
    if (m_chosen >= 0 && m_chosen < m_image.height()) {
        painter.setPen(QPen(c.text, 1.2));
        painter.drawRect(QRectF(f.cells.left(), f.cells.top() + m_chosen * f.row, f.cells.width(), f.row));
    }
    if (m_cursor && m_data.x.size() > 1 && *m_cursor >= m_data.x.front() && *m_cursor <= m_data.x.back()) {
        const double x = f.cells.left() + (*m_cursor - m_data.x.front()) /
                                              (m_data.x.back() - m_data.x.front()) * f.cells.width();
        painter.setPen(QPen(c.text, 1));
        painter.drawLine(QPointF(x, f.cells.top()), QPointF(x, f.cells.bottom()));
    }
    if (hasFocus()) {
        painter.setPen(QPen(c.accent, 1));
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), space(0.2), space(0.2));
    }
}

int HeatMap::rowAt(const QPointF& at) const {
    const Frame f = frame();
    const auto row = int(std::floor((at.y() - f.cells.top()) / f.row));
    return row >= 0 && row < m_image.height() ? row : -1;
}

int HeatMap::columnAt(const QPointF& at) const {
    const Frame f = frame();
    const auto column = int(std::floor((at.x() - f.cells.left()) / f.cells.width() * m_image.width()));
    return column >= 0 && column < m_image.width() ? column : -1;
}

QString HeatMap::readOutAt(int row, int column) const {
    if (row < 0 || column < 0 || size_t(row) >= m_data.rows.size() || size_t(column) >= m_data.x.size())
        return {};
    const float value = m_data.rows[size_t(row)][size_t(column)], median = m_data.median[size_t(column)];
    const QString where = m_data.names[size_t(row)] + u", "_s + m_data.xName + u" "_s +
                          figureText(m_data.xUnit, m_data.x[size_t(column)]);
    if (std::isnan(value)) return where + u": "_s + show::unknown();
    const QString away = show::percent(double(std::abs(value / median - 1)));
    const QString figure = figureText(m_data.unit, double(value));
    if (value >= median) return tr("%1: %2, %3 slower than the median").arg(where, figure, away);
    return tr("%1: %2, %3 faster than the median").arg(where, figure, away);
}

void HeatMap::mouseMoveEvent(QMouseEvent* event) {
    const int row = rowAt(event->position()), column = columnAt(event->position());
    const QString text = readOutAt(row, column);
    if (text.isEmpty()) {
        QToolTip::hideText();
    } else {
        QToolTip::showText(event->globalPosition().toPoint(), text, this);
    }
    m_cursor = column >= 0 && row >= 0 ? std::optional(m_data.x[size_t(column)]) : std::nullopt;
    update();
    Q_EMIT cursorMoved(m_cursor);
}

void HeatMap::mousePressEvent(QMouseEvent* event) {
    const int row = rowAt(event->position());
    if (row >= 0) Q_EMIT rankChosen(row);
}

void HeatMap::keyPressEvent(QKeyEvent* event) {
    const int by = event->key() == Qt::Key_Up ? -1 : event->key() == Qt::Key_Down ? 1 : 0;
    if (by == 0 || m_image.isNull()) return QWidget::keyPressEvent(event);
    Q_EMIT rankChosen(m_chosen < 0 ? 0 : std::clamp(m_chosen + by, 0, m_image.height() - 1));
}

void HeatMap::leaveEvent(QEvent*) {
    m_cursor.reset();
    update();
    Q_EMIT cursorMoved({});
}

}  // namespace ringmaster
