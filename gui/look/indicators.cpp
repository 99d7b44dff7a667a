#include "gui/look/indicators.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QPainter>
#include <QProxyStyle>
#include <QStyleFactory>
#include <QStyleOption>

#include "gui/look/look.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

/// Sets the pen and brush for the control's outline. Returns true if the control also needs a mark, because
/// it is on or partly on.
bool prepare(QPainter& painter, QStyle::State state, const Colours& c) {
    const bool marked = (state & (QStyle::State_On | QStyle::State_NoChange)) != 0;
    const bool enabled = (state & QStyle::State_Enabled) != 0;
    const bool wanted = (state & (QStyle::State_MouseOver | QStyle::State_HasFocus)) != 0;
    const QColor outline = !enabled ? c.border : marked || wanted ? c.accent : mixed(c.card, c.text, 0.5);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(outline, 1));
    painter.setBrush(!marked ? (enabled ? c.card : c.sunken) : enabled ? c.accent : c.faint);
    return marked;
}

void drawBox(QPainter& painter, const QRectF& box, QStyle::State state, const Colours& c) {
    const bool marked = prepare(painter, state, c);
    painter.drawRoundedRect(box, box.width() * 0.22, box.width() * 0.22);
    if (!marked) return;
    painter.setPen(QPen(c.onAccent, box.width() * 0.14, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    const auto at = [&box](double x, double y) {
        return QPointF(box.left() + x * box.width(), box.top() + y * box.height());
    };
    if (state & QStyle::State_NoChange) {
        painter.drawLine(at(0.26, 0.5), at(0.74, 0.5));
    } else {
        painter.drawPolyline(QPolygonF{at(0.24, 0.53), at(0.42, 0.71), at(0.77, 0.31)});
    }
}

void drawRing(QPainter& painter, const QRectF& box, QStyle::State state, const Colours& c) {
    const bool marked = prepare(painter, state, c);
    painter.drawEllipse(box);
    if (!marked) return;
    painter.setPen(Qt::NoPen);
    painter.setBrush(c.onAccent);
    painter.drawEllipse(box.center(), box.width() * 0.2, box.height() * 0.2);
}

/// Draws the tick of a checked menu entry.
void drawTick(const QStyleOption& option, QPainter& painter) {
    const double side = std::min(option.rect.width(), option.rect.height()) * 0.7;
    const QPointF from = QRectF(option.rect).center() - QPointF(side / 2, side / 2);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(coloursOf(QApplication::palette()).text, std::max(1.5, side * 0.16), Qt::SolidLine,
                        Qt::RoundCap, Qt::RoundJoin));
    painter.drawPolyline(QPolygonF{from + side * QPointF(0.15, 0.55), from + side * QPointF(0.4, 0.8),
                                   from + side * QPointF(0.85, 0.25)});
}

/// Outlines the current cell of a list or table, unless its row shows the selection.
void drawFocus(const QStyleOption& option, QPainter& painter) {
    if (option.state & QStyle::State_Selected) return;
    painter.setPen(coloursOf(QApplication::palette()).accent);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(option.rect.adjusted(0, 0, -1, -1));
}

class Style : public QProxyStyle {
  public:
    Style() : QProxyStyle(QStyleFactory::create(u"Fusion"_s)) {}

    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget) const override {
        if (element == PE_FrameFocusRect && qobject_cast<const QAbstractItemView*>(widget))
            return drawFocus(*option, *painter);
        if (element == PE_IndicatorMenuCheckMark) return drawTick(*option, *painter);
        const bool is_ring = element == PE_IndicatorRadioButton;
        if (!is_ring && element != PE_IndicatorCheckBox && element != PE_IndicatorItemViewItemCheck)
            return QProxyStyle::drawPrimitive(element, option, painter, widget);
        const double side = std::min(option->rect.width(), option->rect.height()) - 1;
        QRectF box(0, 0, side, side);
        box.moveCenter(QRectF(option->rect).center());
        painter->save();
        (is_ring ? drawRing : drawBox)(*painter, box, option->state, coloursOf(QApplication::palette()));
        painter->restore();
    }
};

}  // namespace

QStyle* makeStyle() {
    return new Style;
}

}  // namespace ringmaster
