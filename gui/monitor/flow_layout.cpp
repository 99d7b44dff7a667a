#include "gui/monitor/flow_layout.h"

#include <QWidget>
#include <algorithm>

#include "gui/look/look.h"

namespace ringmaster {

FlowLayout::FlowLayout(QWidget* parent) : QLayout(parent) {
    setContentsMargins(0, 0, 0, 0);
    setSpacing(space(0.9));
}

FlowLayout::~FlowLayout() {
    for (QLayoutItem* item : m_items) delete item;
}

QLayoutItem* FlowLayout::itemAt(int index) const {
    return index >= 0 && index < count() ? m_items[size_t(index)] : nullptr;
}

QLayoutItem* FlowLayout::takeAt(int index) {
    if (index < 0 || index >= count()) return nullptr;
    QLayoutItem* item = m_items[size_t(index)];
    m_items.erase(m_items.begin() + index);
    return item;
}

int FlowLayout::arrange(const QRect& rect, bool apply) const {
    int x = 0, y = 0, row = 0;
    std::vector<std::pair<QLayoutItem*, QRect>> line;
    const auto finish = [&] {
        for (auto& [item, at] : line) {
            at.moveTop(rect.y() + y + (row - at.height()) / 2);
            if (apply) item->setGeometry(at);
        }
        line.clear();
    };
    for (QLayoutItem* item : m_items) {
        if (item->isEmpty()) continue;
        const QSize size = item->sizeHint();
        if (x > 0 && x + size.width() > rect.width()) {
            finish();
            y += row + space(0.4);
            x = row = 0;
        }
        line.emplace_back(item, QRect(QPoint(rect.x() + x, 0), size));
        x += size.width() + spacing();
        row = std::max(row, size.height());
    }
    finish();
    return y + row;
}

QSize FlowLayout::sizeHint() const {
    int width = 0, height = 0;
    for (QLayoutItem* item : m_items) {
        if (item->isEmpty()) continue;
        width += item->sizeHint().width() + spacing();
        height = std::max(height, item->sizeHint().height());
    }
    return {width, height};
}

QSize FlowLayout::minimumSize() const {
    QSize least;
    for (QLayoutItem* item : m_items) least = least.expandedTo(item->minimumSize());
    return least;
}

void FlowLayout::setGeometry(const QRect& rect) {
    QLayout::setGeometry(rect);
    arrange(rect, true);
}

}  // namespace ringmaster
