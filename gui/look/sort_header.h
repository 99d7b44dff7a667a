/// Shows the sort arrow next to a column's title. The style would draw it at the right edge, where it covers
/// the end of a right-aligned title.
#pragma once

#include <QHeaderView>
#include <QTableView>

namespace ringmaster {

class SortHeader : public QHeaderView {
    Q_OBJECT

  public:
    explicit SortHeader(QWidget* parent = nullptr);

  protected:
    /// Returns the size of the title, with the arrow only if the table is sorted by this section.
    QSize sectionSizeFromContents(int section) const override;
    void initStyleOptionForIndex(QStyleOptionHeader* option, int section) const override;
};

/// Gives the table a SortHeader. Call it before anything else sets up the horizontal header.
void useSortHeader(QTableView* table);

}  // namespace ringmaster
