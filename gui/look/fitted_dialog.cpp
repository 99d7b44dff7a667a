#include "gui/look/fitted_dialog.h"

#include <QShowEvent>
#include <QVBoxLayout>

#include "gui/look/look.h"

namespace ringmaster {

FittedDialog::FittedDialog(QWidget* parent) : QDialog(parent), m_rows(new QVBoxLayout(this)) {
    m_rows->setContentsMargins(space(1.4), space(1.2), space(1.4), space(1.2));
    m_rows->setSpacing(space(0.8));
}

void FittedDialog::fitHeight() {
    m_rows->activate();
    resize(width(), m_rows->totalHeightForWidth(width()));
}

void FittedDialog::showEvent(QShowEvent* event) {
    QDialog::showEvent(event);
    if (!event->spontaneous()) fitHeight();
}

}  // namespace ringmaster
