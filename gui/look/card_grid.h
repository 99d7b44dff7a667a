/// Arranges cards, in order, in as many columns as the widest card allows; a card may span columns. A row is
/// as high as its tallest card, and the rows share the height that remains.
#pragma once

#include <QLayout>
#include <vector>

namespace ringmaster {

class CardGrid : public QLayout {
    Q_OBJECT

  public:
    /// `column_ems` is the minimum width of a column, in units of space(1).
    CardGrid(double column_ems, int most_columns, QWidget* parent = nullptr);

    void addCard(QWidget* card, int span = 1);
    int columns() const { return m_columns; }  ///< number of columns in the last layout

    void addItem(QLayoutItem* item) override;
    int count() const override;
    QLayoutItem* itemAt(int index) const override;
    QLayoutItem* takeAt(int index) override;
    QSize sizeHint() const override;
    QSize minimumSize() const override;
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    Qt::Orientations expandingDirections() const override { return Qt::Horizontal | Qt::Vertical; }
    void setGeometry(const QRect& rect) override;
    ~CardGrid() override;

  private:
    struct Cell {
        QLayoutItem* item;
        int span;
    };
    int columnsFor(int width) const;
    int arrange(const QRect& rect, bool apply) const;

    double m_column_ems;
    int m_most;
    int m_columns = 1;
    std::vector<Cell> m_cells;
};

}  // namespace ringmaster
