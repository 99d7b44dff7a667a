#include "gui/plan/bars.h"

#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <numeric>

#include "gui/look/look.h"
#include "gui/look/numbers.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

// ------------------------------------------------------------ bar

namespace {

constexpr double kRangeLine = 1.6, kLimitLine = 2.2;  // widths of the marks

}  // namespace

StackedBar::StackedBar(QWidget* parent) : TipWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setMinimumWidth(space(6));
    setMouseTracking(true);
}

void StackedBar::setParts(std::vector<BarPart> parts, double limit, double low, double high) {
    m_parts = std::move(parts);
    m_limit = limit;
    m_low = low;
    m_high = high;
    QStringList words;
    for (const BarPart& part : m_parts) words << u"%1 %2"_s.arg(part.name, part.figure);
    setAccessibleDescription(show::listed(words));
    update();
}

QSize StackedBar::sizeHint() const {
    return {space(12), space(2)};
}

double StackedBar::whole() const {
    double sum = 0;
    for (const BarPart& part : m_parts) sum += part.size;
    return std::max({sum, m_limit, m_high, 1e-12});
}

void StackedBar::paintEvent(QPaintEvent*) {
    const Colours c = coloursOf(this);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double margin = m_limit > 0 ? space(0.2) : 0;
    const double range = m_high > m_low ? space(0.4) : 0;  // room below the bar for the range's mark
    const QRectF box = QRectF(rect()).adjusted(0, margin, 0, -margin - range);
    const double radius = space(0.25), scale = box.width() / whole();
    QPainterPath shape;
    const double sunken_width = m_limit > 0 ? m_limit * scale : box.width();
    QRectF sunken = box;
    sunken.setWidth(std::max(
        sunken_width, std::accumulate(m_parts.begin(), m_parts.end(), 0.0,
                                      [](double sum, const BarPart& part) { return sum + part.size; }) *
                          scale));
    shape.addRoundedRect(sunken, radius, radius);
    painter.save();
    painter.setClipPath(shape);
    painter.fillRect(box, mixed(c.card, c.text, 0.09));
    double x = box.left();
    for (const BarPart& part : m_parts) {
        const QRectF piece(x, box.top(), part.size * scale, box.height());
        painter.fillRect(piece, part.colour);
        x = piece.right();
    }
    painter.restore();
    if (m_high > m_low) {
        const double tick = range / 2 - 1, y = box.bottom() + range - tick;
        const double low = box.left() + m_low * scale, high = box.left() + m_high * scale;
        painter.setPen(QPen(c.text, kRangeLine, Qt::SolidLine, Qt::FlatCap));
        painter.drawLine(QPointF(low, y), QPointF(high, y));
        for (const double at : {low, high}) {
            const double inside = std::clamp(at, kRangeLine / 2, width() - kRangeLine / 2);
            painter.drawLine(QPointF(inside, y - tick), QPointF(inside, y + tick));
        }
    }
    if (m_limit > 0) {
        painter.setPen(QPen(c.text, kLimitLine, Qt::SolidLine, Qt::FlatCap));
        const double at = std::min(m_limit * scale, width() - kLimitLine / 2);
        painter.drawLine(QPointF(at, 0), QPointF(at, box.bottom() + margin));
    }
}

QString StackedBar::tipAt(const QPoint& at) const {
    double x = 0;
    const double scale = width() / whole();
    for (const BarPart& part : m_parts) {
        x += part.size * scale;
        if (at.x() <= x) return u"%1: %2"_s.arg(part.name, part.figure);
    }
    return {};
}

// ------------------------------------------------------------ legend

BarLegend::BarLegend(QWidget* parent) : QWidget(parent) {
    setFont(fontOf(Type::Small));
    // The parent layout computes the height for the legend's width before it sets that width, so the legend
    // must accept the height that it gets.
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void BarLegend::setParts(const std::vector<BarPart>& parts) {
    m_parts = parts;
    updateGeometry();
    update();
}

/// Calls take(part, top left of its text) for each part, and returns the height.
template <class Take>
int BarLegend::arrange(int room, Take take) const {
    const QFontMetrics metrics(font());
    const int line = metrics.height(), swatch = space(0.9), gap = space(0.9);
    int x = 0, y = 0;
    for (const BarPart& part : m_parts) {
        const int wide = swatch + metrics.horizontalAdvance(part.name + u' ' + part.figure);
        if (x > 0 && x + wide > room) {
            x = 0;
            y += line + space(0.2);
        }
        take(part, QPoint(x, y));
        x += wide + gap;
    }
    return m_parts.empty() ? 0 : y + line;
}

int BarLegend::heightForWidth(int room) const {
    return arrange(room, [](const BarPart&, QPoint) {});
}

QSize BarLegend::sizeHint() const {
    return {space(12), heightForWidth(std::max(space(12), width()))};
}

QSize BarLegend::minimumSizeHint() const {
    return {space(6), 0};
}

void BarLegend::paintEvent(QPaintEvent*) {
    const Colours c = coloursOf(this);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QFontMetrics metrics(font());
    arrange(width(), [&](const BarPart& part, QPoint at) {
        const double side = metrics.height() * 0.55;
        const QRectF box(at.x(), at.y() + (metrics.height() - side) / 2, side, side);
        painter.setPen(Qt::NoPen);
        painter.setBrush(part.colour);
        painter.drawRoundedRect(box, side / 5, side / 5);
        const int x = at.x() + space(0.9);
        painter.setPen(c.muted);
        painter.drawText(x, at.y() + metrics.ascent(), part.name);
        painter.setPen(c.text);
        painter.drawText(x + metrics.horizontalAdvance(part.name + u' '), at.y() + metrics.ascent(),
                         part.figure);
    });
}

// ------------------------------------------------------------ slider

MarkedSlider::MarkedSlider(QWidget* parent) : QSlider(Qt::Horizontal, parent) {}

void MarkedSlider::setMark(double share) {
    m_mark = share;
    update();
}

QSize MarkedSlider::sizeHint() const {
    return {space(10), space(1.6)};
}

void MarkedSlider::paintEvent(QPaintEvent*) {
    const Colours c = coloursOf(this);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double knob = space(0.85), y = height() / 2.0, groove = space(0.26);
    const double from = knob / 2, to = width() - knob / 2;
    const double share = maximum() > minimum() ? double(value() - minimum()) / (maximum() - minimum()) : 0;
    const double at = from + (to - from) * share;
    painter.setPen(Qt::NoPen);
    painter.setBrush(mixed(c.card, c.text, 0.15));
    painter.drawRoundedRect(QRectF(from, y - groove / 2, to - from, groove), groove / 2, groove / 2);
    painter.setBrush(isEnabled() ? c.accent : c.faint);
    painter.drawRoundedRect(QRectF(from, y - groove / 2, at - from, groove), groove / 2, groove / 2);
    if (m_mark >= 0 && m_mark <= 1) {
        const double x = from + (to - from) * m_mark, wide = space(0.25);
        painter.setPen(QPen(c.text, 1.4));
        painter.drawLine(QPointF(x, y - space(0.42)), QPointF(x, y + space(0.42)));
        QPainterPath flag(QPointF(x - wide, 0));
        flag.lineTo(x + wide, 0);
        flag.lineTo(x, wide * 1.3);
        flag.closeSubpath();
        painter.fillPath(flag, c.text);
    }
    painter.setPen(QPen(hasFocus() ? c.accent : mixed(c.card, c.text, 0.35), hasFocus() ? 2 : 1));
    painter.setBrush(c.card);
    painter.drawEllipse(QPointF(at, y), knob / 2 - 1, knob / 2 - 1);
}

}  // namespace ringmaster
