#include "gui/runs/runs_table.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QScopedValueRollback>
#include <algorithm>
#include <array>

#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/look/sort_header.h"
#include "gui/runs/runs_model.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

/// Lists the columns that are shown at first, as far as there is room. They follow the name; the most
/// important come first.
constexpr RunsModel::Column kShownAtFirst[] = {
    RunsModel::State,           RunsModel::Progress,   RunsModel::LastLoss, RunsModel::Started,
    RunsModel::TokensPerSecond, RunsModel::PeakMemory, RunsModel::Duration, RunsModel::Overhead,
    RunsModel::MeshShape,       RunsModel::Model,      RunsModel::Length};
constexpr double kLeastNameEms = 10, kMostNameEms = 20;

/// Returns the usual width of a column's widest entry.
int widestOf(int column, const QFontMetrics& metrics) {
    switch (column) {
        case RunsModel::Name:
            return space(12);
        case RunsModel::State: {
            int widest = 0;
            for (int mark = 0; mark <= int(RunMark::Damaged); ++mark)
                widest = std::max(widest, metrics.horizontalAdvance(runWord(RunMark(mark))));
            return widest + space(2.4);
        }
        case RunsModel::Progress:
            return metrics.horizontalAdvance(RunsModel::tr("%1 of %2").arg(u"10,000"_s, u"10,000"_s)) +
                   space(0.8);
        case RunsModel::LastLoss:
        case RunsModel::BestLoss:
            return metrics.horizontalAdvance(show::loss(12.3456)) + space(0.9);
        case RunsModel::Started:
            return metrics.horizontalAdvance(show::time(1.7e9)) + space(1);
        case RunsModel::Duration:
            return metrics.horizontalAdvance(show::duration(59 * 60 + 59)) + space(1);
        case RunsModel::TokensPerSecond:
        case RunsModel::PeakMemory:
        case RunsModel::Estimate:
        case RunsModel::Overhead:
            return metrics.horizontalAdvance(show::bytes(int64_t(80.5 * (1 << 30)))) + space(0.9);
        case RunsModel::Model:
        case RunsModel::MeshShape:
        case RunsModel::Tags:
            return space(8);
        case RunsModel::EndReason:
            return space(18);
        default:
            return 0;
    }
}

}  // namespace

RunsTable::RunsTable(RunsFilter* filter, QSettings& settings, QWidget* parent)
    : QTableView(parent), m_filter(filter), m_settings(settings), m_columns(new QMenu(this)) {
    setObjectName(u"runsTable"_s);
    setAccessibleName(tr("Runs"));
    useSortHeader(this);
    setModel(filter);
    setProperty("flat", true);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::ExtendedSelection);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setShowGrid(false);
    setIconSize(QSize(space(0.95), space(0.95)));
    setWordWrap(false);
    setTabKeyNavigation(false);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(space(1.65));
    horizontalHeader()->setSectionsMovable(true);
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setContextMenuPolicy(Qt::CustomContextMenu);
    horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    setSortingEnabled(true);
    sortByColumn(RunsModel::Started, Qt::DescendingOrder);
    m_chosen = restoreColumns();
    fitColumns();
    connect(horizontalHeader(), &QHeaderView::customContextMenuRequested, this,
            [this](const QPoint& at) { columnsMenu()->popup(horizontalHeader()->mapToGlobal(at)); });
    for (auto changed : {&QHeaderView::sectionMoved, &QHeaderView::sectionResized})
        connect(horizontalHeader(), changed, this, &RunsTable::keepColumns);
    connect(horizontalHeader(), &QHeaderView::sortIndicatorChanged, this, &RunsTable::keepColumns);
    connect(this, &QTableView::doubleClicked, this,
            [this](const QModelIndex& index) { Q_EMIT opened(index.data(RunsModel::DirRole).toString()); });
    connect(selectionModel(), &QItemSelectionModel::selectionChanged, this, &RunsTable::choiceChanged);
    connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this, &RunsTable::choiceChanged);
}

bool RunsTable::restoreColumns() {
    const QByteArray kept = m_settings.value(u"runs/columns"_s).toByteArray();
    return !kept.isEmpty() && horizontalHeader()->restoreState(kept) &&
           horizontalHeader()->count() == RunsModel::ColumnCount && !isColumnHidden(RunsModel::Name);
}

/// Until the user chooses columns, shows those that there is room for; the name gets the rest.
void RunsTable::fitColumns() {
    if (m_chosen) return;
    const QScopedValueRollback fitting(m_fitting, true);
    const QFontMetrics metrics(font());
    const int room = space(1.5);  // room for margins and the sort indicator
    int left = viewport()->width() - space(kLeastNameEms);
    std::array<int, RunsModel::ColumnCount> columnWidths{};
    for (int column = 0; column < RunsModel::ColumnCount; ++column) {
        const QString title = RunsModel::title(RunsModel::Column(column));
        columnWidths[size_t(column)] =
            std::max(metrics.horizontalAdvance(title) + room, widestOf(column, metrics));
        setColumnWidth(column, columnWidths[size_t(column)]);
        setColumnHidden(column, column != RunsModel::Name);
    }
    for (const RunsModel::Column column : kShownAtFirst) {
        const int wanted = columnWidths[column];
        if (wanted > left) break;
        setColumnHidden(column, false);
        setColumnWidth(column, wanted);
        left -= wanted;
    }
    setColumnWidth(RunsModel::Name, std::min(space(kLeastNameEms) + left, space(kMostNameEms)));
}

void RunsTable::keepColumns() {
    if (m_fitting) return;
    m_chosen = true;
    m_settings.setValue(u"runs/columns"_s, horizontalHeader()->saveState());
}

QMenu* RunsTable::columnsMenu() {
    m_columns->clear();
    for (int column = 0; column < RunsModel::ColumnCount; ++column) {
        QAction* action = m_columns->addAction(RunsModel::title(RunsModel::Column(column)));
        action->setToolTip(RunsModel::explanation(RunsModel::Column(column)));
        action->setCheckable(true);
        action->setChecked(!isColumnHidden(column));
        action->setEnabled(column != RunsModel::Name);
        connect(action, &QAction::toggled, this, [this, column](bool shown) { showColumn(column, shown); });
    }
    return m_columns;
}

void RunsTable::showColumn(int column, bool shown) {
    setColumnHidden(column, !shown);
    if (shown && columnWidth(column) < space(2)) setColumnWidth(column, space(6));
    keepColumns();
}

QStringList RunsTable::chosenDirs() const {
    QModelIndexList rows = selectionModel()->selectedRows();
    std::sort(rows.begin(), rows.end());
    QStringList dirs;
    for (const QModelIndex& row : rows) dirs << row.data(RunsModel::DirRole).toString();
    return dirs;
}

QString RunsTable::currentDir() const {
    const QModelIndex current = currentIndex();
    if (current.isValid() && selectionModel()->isRowSelected(current.row()))
        return current.data(RunsModel::DirRole).toString();
    const QStringList dirs = chosenDirs();
    return dirs.isEmpty() ? QString() : dirs.first();
}

void RunsTable::choose(const QString& dir) {
    for (int row = 0; row < m_filter->rowCount(); ++row) {
        const QModelIndex index = m_filter->index(row, 0);
        if (index.data(RunsModel::DirRole).toString() != dir) continue;
        setCurrentIndex(index);
        selectRow(row);
        scrollTo(index);
        return;
    }
}

void RunsTable::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    fitColumns();
}

void RunsTable::keyPressEvent(QKeyEvent* event) {
    if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && !currentDir().isEmpty()) {
        Q_EMIT opened(currentDir());
        return;
    }
    if (event->key() == Qt::Key_Delete) {
        Q_EMIT deleteWanted();
        return;
    }
    QTableView::keyPressEvent(event);
}

}  // namespace ringmaster
