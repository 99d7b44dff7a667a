#include "gui/start/recent_runs.h"

#include <QApplication>
#include <QKeyEvent>
#include <QPainter>
#include <QStyledItemDelegate>
#include <algorithm>

#include "engine/events/event_log.h"
#include "gui/look/numbers.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr double kRowRoom = 0.75, kGapEms = 0.4;

/// Returns text such as "completed 3 min ago, step 384, loss 1.7412".
QString secondLine(const RunRow& row, RunMark mark) {
    QStringList parts{runWord(mark)};
    const auto& measured = row.measured;
    if (measured.step && row.planned.total_steps && !is_over(row.state.state))
        parts << RecentRunsModel::tr("step %1 of %2")
                     .arg(show::count(*measured.step), show::count(*row.planned.total_steps));
    else if (measured.step)
        parts << RecentRunsModel::tr("step %1").arg(show::count(*measured.step));
    if (measured.last_loss) parts << RecentRunsModel::tr("loss %1").arg(show::loss(*measured.last_loss));
    const bool has_ended = is_over(row.state.state) && row.state.ended > 0;
    const double when = has_ended               ? row.state.ended
                        : row.state.started > 0 ? row.state.started
                                                : row.state.created;
    const double seconds = unix_now() - when;
    if (when > 0 && row.state.state == RunPhase::Queued) {
        //: a run waits in the queue; %1 is a duration
        parts.front() = RecentRunsModel::tr("waiting for %1").arg(show::duration(std::max(0.0, seconds)));
    } else if (when > 0 && !row.is_live()) {
        const QString moment = seconds < 86400 ? show::age(seconds) : show::date(when);
        //: %1 is a run's last state, %2 is a date, or text such as "3 min ago"
        if (has_ended)
            parts.front() = RecentRunsModel::tr("%1 %2").arg(parts.front(), moment);
        else
            parts << moment;
    }
    return show::listed(parts);
}

class TwoLineDelegate : public QStyledItemDelegate {
  public:
    using QStyledItemDelegate::QStyledItemDelegate;

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const override {
        return {space(10),
                option.fontMetrics.height() + QFontMetrics(fontOf(Type::Small)).height() + space(kRowRoom)};
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        // Uses the application's palette, because with the view's palette a chosen entry would have the
        // selection's colours.
        const Colours c = coloursOf(QApplication::palette());
        const QRect box = option.rect;
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        const bool chosen = option.state & QStyle::State_Selected;
        if (chosen || option.state & QStyle::State_MouseOver) {
            painter->setPen(Qt::NoPen);
            painter->setBrush(chosen ? mixed(c.card, c.accent, c.dark ? 0.2 : 0.12) : c.sunken);
            painter->drawRoundedRect(box, space(0.4), space(0.4));
        }
        int left = box.left();
        const QVariant mark = index.data(RecentRunsModel::MarkRole);
        const int lineHeight = option.fontMetrics.height(), top = box.top() + space(0.35);
        if (mark.isValid()) {
            paintRunMark(*painter, QRectF(left, top, lineHeight, lineHeight), RunMark(mark.toInt()), c);
            left += lineHeight + space(kGapEms);
        }
        const int width = roomOfText(box.width(), mark.isValid(), option.fontMetrics);
        QFont strong = option.font;
        strong.setWeight(QFont::DemiBold);
        painter->setFont(strong);
        painter->setPen(c.text);
        const QFontMetrics metrics(strong);
        painter->drawText(QRect(left, top, width, lineHeight), Qt::AlignVCenter,
                          metrics.elidedText(index.data().toString(), Qt::ElideMiddle, width));
        painter->setFont(fontOf(Type::Small));
        painter->setPen(c.muted);
        const QFontMetrics small(fontOf(Type::Small));
        painter->drawText(
            QRect(left, top + lineHeight, width, small.height()), Qt::AlignVCenter,
            small.elidedText(index.data(RecentRunsModel::SecondLineRole).toString(), Qt::ElideRight, width));
        painter->restore();
    }
};

}  // namespace

RecentRunsModel::Entry RecentRunsModel::entryOf(const RunRow& row) {
    Entry entry;
    entry.name = QString::fromStdString(row.name);
    entry.dir = QString::fromStdString(row.dir.string());
    entry.mark = runMark(row);
    entry.live = row.is_live();
    entry.second = secondLine(row, entry.mark);
    return entry;
}

void RecentRunsModel::setRows(const std::vector<RunRow>& rows, size_t most) {
    std::vector<Entry> entries;
    for (const RunRow& row : rows) entries.push_back(entryOf(row));
    std::stable_partition(entries.begin(), entries.end(), [](const Entry& entry) { return entry.live; });
    if (entries.size() > most) entries.resize(most);
    const auto same_run = [](const Entry& a, const Entry& b) { return a.dir == b.dir; };
    if (std::equal(entries.begin(), entries.end(), m_entries.begin(), m_entries.end(), same_run)) {
        for (size_t row = 0; row < entries.size(); ++row) {
            if (entries[row] == m_entries[row]) continue;
            m_entries[row] = entries[row];
            Q_EMIT dataChanged(index(int(row)), index(int(row)));
        }
        return;
    }
    beginResetModel();
    m_entries = std::move(entries);
    endResetModel();
}

int RecentRunsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : int(m_entries.size());
}

QVariant RecentRunsModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) return {};
    const Entry& entry = m_entries[size_t(index.row())];
    switch (role) {
        case Qt::DisplayRole:
            return entry.name;
        case Qt::ToolTipRole:
            return QString(entry.second + u'\n' + entry.dir);
        case DirRole:
            return entry.dir;
        case Qt::AccessibleTextRole:
            return show::listed({entry.name, entry.second});
        case MarkRole:
            return int(entry.mark);
        case SecondLineRole:
            return entry.second;
        case LiveRole:
            return entry.live;
        default:
            return {};
    }
}

int roomOfText(int row_width, bool has_mark, const QFontMetrics& metrics) {
    const int mark = has_mark ? metrics.height() + space(kGapEms) : 0;
    return row_width - 1 - mark - space(kGapEms);
}

TwoLineList::TwoLineList(QWidget* parent) : QListView(parent) {
    setItemDelegate(new TwoLineDelegate(this));
    setProperty("flat", true);
    setMouseTracking(true);
    setUniformItemSizes(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setTextElideMode(Qt::ElideMiddle);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    connect(this, &QListView::doubleClicked, this,
            [this](const QModelIndex& index) { Q_EMIT chosen(index.data(Qt::UserRole).toString()); });
}

int TwoLineList::rowHeight() const {
    return fontMetrics().height() + QFontMetrics(fontOf(Type::Small)).height() + space(kRowRoom);
}

QSize TwoLineList::sizeHint() const {
    const int rows = model() == nullptr ? 0 : model()->rowCount();
    const int each = rows > 0 ? sizeHintForRow(0) : 0;
    return {space(14), rows * each + 2 * frameWidth()};
}

void TwoLineList::keyPressEvent(QKeyEvent* event) {
    if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && currentIndex().isValid()) {
        Q_EMIT chosen(currentIndex().data(Qt::UserRole).toString());
        return;
    }
    QListView::keyPressEvent(event);
}

}  // namespace ringmaster
