#include "gui/queue/queue_table.h"

#include <QApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QPainter>
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/look/run_mark.h"
#include "gui/session/reason_words.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kLeastRows = 6;  ///< minimum height of the table in rows, including its header and scroll bar

/// Says where a run trains: "here", its hosts, or its partition of Slurm.
QString place_words(const QueuePlace& place) {
    if (!place.partition) {
        QStringList hosts;
        for (const std::string& host : place.hosts) hosts << QString::fromStdString(host);
        //: where a run of the queue trains: on this machine
        return hosts.isEmpty() ? QueueTable::tr("here") : show::listed(hosts);
    }
    const QString named = QString::fromStdString(*place.partition);
    // The name of a login node may contain a colon and a port; that of a partition has no colon.
    const qsizetype colon = named.lastIndexOf(u':');
    QStringList parts{u"Slurm"_s, named.left(std::max<qsizetype>(colon, 0)), named.mid(colon + 1)};
    parts.removeAll({});
    return parts.join(u" \u00B7 "_s);
}

}  // namespace

QString inTwoLines(const QString& key) {
    qsizetype best = -1;
    const auto off = [&key](qsizetype at) { return std::abs(2 * at + 1 - key.size()); };
    for (qsizetype at = key.indexOf(u'_'); at >= 0; at = key.indexOf(u'_', at + 1))
        if (best < 0 || off(at) < off(best)) best = at;
    return best < 0 ? key : key.left(best + 1) + u'\n' + key.mid(best + 1);
}

QueueTable::QueueTable(QWidget* parent) : QTableWidget(parent) {
    setObjectName(u"queueTable"_s);
    setAccessibleName(tr("Runs of the queue, in their order"));
    setProperty("flat", true);
    setShowGrid(false);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setTabKeyNavigation(false);
    setWordWrap(false);
    // The elided part is in the middle, because names of a sweep differ at their end.
    setTextElideMode(Qt::ElideMiddle);
    setIconSize({space(0.95), space(0.95)});
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(space(1.65));
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setStretchLastSection(true);
    horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    connect(this, &QTableWidget::cellDoubleClicked, this, [this] { Q_EMIT opened(chosenDir()); });
}

void QueueTable::setRuns(const std::vector<std::pair<QueuedRun, RunSummary>>& runs,
                         const std::vector<QueuePlace>& places, const std::vector<std::string>& keys) {
    if (m_gap >= 0) return;  // the user drags a row
    const QString chosen = chosenDir();
    QStringList titles{u"#"_s, tr("Name"), tr("Where"), tr("State"), tr("Step"), tr("Loss")};
    for (const std::string& key : keys) titles << QString::fromStdString(key);
    setColumnCount(int(titles.size()));
    setHorizontalHeaderLabels(titles);
    for (int column = FixedColumns; column < columnCount(); ++column)
        for (const int role : {int(Qt::ToolTipRole), int(Qt::AccessibleTextRole)})
            horizontalHeaderItem(column)->setData(role, titles[column]);
    setRowCount(int(runs.size()));
    setMinimumHeight(std::min(kLeastRows, rowCount() + 2) * verticalHeader()->defaultSectionSize());
    for (int row = 0; row < rowCount(); ++row) {
        const auto& [queued, run] = runs[size_t(row)];
        fillRow(row, queued, run, keys);
        auto* where = new QTableWidgetItem(place_words(places[size_t(row)]));
        where->setToolTip(where->text());
        item(row, Name)->setToolTip(item(row, Name)->toolTip() + u'\n' + where->text());
        setItem(row, Where, where);
        if (item(row, Place)->data(Qt::UserRole).toString() == chosen) selectRow(row);
    }
    if (currentRow() < 0 && rowCount() > 0) selectRow(0);
    resizeColumnsToContents();
    fitName();
}

/// Returns the minimum width of a key's column whose full width is `wide`.
int QueueTable::shortest(int column, int wide) const {
    return std::min(wide, std::max(sizeHintForColumn(column), space(6.5)));
}

/// Makes a key's column, which is `wide`, narrower by up to `less`, and returns by how much. The values still
/// fit; the lines of the title are elided.
int QueueTable::shorten(int column, int wide, int less) {
    less = std::clamp(less, 0, wide - shortest(column, wide));
    setColumnWidth(column, wide - less);
    if (less == 0) return 0;
    QTableWidgetItem* title = horizontalHeaderItem(column);
    const QFontMetrics metrics = horizontalHeader()->fontMetrics();
    const int margins = horizontalHeader()->sectionSizeHint(column) - metrics.size(0, title->text()).width();
    QStringList lines = title->text().split(u'\n');
    for (QString& line : lines) line = metrics.elidedText(line, Qt::ElideMiddle, wide - less - margins);
    title->setText(lines.join(u'\n'));
    return less;
}

/// Returns the width at which a column's title and values fit.
int QueueTable::wide(int column) const {
    return std::max(sizeHintForColumn(column), horizontalHeader()->sectionSizeHint(column));
}

/// Divides the width left by the other columns between the Name and Where columns, within limits. If that
/// width is too small, writes the titles of the sweep's keys in two lines. If it is still too small, elides
/// these titles, and hides the Where column if all the others then fit.
void QueueTable::fitName() {
    if (columnCount() == 0) return;
    horizontalHeader()->setStretchLastSection(false);  // a stretched section ignores the width that is set
    setColumnHidden(Where, false);                     // a hidden column reports no width
    const int least = space(6.5), place = std::min(wide(Where), space(11)),
              whole = std::max(sizeHintForColumn(Name), space(10));
    int room = viewport()->width();
    for (int column = 0; column < columnCount(); ++column) {
        if (column >= FixedColumns)
            horizontalHeaderItem(column)->setText(horizontalHeaderItem(column)->toolTip());
        if (column != Name && column != Where) room -= wide(column);
    }
    for (int column = FixedColumns; column < columnCount(); ++column) {
        if (room >= place + std::min(whole, space(11))) break;
        room += wide(column);
        horizontalHeaderItem(column)->setText(inTwoLines(horizontalHeaderItem(column)->toolTip()));
        room -= wide(column);
    }
    int missing = place + least - room, shorter = 0;
    for (int column = FixedColumns; column < columnCount(); ++column)
        shorter += wide(column) - shortest(column, wide(column));
    const bool hides = shorter < missing && shorter >= least - room;
    setColumnHidden(Where, hides);
    if (hides)
        missing = std::max(0, least - room);
    else if (shorter < missing)
        missing = 0;
    for (int column = FixedColumns; column < columnCount(); ++column) {
        const int less = shorten(column, wide(column), missing);
        missing -= less;
        room += less;
    }
    if (!hides) setColumnWidth(Where, std::clamp(room - least, std::min(place, space(4)), place));
    setColumnWidth(Name, std::clamp(room - (hides ? 0 : columnWidth(Where)), least, whole));
    horizontalHeader()->setStretchLastSection(true);
    updateGeometries();  // the header may have become higher
}

void QueueTable::resizeEvent(QResizeEvent* event) {
    QTableWidget::resizeEvent(event);
    fitName();
}

void QueueTable::fillRow(int row, const QueuedRun& queued, const RunSummary& run,
                         const std::vector<std::string>& keys) {
    const auto set = [this, row](int column, const QString& text) {
        if (item(row, column) == nullptr) setItem(row, column, new QTableWidgetItem);
        item(row, column)->setText(text);
        return item(row, column);
    };
    const RunMark mark = runMark(run);
    set(Place, show::count(row + 1))->setData(Qt::UserRole, QString::fromStdString(run.dir.string()));
    set(Name, QString::fromStdString(run.name))->setToolTip(QString::fromStdString(run.dir.string()));
    QTableWidgetItem* state = set(State, runWord(mark));
    // A table's selection is pale, so the icon keeps the application's colours.
    state->setIcon(runIcon(mark, coloursOf(QApplication::palette())));
    state->setToolTip(run.is_cut_short() ? cutShortWords(run.step.value_or(0)) : reason_of(run.state));
    set(Step, run.step ? show::progress(*run.step, run.total_steps) : show::unknown());
    set(Loss, run.loss ? show::loss(*run.loss) : show::unknown());
    for (size_t key = 0; key < keys.size(); ++key) {
        const auto value = queued.set.find(keys[key]);
        set(FixedColumns + int(key),
            value == queued.set.end() ? show::unknown() : QString::fromStdString(value->second));
    }
}

QString QueueTable::chosenDir() const {
    const QTableWidgetItem* first = item(currentRow(), Place);
    return first == nullptr ? QString() : first->data(Qt::UserRole).toString();
}

void QueueTable::choose(const QString& dir) {
    for (int row = 0; row < rowCount(); ++row) {
        if (item(row, Place)->data(Qt::UserRole).toString() == dir) selectRow(row);
    }
}

void QueueTable::moveChosen(int by) {
    const int place = currentRow() + by;
    if (currentRow() < 0 || place < 0 || place >= rowCount()) return;
    Q_EMIT moveWanted(chosenDir(), place);
}

/// Returns the number of the gap between rows that is nearest to y; 0 is above the first row.
int QueueTable::gapAt(int y) const {
    for (int row = 0; row < rowCount(); ++row) {
        if (y < rowViewportPosition(row) + rowHeight(row) / 2) return row;
    }
    return rowCount();
}

void QueueTable::mousePressEvent(QMouseEvent* event) {
    QTableWidget::mousePressEvent(event);
    m_pressed = event->button() == Qt::LeftButton ? rowAt(event->pos().y()) : -1;
    m_pressed_y = event->pos().y();
}

void QueueTable::mouseMoveEvent(QMouseEvent* event) {
    const bool moves = std::abs(event->pos().y() - m_pressed_y) >= QApplication::startDragDistance();
    if (m_pressed < 0 || (m_gap < 0 && !moves)) return;
    m_gap = gapAt(event->pos().y());
    viewport()->setCursor(Qt::ClosedHandCursor);
    viewport()->update();
}

void QueueTable::mouseReleaseEvent(QMouseEvent* event) {
    QTableWidget::mouseReleaseEvent(event);
    const int from = std::exchange(m_pressed, -1), gap = std::exchange(m_gap, -1);
    if (from < 0 || gap < 0) return;
    viewport()->unsetCursor();
    viewport()->update();
    const int place = gap > from ? gap - 1 : gap;
    if (place != from && item(from, Place) != nullptr)
        Q_EMIT moveWanted(item(from, Place)->data(Qt::UserRole).toString(), place);
}

void QueueTable::keyPressEvent(QKeyEvent* event) {
    const bool alt = event->modifiers().testFlag(Qt::AltModifier);
    if (alt && event->key() == Qt::Key_Up) return moveChosen(-1);
    if (alt && event->key() == Qt::Key_Down) return moveChosen(1);
    if (event->key() == Qt::Key_Delete) return Q_EMIT removeWanted();
    if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && !chosenDir().isEmpty())
        return Q_EMIT opened(chosenDir());
    QTableWidget::keyPressEvent(event);
}

void QueueTable::paintEvent(QPaintEvent* event) {
    QTableWidget::paintEvent(event);
    if (m_gap < 0 || rowCount() == 0) return;
    const int y = m_gap < rowCount() ? rowViewportPosition(m_gap)
                                     : rowViewportPosition(rowCount() - 1) + rowHeight(rowCount() - 1);
    QPainter painter(viewport());
    painter.setPen(QPen(coloursOf(QApplication::palette()).accent, 2));
    painter.drawLine(0, y, viewport()->width(), y);
}

}  // namespace ringmaster
