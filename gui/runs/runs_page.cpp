#include "gui/runs/runs_page.h"

#include <QEvent>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QResizeEvent>
#include <QShortcut>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolButton>

#include "gui/look/card.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/runs/compare_view.h"
#include "gui/runs/details_panel.h"
#include "gui/runs/runs_model.h"
#include "gui/runs/runs_table.h"
#include "launcher/history/compare.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr double kWideEms = 68;  ///< minimum width at which the details are next to the table

enum Table { TheTable, NoRuns, NoMatch };

}  // namespace

RunsPage::RunsPage(Session& session, QWidget* parent)
    : Page(parent),
      m_session(session),
      m_actions(new RunActions(session, this)),
      m_reader(session.places().runs_dir),
      m_model(new RunsModel(this)),
      m_filter(new RunsFilter(this)),
      m_header(new PageHeader),
      m_banner(new Banner),
      m_search(new QLineEdit),
      m_compare(new QPushButton(tr("Compare"))),
      m_views(new QStackedWidget),
      m_tables(new QStackedWidget),
      m_splitter(new QSplitter(Qt::Vertical)),
      m_details(new DetailsPanel(session, *m_actions)),
      m_comparison(new CompareView(session)) {
    setObjectName(u"runsPage"_s);
    m_filter->setSourceModel(m_model);
    m_table = new RunsTable(m_filter, session.settings());
    m_views->addWidget(makeList());
    m_views->addWidget(m_comparison);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(pageMargins());
    layout->addWidget(m_views);
    connectAll();
    choiceChanged();
}

QWidget* RunsPage::makeList() {
    auto* none =
        new EmptyView(tr("No runs yet"),
                      tr("What you launch appears here with what mattered: loss, tokens per second, memory "
                         "and why it ended."));
    none->setObjectName(u"noRuns"_s);
    auto* example = none->addAction(tr("Try the example"));
    example->setObjectName(u"runsTryExample"_s);
    connect(example, &QPushButton::clicked, &m_session, &Session::tryExample);
    auto* open = none->addAction(tr("Open a configuration…"));
    open->setObjectName(u"runsOpen"_s);
    connect(open, &QPushButton::clicked, &m_session, &Session::chooseConfig);
    auto* elsewhere = none->addAction(tr("Follow a run on another machine…"));
    elsewhere->setObjectName(u"runsFollow"_s);
    connect(elsewhere, &QPushButton::clicked, &m_session, &Session::followRequested);
    auto* unmatched = new EmptyView(tr("No run matches"),
                                    tr("Looked for in names, models, states, tags, notes and reasons."));
    unmatched->setObjectName(u"noMatch"_s);
    auto* clear = unmatched->addAction(tr("Show all runs"));
    clear->setObjectName(u"clearSearch"_s);
    connect(clear, &QPushButton::clicked, m_search, &QLineEdit::clear);
    m_tables->addWidget(m_table);
    m_tables->addWidget(none);
    m_tables->addWidget(unmatched);
    auto* card = new Card;
    card->body()->addWidget(m_tables);
    card->setMinimumHeight(space(8));
    m_details->setMinimumHeight(space(11));
    m_splitter->addWidget(card);
    m_splitter->addWidget(m_details);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->setHandleWidth(space(0.7));
    auto* list = new QWidget;
    auto* layout = new QVBoxLayout(list);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(0.7));
    layout->addWidget(makeBar());
    layout->addWidget(m_banner);
    layout->addWidget(m_splitter, 1);
    m_banner->hide();
    return list;
}

QWidget* RunsPage::makeBar() {
    m_header->setTitle(tr("Runs"));
    m_search->setObjectName(u"runsSearch"_s);
    m_search->setPlaceholderText(tr("Search"));
    m_search->setAccessibleName(tr("Search the runs"));
    m_search->setToolTip(
        tr("Search the runs (%1)").arg(QKeySequence(QKeySequence::Find).toString(QKeySequence::NativeText)));
    m_search->setClearButtonEnabled(true);
    m_search->setMinimumWidth(space(11));
    auto* columns = new QToolButton;
    columns->setObjectName(u"columnsButton"_s);
    columns->setText(tr("Columns"));
    columns->setAccessibleName(tr("Choose columns"));
    columns->setPopupMode(QToolButton::InstantPopup);
    columns->setMenu(m_table->columnsMenu());
    connect(columns->menu(), &QMenu::aboutToShow, m_table, &RunsTable::columnsMenu);
    auto* elsewhere = new QPushButton(tr("From another machine…"));
    elsewhere->setObjectName(u"followElsewhereButton"_s);
    elsewhere->setToolTip(tr("Follow a run on another machine…"));
    connect(elsewhere, &QPushButton::clicked, &m_session, &Session::followRequested);
    m_compare->setObjectName(u"compareButton"_s);
    m_tools = {m_search, columns, elsewhere, m_compare};
    for (QWidget* tool : m_tools) m_header->addAction(tool);
    return m_header;
}

void RunsPage::connectAll() {
    connect(&m_reader, &RunsReader::arrived, this, &RunsPage::takeRows);
    connect(&m_session, &Session::runsChanged, &m_reader, &RunsReader::refresh);
    connect(m_search, &QLineEdit::textChanged, this, &RunsPage::search);
    connect(m_table, &RunsTable::opened, &m_session, &Session::openRun);
    connect(m_table, &RunsTable::choiceChanged, this, &RunsPage::choiceChanged);
    connect(m_table, &RunsTable::deleteWanted, this, [this] { m_actions->askDelete(m_table->chosenDirs()); });
    connect(m_compare, &QPushButton::clicked, this, &RunsPage::compareChosen);
    connect(m_comparison, &CompareView::left, this, [this] { m_views->setCurrentIndex(0); });
    connect(m_actions, &RunActions::tryWanted, this, &RunsPage::tryWanted);
    connect(m_actions, &RunActions::done, this, [this](const QString& what) { say(true, what); });
    connect(m_actions, &RunActions::failed, this, [this](const QString& why) { say(false, why); });
    auto* find = new QShortcut(QKeySequence::Find, this);
    connect(find, &QShortcut::activated, m_search, [this] {
        m_views->setCurrentIndex(0);
        m_search->setFocus();
        m_search->selectAll();
    });
    auto* again = new QShortcut(QKeySequence::Refresh, this);
    connect(again, &QShortcut::activated, &m_reader, &RunsReader::refresh);
}

void RunsPage::takeRows() {
    const QString chosen = m_table->currentDir();
    m_model->setRows(m_reader.rows());
    showWhatIsThere();
    if (chosen.isEmpty() && m_filter->rowCount() > 0)
        m_table->choose(m_filter->index(0, 0).data(RunsModel::DirRole).toString());
    choiceChanged();
}

void RunsPage::search(const QString& text) {
    m_filter->setWords(text);
    showWhatIsThere();
    if (m_table->currentDir().isEmpty() && m_filter->rowCount() > 0)
        m_table->choose(m_filter->index(0, 0).data(RunsModel::DirRole).toString());
    choiceChanged();
}

void RunsPage::showWhatIsThere() {
    const int all = m_model->rowCount(), found = m_filter->rowCount();
    m_tables->setCurrentIndex(all == 0 ? NoRuns : found == 0 ? NoMatch : TheTable);
    m_details->setVisible(found > 0);
    for (QWidget* tool : m_tools) tool->setVisible(all > 0);
    int live = 0;
    for (int row = 0; row < all; ++row) live += m_model->row(row).is_live();
    QString subtitle = all == 0 ? QString() : tr("%n run(s)", nullptr, all);
    if (live > 0) subtitle = show::listed({subtitle, tr("%1 running").arg(show::count(live))});
    if (found < all) subtitle = tr("%1 of %2 found").arg(show::count(found), show::count(all));
    m_header->setSubtitle(subtitle);
}

void RunsPage::choiceChanged() {
    const QString dir = m_table->currentDir();
    const int row = dir.isEmpty() ? -1 : m_model->rowOf(dir);
    if (row < 0)
        m_details->showNothing();
    else
        m_details->showRun(m_model->row(row));
    const auto chosen = m_table->chosenDirs().size();
    m_compare->setEnabled(chosen >= 2 && chosen <= qsizetype(kMostCompared));
    m_compare->setText(m_compare->isEnabled() ? tr("Compare %n run(s)", nullptr, int(chosen))
                                              : tr("Compare"));
    m_compare->setToolTip(
        tr("Choose two to eight runs: Ctrl or Shift and a click, or Shift and an arrow key"));
}

void RunsPage::compareChosen() {
    compare(m_table->chosenDirs());
}

void RunsPage::compare(const QStringList& dirs) {
    m_comparison->compare(dirs);
    m_views->setCurrentWidget(m_comparison);
}

void RunsPage::say(bool good, const QString& text) {
    if (good) {
        m_banner->hide();
        Q_EMIT m_session.notice(text);
        return;
    }
    m_banner->clearActions();
    m_banner->say(Tone::Error, tr("That did not work."), text);
    QPushButton* close = m_banner->addAction(tr("Close"));
    connect(close, &QPushButton::clicked, m_banner, &QWidget::hide);
    m_banner->show();
}

bool RunsPage::settled() const {
    return m_reader.hasRead() && m_details->settled() && m_comparison->settled() && !m_actions->isBusy();
}

bool RunsPage::mayClose() {
    m_details->saveNotes();
    return true;
}

void RunsPage::appear() {
    if (!m_search->hasFocus()) m_table->setFocus();
    m_reader.setActive(true);
}

void RunsPage::disappear() {
    m_reader.setActive(false);
    m_details->saveNotes();
}

void RunsPage::resizeEvent(QResizeEvent* event) {
    Page::resizeEvent(event);
    const auto side = width() >= space(kWideEms) ? Qt::Horizontal : Qt::Vertical;
    if (side == m_splitter->orientation() && event->oldSize().isValid()) return;
    m_splitter->setOrientation(side);
    m_splitter->setSizes(side == Qt::Horizontal ? QList<int>{width() * 3 / 5, width() * 2 / 5}
                                                : QList<int>{height() * 9 / 20, height() * 11 / 20});
}

void RunsPage::recolour() {
    m_model->lookChanged();
    choiceChanged();
}

}  // namespace ringmaster
