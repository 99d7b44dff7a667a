/// A table's header whose sort arrow stands beside the title. The style draws the arrow at the right edge,
/// where it covers the end of a title that is at the right itself.
#pragma once

#include <QHeaderView>
#include <QTableView>

namespace ringmaster {

class SortHeader : public QHeaderView {
    Q_OBJECT

  public:
    explicit SortHeader(QWidget* parent = nullptr);
    static QString arrow(Qt::SortOrder order);  ///< what follows the title, with a space before it

  protected:
    void initStyleOptionForIndex(QStyleOptionHeader* option, int section) const override;
};

/// Gives the table a SortHeader; call it before anything else is said to the horizontal header.
void useSortHeader(QTableView* table);

}  // namespace ringmaster
