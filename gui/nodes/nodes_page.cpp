#include "gui/nodes/nodes_page.h"

#include <QEvent>
#include <QHeaderView>
#include <QProgressBar>
#include <QPushButton>
#include <QShortcut>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>
#include <cmath>
#include <vector>

#include "gui/look/card.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/nodes/add_target.h"
#include "gui/nodes/node_details.h"
#include "gui/nodes/nodes_model.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kTickMs = 5000;
constexpr double kWideEms = 76;      ///< minimum width at which the details are next to the table
constexpr double kMostNameEms = 14;  ///< maximum width of the column of host names, which can be long
constexpr double kLeastMessageEms = 12;

}  // namespace

NodesPage::NodesPage(Session& session, QWidget* parent)
    : Page(parent),
      m_session(session),
      m_checks(new NodeChecks(session, this)),
      m_model(new NodesModel(*m_checks, this)),
      m_header(new PageHeader),
      m_all(primaryButton(tr("Check all"))),
      m_try(new QPushButton(tr("Try out"))),
      m_cancel(new QPushButton(tr("Cancel checks"))),
      m_progress(new QProgressBar),
      m_add(new AddTarget),
      m_table(new QTableView),
      m_details(new NodeDetails(*m_checks)),
      m_splitter(new QSplitter(Qt::Vertical)) {
    setObjectName(u"nodesPage"_s);
    setUpTable();
    auto* card = new Card;
    card->body()->setSpacing(space(0.6));
    card->body()->addWidget(m_add);
    card->body()->addWidget(m_table, 1);
    card->setMinimumHeight(space(10));
    m_details->setMinimumHeight(space(11));
    m_splitter->addWidget(card);
    m_splitter->addWidget(m_details);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->setHandleWidth(space(0.7));
    QVBoxLayout* layout = layOutPage(this, m_header);
    makeHeader();
    layout->addWidget(m_progress);
    layout->addWidget(m_splitter, 1);
    m_clock.setInterval(kTickMs);
    connectAll();
    m_model->setColours(coloursOf(this));
    m_table->selectRow(firstToLookAt());
    showProgress();
}

/// Returns the first row whose check found a problem or a remark; 0, this machine's row, if there is none.
int NodesPage::firstToLookAt() const {
    for (int row = 0; row < m_checks->count(); ++row) {
        const auto& last = m_checks->entry(row).last;
        if (last && last->node.state != NodeVerdict::Ready) return row;
    }
    return 0;
}

void NodesPage::makeHeader() {
    m_header->setTitle(tr("Nodes"));
    m_all->setObjectName(u"checkAllButton"_s);
    m_all->setToolTip(tr("Check every target (%1)")
                          .arg(QKeySequence(QKeySequence::Refresh).toString(QKeySequence::NativeText)));
    m_try->setObjectName(u"tryOutButton"_s);
    m_cancel->setObjectName(u"cancelChecksButton"_s);
    m_progress->setObjectName(u"checksProgress"_s);
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(tr("Progress of the checks"));
    m_header->addAction(m_cancel);
    m_header->addAction(m_try);
    m_header->addAction(m_all);
}

void NodesPage::setUpTable() {
    m_table->setObjectName(u"nodesTable"_s);
    m_table->setAccessibleName(tr("Targets"));
    m_table->setModel(m_model);
    m_table->setProperty("flat", true);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setShowGrid(false);
    m_table->setTabKeyNavigation(false);
    m_table->setIconSize(QSize(space(0.95), space(0.95)));
    m_table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_table->setStyleSheet(u"QAbstractScrollArea::corner { background: transparent; border: none; }"_s);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(space(1.65));
    m_table->verticalHeader()->setMinimumSectionSize(space(1.65));
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_table->horizontalHeader()->setStretchLastSection(true);
}

void NodesPage::connectAll() {
    connect(m_all, &QPushButton::clicked, m_checks, &NodeChecks::checkAll);
    connect(m_try, &QPushButton::clicked, m_checks, &NodeChecks::tryOut);
    connect(m_cancel, &QPushButton::clicked, m_checks, &NodeChecks::cancelAll);
    connect(m_checks, &NodeChecks::moved, this, &NodesPage::showProgress);
    connect(m_checks, &NodeChecks::changed, this, [this](int row) {
        if (row == chosenRow()) m_details->showRow(row);
        fitColumns();
    });
    connect(m_checks, &NodeChecks::removed, this, [this](int row) {
        m_table->selectRow(std::min(row, m_checks->count() - 1));
        m_details->showRow(chosenRow());
        showProgress();
    });
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this] { m_details->showRow(chosenRow()); });
    connect(m_add, &AddTarget::wanted, this, [this](const Target& target) {
        m_table->selectRow(m_checks->add(target));
        m_details->showRow(chosenRow());
        showProgress();
    });
    connect(&m_clock, &QTimer::timeout, this, [this] {
        m_model->tick();
        m_details->tick();
    });
    auto* again = new QShortcut(QKeySequence::Refresh, this);
    connect(again, &QShortcut::activated, m_checks, &NodeChecks::checkAll);
    auto* remove = new QShortcut(QKeySequence::Delete, m_table, nullptr, nullptr, Qt::WidgetShortcut);
    connect(remove, &QShortcut::activated, this, [this] {
        if (chosenRow() > 0) m_checks->remove(chosenRow());
    });
}

int NodesPage::chosenRow() const {
    return m_table->currentIndex().isValid() ? m_table->currentIndex().row() : -1;
}

/// Returns the width at which each text of a column fits on one line, and the minimum width that breaks no
/// word. Both are limited for the column of names.
NodesPage::Widths NodesPage::widthsOf(int column) {
    m_table->resizeColumnToContents(column);
    const QFontMetrics metrics = m_table->fontMetrics();
    int word = 0, line = 0;
    for (int row = 0; row < m_model->rowCount(); ++row) {
        const QString text = m_model->index(row, column).data().toString();
        line = std::max(line, metrics.horizontalAdvance(text));
        for (const QString& part : text.split(u' ')) word = std::max(word, metrics.horizontalAdvance(part));
    }
    const int whole = m_table->columnWidth(column), gap = space(0.5);
    const int title = m_table->horizontalHeader()->sectionSizeHint(column);
    const int most = column == NodesModel::Name ? space(kMostNameEms) : QWIDGETSIZE_MAX;
    return {std::min(whole + gap, most), std::min(std::max(title, whole - line + word) + gap, most)};
}

/// Divides the width between the columns. The message gets the rest; it is hidden if the rest is too narrow
/// or if no target has a message. If the other columns do not fit, their texts wrap; if they would wrap
/// often, the age of the check is hidden, too. The details show both.
void NodesPage::fitColumns() {
    // A stretched column does not report the width of its texts.
    m_table->horizontalHeader()->setStretchLastSection(false);
    for (const int column : {NodesModel::Checked, NodesModel::Message})
        m_table->setColumnHidden(column, false);  // a hidden column reports no width
    std::vector<Widths> columns;
    int left = m_table->viewport()->width(), spare = 0;
    for (int column = 0; column < NodesModel::Message; ++column) {
        columns.push_back(widthsOf(column));
        left -= columns.back().whole;
        spare += columns.back().whole - columns.back().least;
    }
    m_table->setColumnHidden(NodesModel::Message, !m_model->hasMessages() || left < space(kLeastMessageEms));
    if (left + spare / 2 < 0) {
        static_assert(NodesModel::Checked + 1 == NodesModel::Message);
        left += columns.back().whole;
        spare -= columns.back().whole - columns.back().least;
        columns.pop_back();
        m_table->setColumnHidden(NodesModel::Checked, true);
    }
    const double share = spare > 0 ? std::clamp(double(-left) / spare, 0.0, 1.0) : 0;
    for (size_t column = 0; column < columns.size(); ++column) {
        const auto [whole, least] = columns[column];
        m_table->setColumnWidth(int(column), whole - int(std::ceil(share * (whole - least))));
    }
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->resizeRowsToContents();
}

void NodesPage::showProgress() {
    const int under_way = m_checks->underWay(), asked = m_checks->asked();
    m_progress->setVisible(under_way > 0);
    m_cancel->setVisible(under_way > 0);
    m_all->setEnabled(under_way < m_checks->count());
    m_try->setEnabled(m_checks->canTryOut());
    m_try->setToolTip(m_try->isEnabled()
                          ? tr("Bring the engine to the machines over SSH that can train, run its self-test "
                               "there and measure "
                               "the links between them; the first is taken for the node of rank 0")
                          : tr("No machine over SSH is ready: add one, and check it."));
    m_progress->setRange(0, std::max(asked, 1));
    m_progress->setValue(asked - under_way);
    const QString known = tr("%n target(s)", nullptr, m_checks->count());
    //: progress of checks, such as "checked 5 of 32"
    const QString now = tr("checked %1 of %2").arg(show::count(asked - under_way), show::count(asked));
    m_header->setSubtitle(under_way > 0 ? now : known);
}

/// In a wide window, splits the width between table and details; otherwise makes the table as high as its
/// rows, up to half of the height.
void NodesPage::shareRoom() {
    const auto side = width() >= space(kWideEms) ? Qt::Horizontal : Qt::Vertical;
    m_splitter->setOrientation(side);
    if (side == Qt::Horizontal) {
        m_splitter->setSizes({width() * 3 / 5, width() * 2 / 5});
        return;
    }
    const int all = m_splitter->height();
    const int lines = m_table->verticalHeader()->length() + m_table->horizontalHeader()->height();
    const int table = std::clamp(lines + space(7), space(12), std::max(all / 2, space(12)));
    m_splitter->setSizes({table, std::max(all - table, space(11))});
}

bool NodesPage::settled() const {
    return m_checks->underWay() == 0;
}

void NodesPage::appear() {
    fitColumns();
    shareRoom();
    m_model->tick();
    m_clock.start();
    if (!m_checks->entry(0).last) m_checks->check(0);  // this machine's check asks no questions
    m_details->showRow(chosenRow());
}

void NodesPage::disappear() {
    m_clock.stop();
}

void NodesPage::resizeEvent(QResizeEvent* event) {
    Page::resizeEvent(event);
    shareRoom();
    QTimer::singleShot(0, this, [this] {
        fitColumns();
        shareRoom();  // the texts may need more lines, or fewer
        m_table->scrollTo(m_table->currentIndex());
    });
}

void NodesPage::recolour() {
    m_model->setColours(coloursOf(this));
}

}  // namespace ringmaster
