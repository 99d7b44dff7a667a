#include "gui/look/card_grid.h"

#include <QWidget>
#include <algorithm>

#include "gui/look/look.h"

namespace ringmaster {

CardGrid::CardGrid(double column_ems, int most_columns, QWidget* parent)
    : QLayout(parent), m_column_ems(column_ems), m_most(most_columns) {
    setContentsMargins(0, 0, 0, 0);
    setSpacing(space(0.7));
}

CardGrid::~CardGrid() {
    for (const Cell& cell : m_cells) delete cell.item;
}

void CardGrid::addCard(QWidget* card, int span) {
    addChildWidget(card);
    m_cells.push_back({new QWidgetItem(card), span});
    invalidate();
}

void CardGrid::addItem(QLayoutItem* item) {
    m_cells.push_back({item, 1});
}

int CardGrid::count() const {
    return int(m_cells.size());
}

QLayoutItem* CardGrid::itemAt(int index) const {
    return index >= 0 && index < count() ? m_cells[size_t(index)].item : nullptr;
}

QLayoutItem* CardGrid::takeAt(int index) {
    if (index < 0 || index >= count()) return nullptr;
    QLayoutItem* item = m_cells[size_t(index)].item;
    m_cells.erase(m_cells.begin() + index);
    return item;
}

int CardGrid::columnsFor(int width) const {
    int column = space(m_column_ems), shown = 0;
    bool alike = true;
    for (const Cell& cell : m_cells) {
        if (cell.item->isEmpty()) continue;
        column = std::max(column, cell.item->minimumSize().width() / cell.span);
        alike = alike && cell.span == 1;
        ++shown;
    }
    const int columns = std::clamp((width + spacing()) / std::max(1, column + spacing()), 1, m_most);
    if (!alike || shown <= columns) return columns;
    const int rows = (shown + columns - 1) / columns;
    return (shown + rows - 1) / rows;  // balances rows: six as three and three, not five and one
}

/// Places the cards row by row and returns the height that they need.
int CardGrid::arrange(const QRect& rect, bool apply) const {
    const int columns = columnsFor(rect.width());
    struct Placed {
        QLayoutItem* item;
        int column, span;
        bool grows;
    };
    std::vector<std::vector<Placed>> rows;
    int used = columns;
    const auto left_of = [&](int column) { return (rect.width() + spacing()) * column / columns; };
    const auto width_of = [&](const Placed& placed) {  // the last column ends at the grid's right edge
        return left_of(placed.column + placed.span) - left_of(placed.column) - spacing();
    };
    for (const Cell& cell : m_cells) {
        if (cell.item->isEmpty()) continue;
        const int span = std::min(cell.span, columns);
        if (used + span > columns) {
            rows.emplace_back();
            used = 0;
        }
        rows.back().push_back({cell.item, used, span, bool(cell.item->expandingDirections() & Qt::Vertical)});
        used += span;
    }
    int total = rows.empty() ? 0 : spacing() * (int(rows.size()) - 1), growing = 0;
    std::vector<int> heights;
    std::vector<bool> grows;
    for (std::vector<Placed>& row : rows) {
        // The last card of a row takes the remaining columns.
        row.back().span = columns - row.back().column;
        int height = 0;
        for (const Placed& placed : row) {
            const int wanted = placed.item->hasHeightForWidth()
                                   ? placed.item->heightForWidth(width_of(placed))
                                   : placed.item->sizeHint().height();
            height = std::max({height, wanted, placed.item->minimumSize().height()});
        }
        heights.push_back(height);
        grows.push_back(std::any_of(row.begin(), row.end(), [](const Placed& p) { return p.grows; }));
        growing += grows.back();
        total += height;
    }
    if (!apply) return total;
    const int left = std::max(0, rect.height() - total);
    int y = rect.y();
    for (size_t index = 0; index < rows.size(); ++index) {
        const int height = heights[index] + (grows[index] ? left / growing : 0);
        for (const Placed& placed : rows[index]) {
            placed.item->setGeometry(QRect(rect.x() + left_of(placed.column), y, width_of(placed), height));
        }
        y += height + spacing();
    }
    return total;
}

QSize CardGrid::sizeHint() const {
    return {space(m_column_ems), arrange({0, 0, space(m_column_ems), 0}, false)};
}

QSize CardGrid::minimumSize() const {
    int width = 0;
    for (const Cell& cell : m_cells) width = std::max(width, cell.item->minimumSize().width());
    return {width, 0};
}

int CardGrid::heightForWidth(int width) const {
    return arrange({0, 0, width, 0}, false);
}

void CardGrid::setGeometry(const QRect& rect) {
    QLayout::setGeometry(rect);
    m_columns = columnsFor(rect.width());
    arrange(rect, true);
}

}  // namespace ringmaster
