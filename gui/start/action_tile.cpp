#include "gui/start/action_tile.h"

#include <QKeyEvent>
#include <QPainter>

#include "gui/look/icons.h"
#include "gui/look/look.h"

namespace ringmaster {

namespace {

constexpr double kMargin = 0.95, kIcon = 1.7, kGap = 0.8;

}  // namespace

ActionTile::ActionTile(const QString& icon_name, const QString& title, const QString& explanation,
                       QWidget* parent)
    : QAbstractButton(parent), m_icon(icon_name), m_explanation(explanation) {
    setText(title);
    setAccessibleName(title);
    setAccessibleDescription(explanation);
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void ActionTile::setStrong(bool strong) {
    m_strong = strong;
    update();
}

int ActionTile::textWidth(int width) const {
    return std::max(1, width - 2 * space(kMargin) - space(kIcon) - space(kGap));
}

int ActionTile::heightForWidth(int width) const {
    const QRect wide(0, 0, textWidth(width), 10'000);
    const int title = QFontMetrics(fontOf(Type::Title)).boundingRect(wide, Qt::TextWordWrap, text()).height();
    const int words = QFontMetrics(font()).boundingRect(wide, Qt::TextWordWrap, m_explanation).height();
    return 2 * space(kMargin) + std::max(title + space(0.25) + words, space(kIcon));
}

QSize ActionTile::sizeHint() const {
    const int width = space(16);
    return {width, heightForWidth(width)};
}

QSize ActionTile::minimumSizeHint() const {
    return {space(11), space(4)};
}

void ActionTile::paintEvent(QPaintEvent*) {
    const Colours c = coloursOf(this);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const bool lit = underMouse() || isDown();
    const QColor sheet = m_strong ? mixed(c.card, c.accent,
                                          isDown() ? 0.22
                                          : lit    ? 0.15
                                          : c.dark ? 0.12
                                                   : 0.07)
                                  : (isDown() ? mixed(c.card, c.text, 0.08)
                                     : lit    ? c.sunken
                                              : c.card);
    const QColor edge = hasFocus() ? c.accent : m_strong ? mixed(c.card, c.accent, 0.5) : c.border;
    painter.setBrush(sheet);
    painter.setPen(QPen(edge, hasFocus() ? 2 : 1));
    const double inset = hasFocus() ? 1 : 0.5, radius = space(0.55);
    painter.drawRoundedRect(QRectF(rect()).adjusted(inset, inset, -inset, -inset), radius, radius);

    const int side = space(kIcon), margin = space(kMargin);
    ringmaster::icon(m_icon, mixed(c.accent, c.text, c.dark ? 0.25 : 0.1))
        .paint(&painter, QRect(margin, margin, side, side), Qt::AlignCenter);
    const QRect words(margin + side + space(kGap), margin, textWidth(width()), height() - margin);
    painter.setPen(c.text);
    painter.setFont(fontOf(Type::Title));
    QRect used;
    painter.drawText(words, Qt::TextWordWrap, text(), &used);
    painter.setPen(c.muted);
    painter.setFont(font());
    painter.drawText(words.adjusted(0, used.height() + space(0.25), 0, 0), Qt::TextWordWrap, m_explanation);
}

void ActionTile::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
        click();
        return;
    }
    QAbstractButton::keyPressEvent(event);
}

void ActionTile::enterEvent(QEnterEvent*) {
    update();
}

void ActionTile::leaveEvent(QEvent*) {
    update();
}

}  // namespace ringmaster
