#include "gui/look/form.h"

#include <QFormLayout>
#include <QLineEdit>
#include <algorithm>

#include "gui/look/look.h"

namespace ringmaster {

void alignNames(const QFormLayout* form) {
    QLineEdit one_line;
    one_line.ensurePolished();
    // This is 4/7 of a field, rounded up: QFormLayout gives a label at most 7/4 of its height.
    const int level = (one_line.sizeHint().height() * 4 + 6) / 7;
    for (int row = 0; row < form->rowCount(); ++row) {
        const QLayoutItem* item = form->itemAt(row, QFormLayout::LabelRole);
        QWidget* name = item == nullptr ? nullptr : item->widget();
        if (name != nullptr) name->setMinimumHeight(std::max(lineHeight(name->font()), level));
    }
}

}  // namespace ringmaster
