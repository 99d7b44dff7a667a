#include "gui/look/wheel_guard.h"

#include <QAbstractSlider>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QEvent>
#include <QScrollBar>

namespace ringmaster {

namespace {

const char* const kName = "ringmasterWheelGuard";

bool holds_a_value(const QObject* object) {
    if (qobject_cast<const QScrollBar*>(object)) return false;
    return qobject_cast<const QAbstractSpinBox*>(object) || qobject_cast<const QComboBox*>(object) ||
           qobject_cast<const QAbstractSlider*>(object);
}

/// Returns the control that a click on `widget` reaches: the widget itself, or the spin box around a line
/// edit; null for any other widget.
QWidget* control_at(QWidget* widget) {
    for (QWidget* at = widget; at && !at->isWindow(); at = at->parentWidget())
        if (holds_a_value(at)) return at;
    return nullptr;
}

}  // namespace

void WheelGuard::install() {
    if (qApp->findChild<QObject*>(QLatin1String(kName))) return;
    auto* guard = new WheelGuard(qApp);
    guard->setObjectName(QLatin1String(kName));
    qApp->installEventFilter(guard);
}

bool WheelGuard::eventFilter(QObject* watched, QEvent* event) {
    const QEvent::Type type = event->type();
    if (type != QEvent::Wheel && type != QEvent::Polish && type != QEvent::MouseButtonPress) return false;
    auto* widget = qobject_cast<QWidget*>(watched);
    if (!widget) return false;
    if (type == QEvent::MouseButtonPress) m_clicked = control_at(widget);
    if (!holds_a_value(widget)) return false;
    if (type == QEvent::Polish && widget->focusPolicy() == Qt::WheelFocus)
        widget->setFocusPolicy(Qt::StrongFocus);
    if (type != QEvent::Wheel || (widget == m_clicked && widget->hasFocus())) return false;
    event->ignore();  // Qt passes the event to the parent
    return true;
}

}  // namespace ringmaster
