#include "gui/look/form.h"

#include <QFormLayout>
#include <QWidget>

#include "gui/look/look.h"

namespace ringmaster {

void alignNames(const QFormLayout* form) {
    for (int row = 0; row < form->rowCount(); ++row) {
        const QLayoutItem* item = form->itemAt(row, QFormLayout::LabelRole);
        QWidget* name = item == nullptr ? nullptr : item->widget();
        if (name != nullptr) name->setMinimumHeight(lineHeight(name->font()));
    }
}

}  // namespace ringmaster
