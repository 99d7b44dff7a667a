#include "gui/look/header_layout.h"

#include <QWidget>
#include <algorithm>

#include "gui/look/flow_layout.h"
#include "gui/look/look.h"

namespace ringmaster {

HeaderLayout::HeaderLayout(QWidget* title, QWidget* subtitle, QWidget* parent)
    : QLayout(parent), m_actions(new FlowLayout(space(0.5))) {
    setContentsMargins(0, 0, 0, 0);
    setSpacing(space(0.6));
    addWidget(title);
    addWidget(subtitle);
    addChildLayout(m_actions);
    addItem(m_actions);
}

HeaderLayout::~HeaderLayout() {
    qDeleteAll(m_items);
}

void HeaderLayout::addAction(QWidget* widget) {
    m_actions->addWidget(widget);
}

void HeaderLayout::addItem(QLayoutItem* item) {
    m_items.append(item);
}

QLayoutItem* HeaderLayout::takeAt(int index) {
    return index >= 0 && index < m_items.size() ? m_items.takeAt(index) : nullptr;
}

QSize HeaderLayout::sizeHint() const {
    QSize size(-spacing(), 0);
    for (const QLayoutItem* item : m_items)
        size = {size.width() + spacing() + item->sizeHint().width(),
                std::max(size.height(), item->sizeHint().height())};
    return size;
}

QSize HeaderLayout::minimumSize() const {
    QSize size;
    for (const QLayoutItem* item : m_items) size = size.expandedTo(item->minimumSize());
    return size;
}

void HeaderLayout::setGeometry(const QRect& rect) {
    QLayout::setGeometry(rect);
    arrange(rect, true);
}

/// Places the items and returns the height that they need.
int HeaderLayout::arrange(const QRect& rect, bool apply) const {
    const QSize title = m_items[0]->sizeHint(), subtitle = m_items[1]->sizeHint(),
                actions = m_actions->sizeHint();
    const int line = std::max({parentWidget()->minimumHeight(), title.height(), actions.height()}),
              right = actions.width() > 0 ? actions.width() + spacing() : 0,
              words = title.width() + (subtitle.width() > 0 ? spacing() + subtitle.width() : 0);
    const bool actions_below = m_items[0]->minimumSize().width() + right > rect.width(),
               subtitle_below = words + (actions_below ? 0 : right) > rect.width();
    const int room = rect.width() - (actions_below ? 0 : right);
    const auto place = [&](QLayoutItem* item, int x, int y, int width, int height) {
        if (apply) item->setGeometry({rect.x() + x, rect.y() + y, width, height});
    };
    const int title_width = std::min(title.width(), room);
    place(m_items[0], 0, 0, title_width, line);
    int used = line;
    if (!subtitle_below) {
        place(m_items[1], title_width + spacing(), 0, subtitle.width(), line);
    } else if (subtitle.width() > 0) {
        place(m_items[1], 0, used, std::min(subtitle.width(), rect.width()), subtitle.height());
        used += subtitle.height();
    }
    if (!actions_below) {
        place(m_actions, rect.width() - actions.width(), (line - actions.height()) / 2, actions.width(),
              actions.height());
        return used;
    }
    used += space(0.3);
    const int below = m_actions->heightForWidth(rect.width());
    place(m_actions, 0, used, rect.width(), below);
    return used + below;
}

}  // namespace ringmaster
