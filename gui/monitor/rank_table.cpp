#include "gui/monitor/rank_table.h"

#include <QApplication>
#include <QHeaderView>
#include <QPainter>
#include <QPalette>
#include <QPixmap>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "gui/look/look.h"
#include "gui/look/numbers.h"

namespace ringmaster {

namespace {

QPixmap dot(const QColor& colour) {
    const int size = space(0.6);
    const double ratio = qApp->devicePixelRatio();
    QPixmap picture((QSizeF(size, size) * ratio).toSize());
    picture.setDevicePixelRatio(ratio);
    picture.fill(Qt::transparent);
    QPainter painter(&picture);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    painter.drawEllipse(QRectF(0.1 * size, 0.1 * size, 0.8 * size, 0.8 * size));
    return picture;
}

bool isText(int column) {
    return column == RankTableModel::Host || column == RankTableModel::Device ||
           column == RankTableModel::MeshPlace;
}

/// Returns the rank's position along each mesh axis that has several ranks, counted from 0.
QString placeText(const RankRow& row) {
    QStringList parts;
    //: position of a rank among the groups that each hold a copy of the weights
    if (row.mesh.dp_replicate > 1) parts << RankTableModel::tr("replica %1").arg(row.place.dp_replicate);
    //: position of a rank among those that each hold a part of the weights
    const QString shard = RankTableModel::tr("shard %1");
    //: position of a rank among those that each hold all weights
    const QString whole = RankTableModel::tr("data parallel %1");
    if (row.mesh.dp_shard > 1) parts << (row.zero_stage > 0 ? shard : whole).arg(row.place.dp_shard);
    //: position of a rank in the ring that passes keys and values round
    if (row.mesh.ring > 1) parts << RankTableModel::tr("ring %1").arg(row.place.ring);
    //: position of a rank among those that split the heads; Ulysses is a name
    if (row.mesh.ulysses > 1) parts << RankTableModel::tr("ulysses %1").arg(row.place.ulysses);
    return parts.join(u' ');
}

QVariant known(double value) {
    return std::isnan(value) ? QVariant() : QVariant(value);
}

}  // namespace

void RankTableModel::setRows(const std::vector<RankRow>& rows, double now) {
    m_now = now;
    const auto before = int(m_rows.size()), after = int(rows.size());
    if (after < before) {
        beginRemoveRows({}, after, before - 1);
        m_rows.resize(size_t(after));
        endRemoveRows();
    }
    if (after > before) {
        beginInsertRows({}, before, after - 1);
        m_rows = rows;
        endInsertRows();
    }
    m_rows = rows;
    const int changed = std::min(before, after);
    if (changed > 0) Q_EMIT dataChanged(index(0, 0), index(changed - 1, Columns - 1));
}

int RankTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : int(m_rows.size());
}

int RankTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : int(Columns);
}

QString RankTableModel::text(const RankRow& row, int column) const {
    switch (column) {
        case Rank:
            return QString::number(row.rank);
        case Host:
            return QString::fromStdString(row.host);
        case Device:
            return QString::fromStdString(row.device);
        case MeshPlace:
            return placeText(row);
        case Step:
            return row.step ? show::count(*row.step) : show::unknown();
        case Loss:
            return show::loss(row.loss);
        case StepSeconds:
            return show::duration(row.step_s);
        case Wait:
            return show::duration(row.wait_s);
        case Comm:
            return show::duration(row.comm_s);
        case Exposed:
            return show::percent(row.exposed);
        case Memory:
            return row.peak_bytes > 0 ? show::bytes(row.peak_bytes) : show::unknown();
        case Heard:
            return row.last_heard > 0 ? show::age(m_now - row.last_heard) : show::unknown();
        default:
            return {};
    }
}

QVariant RankTableModel::key(const RankRow& row, int column) const {
    switch (column) {
        case Rank:
            return row.rank;
        case Step:
            return row.step ? QVariant(qlonglong(*row.step)) : QVariant();
        case Loss:
            return known(row.loss);
        case StepSeconds:
            return known(row.step_s);
        case Wait:
            return known(row.wait_s);
        case Comm:
            return known(row.comm_s);
        case Exposed:
            return known(row.exposed);
        case Memory:
            return row.peak_bytes > 0 ? QVariant(qlonglong(row.peak_bytes)) : QVariant();
        case Heard:
            return row.last_heard > 0 ? QVariant(-row.last_heard) : QVariant();
        default:
            return text(row, column);
    }
}

QVariant RankTableModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const RankRow& row = m_rows[size_t(index.row())];
    switch (role) {
        case Qt::DisplayRole:
            return text(row, index.column());
        case Qt::DecorationRole:
            if (index.column() != Rank) return {};
            return dot(rankColour(row.rank, coloursOf(QApplication::palette())));
        case Qt::TextAlignmentRole:
            if (index.column() == Rank || isText(index.column()))
                return int(Qt::AlignLeft | Qt::AlignVCenter);
            return int(Qt::AlignRight | Qt::AlignVCenter);
        case Qt::ToolTipRole:
            if (index.column() != Memory || row.expected_bytes <= 0) return {};
            return tr("%1 at the peak; the plan expects %2")
                .arg(text(row, Memory), show::bytes(row.expected_bytes));
        case SortRole:
            return key(row, index.column());
        case RankRole:
            return row.rank;
        default:
            return {};
    }
}

QVariant RankTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= Columns) return {};
    if (role == Qt::TextAlignmentRole)
        return int((section == Rank || isText(section) ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    if (role == Qt::DisplayRole) {
        const QString names[Columns] = {
            tr("Rank"), tr("Host"), tr("Device"),
            //: column: a rank's coordinates in the mesh
            tr("Mesh"), tr("Step"), tr("Loss"),
            //: column: seconds per step
            tr("Step time"),
            //: column: time per step in which the rank waits for others
            tr("Wait"),
            //: column: communication time per step
            tr("Comm."),
            //: column: communication that computation does not hide, as a share of the step
            tr("Exposed"), tr("Memory"),
            //: column: time since the rank last wrote something
            tr("Heard")};
        return names[section];
    }
    if (role == Qt::ToolTipRole) {
        const QString what[Columns] = {
            tr("Number of the rank"),
            tr("Host it runs on"),
            tr("Device it trains on"),
            tr("Its place in the mesh"),
            tr("Last step that it finished"),
            tr("Mean loss over its own labels"),
            tr("Time of a step, median of the last 10"),
            tr("Exposed communication of a step: it waits for others, or for the network"),
            tr("Time in which its collectives were in flight"),
            tr("Exposed communication as a share of the step"),
            tr("Tensors at the highest peak of its steps"),
            tr("When something was last heard of it")};
        return what[section];
    }
    return {};
}

bool RankSorter::lessThan(const QModelIndex& left, const QModelIndex& right) const {
    const QVariant a = left.data(sortRole()), b = right.data(sortRole());
    if (a.isValid() != b.isValid()) return a.isValid() == (sortOrder() == Qt::AscendingOrder);
    if (a.typeId() == QMetaType::QString) return a.toString().localeAwareCompare(b.toString()) < 0;
    return a.toDouble() < b.toDouble();
}

namespace {

/// Returns, for each column, the width that shows all of its texts; 0 for a hidden column.
std::vector<int> widthsOf(const QTableView& table) {
    std::vector<int> widths(RankTableModel::Columns, 0);
    for (int column = 0; column < RankTableModel::Columns; ++column) {
        if (table.isColumnHidden(column)) continue;
        const int texts = static_cast<const QAbstractItemView&>(table).sizeHintForColumn(column);
        widths[size_t(column)] = std::max(texts, table.horizontalHeader()->sectionSizeHint(column));
    }
    return widths;
}

}  // namespace

void fitRankColumns(QTableView& table, const std::vector<RankRow>& rows) {
    const auto same = [&rows](auto of) {
        return std::all_of(rows.begin(), rows.end(),
                           [&](const RankRow& row) { return of(row) == of(rows[0]); });
    };
    table.setColumnHidden(
        RankTableModel::MeshPlace,
        std::all_of(rows.begin(), rows.end(), [](const RankRow& row) { return row.mesh.ranks() == 1; }));
    for (const auto column :
         {RankTableModel::Device, RankTableModel::Host, RankTableModel::Heard, RankTableModel::Comm})
        table.setColumnHidden(column, false);
    std::vector<int> widths = widthsOf(table);
    const auto left = [&] {
        return table.viewport()->width() - std::accumulate(widths.begin(), widths.end(), 0);
    };
    const auto make_room = [&](RankTableModel::Column column, bool is_same) {
        if (left() >= 0 || !is_same) return;
        table.setColumnHidden(column, true);
        widths[column] = 0;
    };
    make_room(RankTableModel::Device, same([](const RankRow& row) { return row.device; }));
    make_room(RankTableModel::Host, same([](const RankRow& row) { return row.host; }));
    make_room(RankTableModel::Heard, true);
    make_room(RankTableModel::Comm, true);
    const auto visible = std::count_if(widths.begin(), widths.end(), [](int width) { return width > 0; });
    const int each = std::max(0, left()) / std::max(int(visible), 1);
    for (int column = 0; column < RankTableModel::Columns; ++column)
        if (widths[size_t(column)] > 0) table.setColumnWidth(column, widths[size_t(column)] + each);
}

}  // namespace ringmaster
