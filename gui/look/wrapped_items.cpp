#include "gui/look/wrapped_items.h"

#include <QListWidget>
#include <QStyledItemDelegate>

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

class WrappedItems : public QStyledItemDelegate {
  public:
    explicit WrappedItems(QListWidget* list) : QStyledItemDelegate(list), m_list(list) {}

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        QStyleOptionViewItem item = option;
        item.rect.setWidth(m_list->viewport()->width());
        return QStyledItemDelegate::sizeHint(item, index);
    }

    /// A key that is longer than a line breaks after an underscore.
    QString displayText(const QVariant& value, const QLocale& locale) const override {
        return QStyledItemDelegate::displayText(value, locale).replace(u'_', u"_\u200B"_s);
    }

  private:
    QListWidget* m_list;
};

}  // namespace

void wrapItems(QListWidget* list) {
    list->setItemDelegate(new WrappedItems(list));
    list->setWordWrap(true);
    list->setResizeMode(QListView::Adjust);  // wraps the texts again when the width changes
    list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
}

}  // namespace ringmaster
