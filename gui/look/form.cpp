#include "gui/look/form.h"

#include <QFormLayout>
#include <QLineEdit>
#include <QWidget>
#include <algorithm>

#include "gui/look/look.h"

namespace ringmaster {

void alignNames(const QFormLayout* form) {
    QLineEdit one_line;
    one_line.ensurePolished();
    for (int row = 0; row < form->rowCount(); ++row) {
        const QLayoutItem* item = form->itemAt(row, QFormLayout::LabelRole);
        QWidget* name = item == nullptr ? nullptr : item->widget();
        const QLayoutItem* field = form->itemAt(row, QFormLayout::FieldRole);
        if (name == nullptr || field == nullptr) continue;
        if (field->widget()) field->widget()->ensurePolished();
        const int high = std::min(field->sizeHint().height(), one_line.sizeHint().height());
        name->setMinimumHeight(std::max(lineHeight(name->font()), (high * 4 + 6) / 7));
    }
}

}  // namespace ringmaster
