#include "gui/look/sort_header.h"

#include <QStyle>
#include <QStyleOptionHeader>

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

SortHeader::SortHeader(QWidget* parent) : QHeaderView(Qt::Horizontal, parent) {
    setSectionsClickable(true);
}

void SortHeader::initStyleOptionForIndex(QStyleOptionHeader* option, int section) const {
    QHeaderView::initStyleOptionForIndex(option, section);
    if (option->sortIndicator == QStyleOptionHeader::None) return;
    option->sortIndicator = QStyleOptionHeader::None;
    option->text += sortIndicatorOrder() == Qt::AscendingOrder ? u" \u25B2"_s : u" \u25BC"_s;
}

QSize SortHeader::sectionSizeFromContents(int section) const {
    QStyleOptionHeaderV2 option;
    initStyleOption(&option);
    initStyleOptionForIndex(&option, section);
    return style()->sizeFromContents(QStyle::CT_HeaderSection, &option, {}, this);
}

void useSortHeader(QTableView* table) {
    table->setHorizontalHeader(new SortHeader(table));
}

}  // namespace ringmaster
