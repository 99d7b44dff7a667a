#include "gui/look/tip_widget.h"

#include <QHelpEvent>
#include <QToolTip>

namespace ringmaster {

bool TipWidget::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), tipAt(help->pos()), this);  // an empty text hides it
    return true;
}

}  // namespace ringmaster
