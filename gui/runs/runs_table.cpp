#include "gui/runs/runs_table.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QScopedValueRollback>
#include <algorithm>
#include <iterator>

#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/look/sort_header.h"
#include "gui/runs/runs_model.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

/// Lists the columns that are shown at first. They follow the name; the most important come first.
constexpr RunsModel::Column kShownAtFirst[] = {
    RunsModel::State,           RunsModel::Progress,   RunsModel::LastLoss, RunsModel::Started,
    RunsModel::TokensPerSecond, RunsModel::PeakMemory, RunsModel::Duration, RunsModel::Overhead,
    RunsModel::MeshShape,       RunsModel::Model,      RunsModel::Length};
constexpr size_t kAlwaysShown = 3;  ///< number of these columns that are shown even if they do not fit
constexpr double kLeastNameEms = 7, kMostNameEms = 20;

/// Returns the maximum width of a column of text. Columns of figures and states have no limit.
int mostOf(int column) {
    switch (column) {
        case RunsModel::Name:
            return space(kMostNameEms);
        case RunsModel::Model:
        case RunsModel::MeshShape:
        case RunsModel::Tags:
            return space(8);
        case RunsModel::EndReason:
            return space(18);
        default:
            return QWIDGETSIZE_MAX;
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
    for (auto changed : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved})
        connect(filter, changed, this, &RunsTable::fitColumns);
    connect(filter, &QAbstractItemModel::dataChanged, this, &RunsTable::fitColumns);
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

/// Returns the width that shows a column's title and the texts of all rows, within limits.
int RunsTable::wide(int column) const {
    const QFontMetrics metrics(font());
    int widest = 0;
    for (int row = 0; row < m_filter->rowCount(); ++row)
        widest = std::max(widest, metrics.horizontalAdvance(m_filter->index(row, column).data().toString()));
    const QString title = RunsModel::title(RunsModel::Column(column));
    const int beside = space(column == RunsModel::State ? 2.4 : 1);  // the icon and the margins
    // A title needs room for margins and the sort indicator.
    return std::max(std::min(widest + beside, mostOf(column)), metrics.horizontalAdvance(title) + space(1.5));
}

/// Until the user chooses columns, shows the most important columns, the column that sorts the table, and
/// those of the others that fit. The name gets the remaining width. If there is too little, the name becomes
/// narrower, and then the table scrolls.
void RunsTable::fitColumns() {
    if (m_chosen) return;
    const QScopedValueRollback fitting(m_fitting, true);
    const int name = wide(RunsModel::Name);
    int left = viewport()->width() - name;
    for (int column = 0; column < RunsModel::ColumnCount; ++column)
        setColumnHidden(column, column != RunsModel::Name);
    const auto show = [&](int column, bool always) {
        const int wanted = wide(column);
        if (!isColumnHidden(column) || (!always && wanted > left)) return;
        setColumnHidden(column, false);
        setColumnWidth(column, wanted);
        left -= wanted;
    };
    show(horizontalHeader()->sortIndicatorSection(), true);
    for (size_t place = 0; place < std::size(kShownAtFirst); ++place)
        show(kShownAtFirst[place], place < kAlwaysShown);
    setColumnWidth(RunsModel::Name, std::max(std::min(name, space(kLeastNameEms)), name + left));
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
