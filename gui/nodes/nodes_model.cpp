#include "gui/nodes/nodes_model.h"

#include "engine/events/event_log.h"
#include "gui/nodes/node_words.h"

namespace ringmaster {

NodesModel::NodesModel(NodeChecks& checks, QObject* parent) : QAbstractTableModel(parent), m_checks(checks) {
    connect(&checks, &NodeChecks::aboutToAdd, this, [this](int row) { beginInsertRows({}, row, row); });
    connect(&checks, &NodeChecks::added, this, [this] { endInsertRows(); });
    connect(&checks, &NodeChecks::aboutToRemove, this, [this](int row) { beginRemoveRows({}, row, row); });
    connect(&checks, &NodeChecks::removed, this, [this] { endRemoveRows(); });
    connect(&checks, &NodeChecks::changed, this,
            [this](int row) { Q_EMIT dataChanged(index(row, 0), index(row, Columns - 1)); });
}

int NodesModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : m_checks.count();
}

int NodesModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : int(Columns);
}

QVariant NodesModel::textOf(int row, int column) const {
    const SavedTarget& entry = m_checks.entry(row);
    switch (column) {
        case Name:
            return targetName(entry.target);
        case State:
            return lookOf(entry, m_checks.phase(row)).word;
        case Devices:
            return deviceWords(entry);
        case Memory:
            return memoryWords(entry);
        case Checked:
            return ageWords(entry, unix_now());
        default:
            break;
    }
    // If the target is ready, the other columns already say everything.
    const bool is_ready =
        m_checks.phase(row) == CheckPhase::Idle && entry.last && entry.last->node.state == NodeVerdict::Ready;
    return is_ready ? QString() : messageWords(m_checks, row).section(QChar(u'\n'), 0, 0);
}

bool NodesModel::hasMessages() const {
    for (int row = 0; row < rowCount(); ++row)
        if (!textOf(row, Message).toString().isEmpty()) return true;
    return false;
}

QVariant NodesModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const NodeLook look = lookOf(m_checks.entry(index.row()), m_checks.phase(index.row()));
    if (role == Qt::DisplayRole) return textOf(index.row(), index.column());
    if (role == Qt::ToolTipRole)
        return index.column() == Message ? messageWords(m_checks, index.row())
                                         : textOf(index.row(), index.column()).toString();
    if (role == Qt::DecorationRole && index.column() == State) return runIcon(look.mark, m_colours);
    if (role == Qt::ForegroundRole && index.column() == State && look.tone == Tone::Error)
        return m_colours.error;
    if (role == Qt::ForegroundRole && index.column() >= Checked) return m_colours.muted;
    return {};
}

QVariant NodesModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
    switch (section) {
        case Name:
            return tr("Target");
        case State:
            return tr("State");
        case Devices:
            return tr("Devices");
        case Memory:
            return tr("Memory");
        case Checked:
            //: column: time since the check
            return tr("Checked");
        default:
            return tr("What was found");
    }
}

void NodesModel::setColours(const Colours& colours) {
    m_colours = colours;
    if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, Columns - 1));
}

void NodesModel::tick() {
    if (rowCount() > 0) Q_EMIT dataChanged(index(0, Checked), index(rowCount() - 1, Checked));
}

}  // namespace ringmaster
