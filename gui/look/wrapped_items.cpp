#include "gui/look/wrapped_items.h"

#include <QListWidget>
#include <QStringList>
#include <QStyle>
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

  protected:
    /// Lets a word that is wider than a line, such as a key, break after its underscores.
    void initStyleOption(QStyleOptionViewItem* item, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(item, index);
        const int margin = m_list->style()->pixelMetric(QStyle::PM_FocusFrameHMargin, item, m_list) + 1;
        const int room = item->rect.width() - item->decorationSize.width() - 4 * margin;
        QStringList words = item->text.split(u' ');
        for (QString& word : words)
            if (item->fontMetrics.horizontalAdvance(word) > room) word.replace(u'_', u"_\u200B"_s);
        item->text = words.join(u' ');
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
