#include "tests/gui/readable.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QCheckBox>
#include <QComboBox>
#include <QGroupBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QRadioButton>
#include <QRegularExpression>
#include <QScrollArea>
#include <QScrollBar>
#include <QSet>
#include <QStyle>
#include <QStyleOptionComboBox>
#include <QTabBar>
#include <QTextDocumentFragment>
#include <QTreeView>

#include "gui/look/card.h"
#include "gui/look/look.h"
#include "gui/start/recent_runs.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kSlack = 1;              ///< pixels that a text may lack because of rounding
constexpr double kShortTitleEms = 12;  ///< a page's title must not be elided below this width
constexpr double kShortCellEms = 6;    ///< a cell's text must not be elided below this width
constexpr double kNarrowEms = 55;  ///< in windows narrower than this, tables may show a horizontal scroll bar
constexpr int kMostCells = 2000;   ///< maximum number of cells checked in one table

QString plain(const QString& text) {
    return Qt::mightBeRichText(text) ? QTextDocumentFragment::fromHtml(text).toPlainText() : text;
}

QString called(const QWidget& widget, const QString& text) {
    return u"%1 %2 \"%3\""_s.arg(QString::fromLatin1(widget.metaObject()->className()), widget.objectName(),
                                 plain(text).left(90));
}

QString text_of(const QWidget& widget) {
    if (const auto* elided = qobject_cast<const ElidedLabel*>(&widget)) return elided->fullText();
    if (const auto* label = qobject_cast<const QLabel*>(&widget)) return label->text();
    if (const auto* button = qobject_cast<const QAbstractButton*>(&widget)) return button->text();
    if (const auto* box = qobject_cast<const QGroupBox*>(&widget)) return box->title();
    return {};
}

bool lacks(int needed, int has) {
    return needed > has + kSlack;
}

bool is_title_of_page(const ElidedLabel& label) {
    return qobject_cast<const PageHeader*>(label.parentWidget()) && label.font() == fontOf(Type::Title);
}

/// Returns why a label's or button's text does not fit; empty if it does.
QString why_cut(const QWidget& widget) {
    if (const auto* elided = qobject_cast<const ElidedLabel*>(&widget)) {
        const bool is_cut = lacks(elided->fontMetrics().horizontalAdvance(elided->fullText()),
                                  elided->contentsRect().width());
        if (is_cut && qobject_cast<const Card*>(widget.parentWidget())) return u"ends in dots"_s;
        if (is_cut && is_title_of_page(*elided) && elided->width() < space(kShortTitleEms))
            return u"ends in dots, although it is short"_s;
        const auto* header = qobject_cast<const PageHeader*>(widget.parentWidget());
        if (is_cut && header && elided->font() == fontOf(Type::Small) &&
            lacks(header->width(), widget.width()))
            return u"ends in dots, although it could have a line of its own"_s;
        return is_cut && elided->toolTip().isEmpty() ? u"ends in dots without a tool tip"_s : QString();
    }
    if (const auto* label = qobject_cast<const QLabel*>(&widget); label && label->wordWrap()) {
        const int needed = label->heightForWidth(label->width());
        return lacks(needed, label->height())
                   ? u"needs a height of %1, has %2"_s.arg(needed).arg(label->height())
                   : QString();
    }
    const bool tells_rest =
        qobject_cast<const QAbstractButton*>(&widget) && widget.toolTip().startsWith(text_of(widget));
    if (tells_rest) return {};
    const QSize needed = widget.sizeHint();
    if (lacks(needed.width(), widget.width()))
        return u"needs a width of %1, has %2"_s.arg(needed.width()).arg(widget.width());
    const bool has_lines = qobject_cast<const QLabel*>(&widget) || qobject_cast<const QCheckBox*>(&widget) ||
                           qobject_cast<const QRadioButton*>(&widget);
    if (has_lines && lacks(needed.height(), widget.height()))
        return u"needs a height of %1, has %2"_s.arg(needed.height()).arg(widget.height());
    return {};
}

QString why_field_cut(const QWidget& widget) {
    if (const auto* combo = qobject_cast<const QComboBox*>(&widget); combo && !combo->isEditable()) {
        QStyleOptionComboBox option;
        option.initFrom(combo);
        const QRect room =
            combo->style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, combo);
        const int needed = combo->fontMetrics().boundingRect(combo->currentText()).width();
        return lacks(needed, room.width()) && combo->toolTip().isEmpty()
                   ? called(widget, combo->currentText()) +
                         u" needs %1, has %2"_s.arg(needed).arg(room.width())
                   : QString();
    }
    const auto* line = qobject_cast<const QLineEdit*>(&widget);
    if (!line) return {};
    const bool is_number = qobject_cast<const QAbstractSpinBox*>(line->parentWidget()) != nullptr;
    const QString text = is_number                ? line->displayText()
                         : line->text().isEmpty() ? line->placeholderText()
                                                  : QString();
    constexpr int kOwnRoom = 4;  // a line edit keeps two pixels at either side
    const int needed = text.isEmpty() ? 0 : line->fontMetrics().horizontalAdvance(text) + kOwnRoom;
    return lacks(needed, line->width())
               ? called(widget, text) + u" needs %1, has %2"_s.arg(needed).arg(line->width())
               : QString();
}

QStringList cut_tabs(const QTabBar& bar) {
    QStringList cut;
    for (int at = 0; at < bar.count(); ++at) {
        if (lacks(bar.fontMetrics().horizontalAdvance(bar.tabText(at)), bar.tabRect(at).width()) ||
            bar.tabRect(at).right() > bar.width())
            cut << called(bar, bar.tabText(at)) + u" is cut"_s;
    }
    return cut;
}

QStringList cut_headers(const QHeaderView& header) {
    QStringList cut;
    if (!header.model() || header.orientation() == Qt::Vertical) return cut;
    for (int at = 0; at < header.count(); ++at) {
        if (header.isSectionHidden(at)) continue;
        const QString text = header.model()->headerData(at, Qt::Horizontal).toString();
        const int needed = header.sectionSizeHint(at);
        const bool tells_rest = header.textElideMode() != Qt::ElideNone &&
                                header.model()->headerData(at, Qt::Horizontal, Qt::ToolTipRole) == text;
        if (!tells_rest && !text.isEmpty() && lacks(needed, header.sectionSize(at)))
            cut << called(header, text) + u" needs %1, has %2"_s.arg(needed).arg(header.sectionSize(at));
    }
    return cut;
}

/// Calls `see` with each visible cell, among the first kMostCells of the table.
template <class See>
void for_each_cell(const QAbstractItemView& view, See see) {
    const QAbstractItemModel* model = view.model();
    if (!model) return;
    QList<QModelIndex> parents{view.rootIndex()};
    int seen = 0;
    while (!parents.isEmpty() && seen < kMostCells) {
        const QModelIndex parent = parents.takeFirst();
        for (int row = 0; row < model->rowCount(parent) && seen < kMostCells; ++row) {
            for (int column = 0; column < model->columnCount(parent); ++column, ++seen) {
                const QModelIndex index = model->index(row, column, parent);
                const QRect at = view.visualRect(index);
                if (!at.isEmpty() && view.viewport()->rect().intersects(at)) see(index, at);
            }
            const QModelIndex first = model->index(row, 0, parent);
            if (model->hasChildren(first)) parents << first;
        }
    }
}

/// Returns the second lines of the start page's list that do not fit.
QStringList cut_second_lines(const QAbstractItemView& view) {
    QStringList cut;
    if (!qobject_cast<const TwoLineList*>(&view)) return cut;
    const QFontMetrics small(fontOf(Type::Small));
    for_each_cell(view, [&](const QModelIndex& index, const QRect& at) {
        const QString text = index.data(RecentRunsModel::SecondLineRole).toString();
        const int needed = small.horizontalAdvance(text),
                  has = roomOfText(at.width(), true, view.fontMetrics());
        if (lacks(needed, has)) cut << called(view, text) + u" needs %1, has %2"_s.arg(needed).arg(has);
    });
    return cut;
}

/// Returns true if a list or table has no rows and no text that says why.
bool is_empty_without_a_word(const QAbstractItemView& view) {
    if (!view.model() || view.model()->rowCount(view.rootIndex()) > 0) return false;
    const QList<QLabel*> notes = view.viewport()->findChildren<QLabel*>();
    return std::none_of(notes.begin(), notes.end(),
                        [](const QLabel* note) { return note->isVisible() && !note->text().isEmpty(); });
}

QStringList wrong_views(const QAbstractItemView& view) {
    QStringList wrong;
    const bool may_scroll =
        view.window()->width() < space(kNarrowEms) && view.horizontalScrollBar()->isVisible();
    if (view.horizontalScrollBar()->maximum() > 0 && !may_scroll)
        wrong << called(view, view.accessibleName()) + u" scrolls sideways"_s;
    if (is_empty_without_a_word(view)) wrong << called(view, view.accessibleName()) + u" is empty"_s;
    return wrong;
}

QStringList cut_cells(const QAbstractItemView& view) {
    QStringList cut = cut_second_lines(view) + wrong_views(view);
    for_each_cell(view, [&](const QModelIndex& index, const QRect& at) {
        const QString text = index.data().toString();
        if (text.isEmpty() || view.indexWidget(index)) return;
        const QVariant font = index.data(Qt::FontRole);
        const QFontMetrics metrics(font.isValid() ? font.value<QFont>() : view.font());
        int needed = 0;
        for (const QString& line : text.split(u'\n'))
            needed = std::max(needed, metrics.horizontalAdvance(line));
        if (lacks(needed, at.width()) && index.data(Qt::ToolTipRole).toString().isEmpty())
            cut << called(view, text) + u" ends in dots without a tool tip"_s;
        if (lacks(std::min(needed, space(kShortCellEms)), at.width()))
            cut << called(view, text) + u" ends in dots, although it is short"_s;
    });
    return cut;
}

/// Returns true if a part of `widget` lies outside a parent that does not scroll there.
bool lies_outside(const QWidget& widget, const QWidget& window) {
    QRect at = widget.geometry();
    for (const QWidget* parent = widget.parentWidget(); parent; parent = parent->parentWidget()) {
        const auto* area = qobject_cast<const QAbstractScrollArea*>(parent->parentWidget());
        if (area && area->viewport() == parent) {
            const bool scrolls = area->horizontalScrollBarPolicy() != Qt::ScrollBarAlwaysOff;
            return !scrolls && at.right() > parent->width() + kSlack;
        }
        if (!parent->rect().adjusted(-kSlack, -kSlack, kSlack, kSlack).contains(at)) return true;
        if (parent == &window) return false;
        at.translate(parent->pos());
    }
    return false;
}

bool is_part(const QWidget& widget) {
    return qobject_cast<const QHeaderView*>(&widget) || qobject_cast<const QScrollBar*>(&widget);
}

QStringList overlaps(const QList<QWidget*>& texts) {
    QStringList found;
    for (qsizetype a = 0; a < texts.size(); ++a) {
        for (qsizetype b = a + 1; b < texts.size(); ++b) {
            if (texts[a]->parentWidget() != texts[b]->parentWidget()) continue;
            const QRect both = texts[a]->geometry().intersected(texts[b]->geometry());
            if (both.width() > kSlack && both.height() > kSlack)
                found << called(*texts[a], text_of(*texts[a])) + u" overlaps "_s +
                             called(*texts[b], text_of(*texts[b]));
        }
    }
    return found;
}

QList<QWidget*> visible_in(QWidget& window) {
    QList<QWidget*> all;
    for (QWidget* widget : window.findChildren<QWidget*>())
        if (widget->isVisible() && widget->window() == &window) all << widget;
    return all;
}

void add_cells(const QAbstractItemView& view, QStringList& texts) {
    for_each_cell(view, [&](const QModelIndex& index, const QRect&) {
        for (const int role : {int(Qt::DisplayRole), int(Qt::ToolTipRole), int(Qt::AccessibleTextRole)})
            texts << index.data(role).toString();
    });
}

QStringList texts_in(QWidget& window) {
    QStringList texts{window.windowTitle()};
    for (QWidget* widget : visible_in(window)) {
        texts << text_of(*widget) << widget->toolTip() << widget->accessibleName()
              << widget->accessibleDescription();
        if (const auto* line = qobject_cast<QLineEdit*>(widget)) texts << line->placeholderText();
        if (const auto* combo = qobject_cast<QComboBox*>(widget))
            for (int at = 0; at < combo->count(); ++at) texts << combo->itemText(at);
        if (const auto* bar = qobject_cast<QTabBar*>(widget))
            for (int at = 0; at < bar->count(); ++at) texts << bar->tabText(at);
        if (const auto* view = qobject_cast<QAbstractItemView*>(widget); view && !is_part(*widget))
            add_cells(*view, texts);
        if (const auto* header = qobject_cast<QHeaderView*>(widget); header && header->model())
            for (int at = 0; at < header->count(); ++at)
                texts << header->model()->headerData(at, header->orientation()).toString();
    }
    return texts;
}

}  // namespace

QStringList cut_texts(QWidget& window) {
    QStringList cut;
    QList<QWidget*> texts;
    for (QWidget* widget : visible_in(window)) {
        if (const QString why = why_field_cut(*widget); !why.isEmpty()) cut << why;
        if (const auto* bar = qobject_cast<QTabBar*>(widget)) cut << cut_tabs(*bar);
        if (const auto* header = qobject_cast<QHeaderView*>(widget)) cut << cut_headers(*header);
        if (const auto* view = qobject_cast<QAbstractItemView*>(widget); view && !is_part(*widget))
            cut << cut_cells(*view);
        if (const auto* area = qobject_cast<QScrollArea*>(widget);
            area && area->horizontalScrollBar()->maximum() > 0)
            cut << called(*area, area->accessibleName()) + u" scrolls sideways"_s;
        const QString text = text_of(*widget);
        if (text.isEmpty()) continue;
        texts << widget;
        if (const QString why = why_cut(*widget); !why.isEmpty())
            cut << called(*widget, text) + u": "_s + why;
        if (lies_outside(*widget, window)) cut << called(*widget, text) + u" lies outside its parent"_s;
    }
    return cut + overlaps(texts);
}

QStringList english_texts(QWidget& window, const QStringList& data) {
    static const QRegularExpression english(
        u"(?<![-\\w])(the|is|are|of|and|to|for|not|with|this|by|from)(?![-\\w])"_s);
    QStringList found;
    for (const QString& text : texts_in(window)) {
        QString words = plain(text);
        for (const QString& known : data) words.remove(known);
        if (english.match(words).hasMatch() && !found.contains(words)) found << words;
    }
    return found;
}

}  // namespace ringmaster
