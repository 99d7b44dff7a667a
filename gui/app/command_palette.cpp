#include "gui/app/command_palette.h"

#include <QAbstractButton>
#include <QKeyEvent>
#include <QPainter>
#include <QPointer>
#include <QSet>
#include <QStyle>
#include <QStyledItemDelegate>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/look/empty_note.h"
#include "gui/look/look.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

enum EntryRole { kEntry = Qt::UserRole, kEntryKeys };

/// Draws the keys of a command at the right of its name.
class KeysAtRight : public QStyledItemDelegate {
  public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const QString keys = index.data(kEntryKeys).toString();
        const QFontMetrics metrics(option.font);
        const int side = space(0.4), room = option.rect.width() - metrics.horizontalAdvance(keys) - 4 * side;
        QStyleOptionViewItem item = option;
        initStyleOption(&item, index);
        item.text = metrics.elidedText(item.text, Qt::ElideRight, room);
        item.widget->style()->drawControl(QStyle::CE_ItemViewItem, &item, painter, item.widget);
        painter->save();
        painter->setPen(coloursOf(item.widget).muted);
        painter->setFont(item.font);
        painter->drawText(item.rect.adjusted(0, 0, -side, 0), int(Qt::AlignRight | Qt::AlignVCenter), keys);
        painter->restore();
    }
};

}  // namespace

CommandPalette::CommandPalette(std::vector<PaletteEntry> entries, QWidget* parent)
    : QDialog(parent), m_entries(std::move(entries)), m_words(new QLineEdit), m_list(new QListWidget) {
    setObjectName(u"commandPalette"_s);
    setWindowTitle(tr("Commands"));
    m_words->setObjectName(u"paletteWords"_s);
    m_words->setPlaceholderText(tr("Type what you want to do"));
    m_words->setAccessibleName(tr("Command"));
    m_list->setObjectName(u"paletteList"_s);
    m_list->setAccessibleName(tr("Commands that match"));
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setItemDelegate(new KeysAtRight(m_list));
    // Without a horizontal scroll bar, the list elides long names.
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_words);
    layout->addWidget(m_list, 1);
    resize(space(28), space(22));
    m_words->installEventFilter(this);
    connect(m_words, &QLineEdit::textChanged, this, &CommandPalette::filter);
    connect(m_list, &QListWidget::itemClicked, this, &CommandPalette::act);
    sayIfEmpty(m_list, tr("No command matches."));
    filter({});
    m_words->setFocus();
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::KeyPress) return QDialog::eventFilter(watched, event);
    const int key = static_cast<QKeyEvent*>(event)->key();
    const int row = m_list->currentRow(), last = m_list->count() - 1;
    if (key == Qt::Key_Down) m_list->setCurrentRow(std::min(row + 1, last));
    if (key == Qt::Key_Up) m_list->setCurrentRow(std::max(row - 1, 0));
    if (key == Qt::Key_Return || key == Qt::Key_Enter) act(m_list->currentItem());
    return key == Qt::Key_Down || key == Qt::Key_Up || key == Qt::Key_Return || key == Qt::Key_Enter;
}

/// Shows the entries that contain every word; those that begin with the first word come first.
void CommandPalette::filter(const QString& words) {
    const QStringList wanted = words.split(u' ', Qt::SkipEmptyParts);
    m_list->clear();
    for (const bool at_start : {true, false}) {
        for (size_t at = 0; at < m_entries.size(); ++at) {
            const QString& name = m_entries[at].name;
            const bool holds = std::all_of(wanted.begin(), wanted.end(), [&](const QString& word) {
                return name.contains(word, Qt::CaseInsensitive);
            });
            const bool starts = wanted.isEmpty() || name.startsWith(wanted.first(), Qt::CaseInsensitive);
            if (!holds || starts != at_start) continue;
            const QString& keys = m_entries[at].keys;
            auto* item = new QListWidgetItem(name, m_list);
            item->setData(kEntry, int(at));
            item->setData(kEntryKeys, keys);
            item->setData(Qt::AccessibleTextRole, keys.isEmpty() ? name : name + u", "_s + keys);
        }
    }
    m_list->setCurrentRow(0);
}

void CommandPalette::act(const QListWidgetItem* item) {
    if (!item) return;
    const auto chosen = m_entries[size_t(item->data(kEntry).toInt())].act;
    accept();
    // Calls the action later, after the accepted dialog has closed.
    QTimer::singleShot(0, parent(), chosen);
}

std::vector<PaletteEntry> buttons_of(QWidget* page) {
    std::vector<PaletteEntry> entries;
    QSet<QString> known;
    for (auto* button : page->findChildren<QAbstractButton*>()) {
        QString name = button->accessibleName().isEmpty() ? button->text() : button->accessibleName();
        name.remove(u'&');
        if (name.isEmpty() || !button->isVisible() || !button->isEnabled() || known.contains(name)) continue;
        known.insert(name);
        entries.push_back(
            {name, button->shortcut().toString(QKeySequence::NativeText), [button = QPointer(button)] {
                 if (button && button->isEnabled()) button->click();
             }});
    }
    return entries;
}

}  // namespace ringmaster
