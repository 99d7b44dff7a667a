#include "gui/look/flow_layout.h"

#include <algorithm>
#include <vector>

#include "gui/look/look.h"

#include <QWidget>

namespace ringmaster {

FlowLayout::FlowLayout(int gap, QWidget* parent) : QLayout(parent), m_line_gap(std::min(gap, space(0.5))) {
    setContentsMargins(0, 0, 0, 0);
    setSpacing(gap);
}

FlowLayout::~FlowLayout() {
    qDeleteAll(m_items);
}

QLayoutItem* FlowLayout::takeAt(int index) {
    return index >= 0 && index < m_items.size() ? m_items.takeAt(index) : nullptr;
}

QSize FlowLayout::sizeHint() const {
    int width = 0, height = 0;
    for (const QLayoutItem* item : m_items) {
        if (item->isEmpty()) continue;
        width += (width > 0 ? spacing() : 0) + item->sizeHint().width();
        height = std::max(height, item->sizeHint().height());
    }
    return {width, height};
}

QSize FlowLayout::minimumSize() const {
    QSize size;
    for (const QLayoutItem* item : m_items) size = size.expandedTo(item->minimumSize());
    return size;
}

void FlowLayout::setGeometry(const QRect& rect) {
    QLayout::setGeometry(rect);
    arrange(rect, true);
}

int FlowLayout::arrange(const QRect& rect, bool apply) const {
    int x = 0, y = 0, height = 0;
    std::vector<std::pair<QLayoutItem*, QRect>> line;
    const auto finish_line = [&] {
        const int left = alignment() & Qt::AlignHCenter ? (rect.width() - x + spacing()) / 2 : 0;
        for (auto& [item, at] : line) {
            at.moveTopLeft({at.x() + left, rect.y() + y + (height - at.height()) / 2});
            if (apply) item->setGeometry(at);
        }
        line.clear();
    };
    for (QLayoutItem* item : m_items) {
        if (item->isEmpty()) continue;
        const QSize size = item->sizeHint().boundedTo({std::max(1, rect.width()), QLAYOUTSIZE_MAX});
        if (x > 0 && x + size.width() > rect.width()) {
            finish_line();
            y += height + m_line_gap;
            x = height = 0;
        }
        line.emplace_back(item, QRect(QPoint(rect.x() + x, 0), size));
        x += size.width() + spacing();
        height = std::max(height, size.height());
    }
    finish_line();
    return y + height;
}

}  // namespace ringmaster
