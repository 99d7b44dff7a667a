#include "gui/look/sort_header.h"

#include <QStyleOptionHeader>

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

SortHeader::SortHeader(QWidget* parent) : QHeaderView(Qt::Horizontal, parent) {
    setSectionsClickable(true);
}

QString SortHeader::arrow(Qt::SortOrder order) {
    return order == Qt::AscendingOrder ? u" \u25B2"_s : u" \u25BC"_s;
}

void SortHeader::initStyleOptionForIndex(QStyleOptionHeader* option, int section) const {
    QHeaderView::initStyleOptionForIndex(option, section);
    if (option->sortIndicator == QStyleOptionHeader::None) return;
    option->sortIndicator = QStyleOptionHeader::None;
    option->text += arrow(sortIndicatorOrder());
}

void useSortHeader(QTableView* table) {
    table->setHorizontalHeader(new SortHeader(table));
}

}  // namespace ringmaster
