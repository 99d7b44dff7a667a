#include "gui/runs/runs_model.h"

#include <QApplication>
#include <QPalette>
#include <algorithm>
#include <set>

#include "engine/events/event_log.h"
#include "gui/look/numbers.h"
#include "gui/session/finding_words.h"
#include "gui/session/mesh_words.h"
#include "gui/session/reason_words.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

template <class T>
QVariant numberOrNone(const std::optional<T>& value) {
    return value ? QVariant(double(*value)) : QVariant();
}

/// Returns true for figures, which are right-aligned so that rows can be compared.
bool isFigure(RunsModel::Column column) {
    return (column >= RunsModel::Progress && column <= RunsModel::Started) || column == RunsModel::Length ||
           column == RunsModel::Batch;
}

QString qtPath(const RunRow& row) {
    return QString::fromStdString(row.dir.string());
}

}  // namespace

QString whyOf(const RunRow& row) {
    if (!row.problem.empty()) return error_of(row.problem_code, row.problem);
    if (!row.is_cut_short()) return reason_of(row.state);
    return cutShortWords(row.measured.step.value_or(0));
}

QString RunsModel::title(Column column) {
    switch (column) {
        case Name:
            return tr("Run");
        case State:
            return tr("State");
        case Progress:
            return tr("Step");
        case LastLoss:
            return tr("Loss");
        case BestLoss:
            return tr("Best loss");
        case TokensPerSecond:
            return tr("Tokens/s");
        case PeakMemory:
            return tr("Peak memory");
        case Estimate:
            return tr("Estimated");
        case Overhead:
            return tr("Exposed");
        case Model:
            return tr("Model");
        case MeshShape:
            return tr("Mesh");
        case Length:
            return tr("Length");
        case Batch:
            return tr("Batch");
        case Duration:
            return tr("Duration");
        case Started:
            return tr("Started");
        case Tags:
            return tr("Tags");
        case EndReason:
            return tr("Reason");
        case ColumnCount:
            break;
    }
    return {};
}

QString RunsModel::explanation(Column column) {
    switch (column) {
        case Progress:
            return tr("Completed optimizer steps, and how many there will be");
        case LastLoss:
            return tr("Loss of the last step, over the whole global batch");
        case BestLoss:
            return tr("Lowest loss of a step; in a long run the lowest of those looked at");
        case TokensPerSecond:
            return tr("Tokens per second over the steps looked at, saving and evaluation not counted");
        case PeakMemory:
            return tr("Highest memory among the steps looked at, on the fullest rank");
        case Estimate:
            return tr(
                "Tensors of the fullest rank as the plan expected them, without what the runtime takes");
        case Overhead:
            return tr(
                "Exposed communication: the share of a step that computation did not hide. Mean of the "
                "ranks; "
                "in a long run, over their last steps");
        case MeshShape:
            return tr("How the ranks are arranged");
        case Length:
            return tr("Tokens of one sequence");
        case Batch:
            return tr("Rows of one optimizer step, over all ranks");
        case Duration:
            return tr("How long its attempts ran, all together");
        default:
            return {};
    }
}

void RunsModel::setRows(const std::vector<RunRow>& rows) {
    std::set<std::string> wanted;
    for (const RunRow& row : rows) wanted.insert(row.dir.string());
    for (int index = int(m_rows.size()) - 1; index >= 0; --index) {
        if (wanted.contains(m_rows[size_t(index)].dir.string())) continue;
        beginRemoveRows({}, index, index);
        m_rows.erase(m_rows.begin() + index);
        endRemoveRows();
    }
    std::vector<RunRow> fresh;
    for (const RunRow& row : rows) {
        const int index = rowOf(qtPath(row));
        if (index < 0) {
            fresh.push_back(row);
            continue;
        }
        m_rows[size_t(index)] = row;
    }
    if (!m_rows.empty()) Q_EMIT dataChanged(index(0, 0), index(int(m_rows.size()) - 1, ColumnCount - 1));
    if (fresh.empty()) return;
    beginInsertRows({}, int(m_rows.size()), int(m_rows.size() + fresh.size()) - 1);
    m_rows.insert(m_rows.end(), fresh.begin(), fresh.end());
    endInsertRows();
}

int RunsModel::rowOf(const QString& dir) const {
    const auto found =
        std::find_if(m_rows.begin(), m_rows.end(), [&](const RunRow& row) { return qtPath(row) == dir; });
    return found == m_rows.end() ? -1 : int(found - m_rows.begin());
}

void RunsModel::lookChanged() {
    if (!m_rows.empty())
        Q_EMIT dataChanged(index(0, State), index(int(m_rows.size()) - 1, State), {Qt::DecorationRole});
}

int RunsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : int(m_rows.size());
}

int RunsModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : int(ColumnCount);
}

QString RunsModel::text(const RunRow& row, Column column) const {
    const auto& plan = row.planned;
    const auto& measured = row.measured;
    const auto with = [](const auto& value, auto form) { return value ? form(*value) : show::unknown(); };
    switch (column) {
        case Name:
            return QString::fromStdString(row.name);
        case State:
            return runWord(runMark(row));
        case Progress:
            if (!measured.step) return show::unknown();
            return show::progress(*measured.step, plan.total_steps);
        case LastLoss:
            return with(measured.last_loss, show::loss);
        case BestLoss:
            return with(measured.best_loss, show::loss);
        case TokensPerSecond:
            return with(measured.tokens_per_s, show::rate);
        case PeakMemory:
            return with(measured.peak_memory_bytes, [&](int64_t bytes) {
                return show::about(show::bytes(bytes), measured.peak_is_sampled);
            });
        case Estimate:
            return with(plan.memory_bytes, show::bytes);
        case Overhead:
            return with(measured.overhead, show::percent);
        case Model:
            return plan.model.empty() ? show::unknown() : QString::fromStdString(plan.model);
        case MeshShape:
            return plan.mesh ? mesh_words(*plan.mesh, plan.zero_stage) : show::unknown();
        case Length:
            return with(plan.sequence_len, show::count);
        case Batch:
            return with(plan.global_batch, show::count);
        case Duration:
            return with(row.duration_s(row.read_at), show::duration);
        case Started:
            return show::time(row.state.started);
        case Tags:
            return QString::fromStdString(join_tags(row.notes.tags));
        case EndReason:
            return whyOf(row).section(u'\n', 0, 0);
        case ColumnCount:
            break;
    }
    return {};
}

QVariant RunsModel::sortKey(const RunRow& row, Column column) const {
    switch (column) {
        case Progress:
            return numberOrNone(row.measured.step);
        case LastLoss:
            return numberOrNone(row.measured.last_loss);
        case BestLoss:
            return numberOrNone(row.measured.best_loss);
        case TokensPerSecond:
            return numberOrNone(row.measured.tokens_per_s);
        case PeakMemory:
            return numberOrNone(row.measured.peak_memory_bytes);
        case Estimate:
            return numberOrNone(row.planned.memory_bytes);
        case Overhead:
            return numberOrNone(row.measured.overhead);
        case Length:
            return numberOrNone(row.planned.sequence_len);
        case Batch:
            return numberOrNone(row.planned.global_batch);
        case Duration:
            return numberOrNone(row.duration_s(row.read_at));
        case Started:
            return row.state.started > 0 ? QVariant(row.state.started) : QVariant();
        case State:
            return int(runMark(row));
        default:
            return text(row, column);
    }
}

QVariant RunsModel::spoken(const RunRow& row, Column column) const {
    return column == Name ? QString(text(row, Name) + u", "_s + text(row, State))
                          : QString(title(column) + u": "_s + text(row, column));
}

QString RunsModel::tip(const RunRow& row, Column column) const {
    if (column == Name) return qtPath(row);
    if (column == EndReason || column == State) return whyOf(row);
    if (column == BestLoss && row.measured.best_is_sampled)
        return tr("The run is long: the lowest of the steps looked at");
    return explanation(column);
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) return {};
    const RunRow& row = m_rows[size_t(index.row())];
    const auto column = Column(index.column());
    switch (role) {
        case Qt::DisplayRole:
            return text(row, column);
        case Qt::DecorationRole:
            return column == State ? QVariant(runIcon(runMark(row), coloursOf(QApplication::palette())))
                                   : QVariant();
        case Qt::ToolTipRole:
            return tip(row, column);
        case Qt::AccessibleTextRole:
            return spoken(row, column);
        case Qt::TextAlignmentRole:
            return int(Qt::AlignVCenter | (isFigure(column) ? Qt::AlignRight : Qt::AlignLeft));
        case SortRole:
            return sortKey(row, column);
        case DirRole:
            return qtPath(row);
        case SearchRole:
            return QString(text(row, Name) + u'\n' + text(row, State) + u'\n' + text(row, Model) + u'\n' +
                           text(row, MeshShape) + u'\n' + text(row, Tags) + u'\n' +
                           QString::fromStdString(row.notes.text) + u'\n' + text(row, EndReason));
        default:
            return {};
    }
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
    if (role == Qt::DisplayRole) return title(Column(section));
    if (role == Qt::ToolTipRole) return explanation(Column(section));
    if (role == Qt::TextAlignmentRole)
        return int(Qt::AlignVCenter | (isFigure(Column(section)) ? Qt::AlignRight : Qt::AlignLeft));
    return {};
}

RunsFilter::RunsFilter(QObject* parent) : QSortFilterProxyModel(parent) {
    setSortRole(RunsModel::SortRole);
    setDynamicSortFilter(true);
    setSortCaseSensitivity(Qt::CaseInsensitive);
}

void RunsFilter::setWords(const QString& text) {
    m_words = text.split(u' ', Qt::SkipEmptyParts);
    invalidateFilter();
}

bool RunsFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    const QString whole = sourceModel()->index(row, 0, parent).data(RunsModel::SearchRole).toString();
    return std::all_of(m_words.begin(), m_words.end(),
                       [&](const QString& word) { return whole.contains(word, Qt::CaseInsensitive); });
}

bool RunsFilter::lessThan(const QModelIndex& left, const QModelIndex& right) const {
    const QVariant a = left.data(RunsModel::SortRole), b = right.data(RunsModel::SortRole);
    // Unknown values come last in both sort orders.
    if (a.isValid() != b.isValid()) return (sortOrder() == Qt::AscendingOrder) == a.isValid();
    return QSortFilterProxyModel::lessThan(left, right);
}

}  // namespace ringmaster
