// Builds the page's widgets; their behaviour is in monitor_page.cpp.
#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QMenu>
#include <QProgressBar>
#include <QScrollBar>
#include <QSlider>
#include <QStackedWidget>
#include <QTableView>
#include <QTimer>
#include <QToolButton>

#include "gui/look/card_grid.h"
#include "gui/look/flow_layout.h"
#include "gui/look/icons.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/look/scrolled.h"
#include "gui/look/sort_header.h"
#include "gui/monitor/monitor_page.h"

#include "gui/monitor/run_charts.h"
#include "gui/session/run_keeper.h"
#include "launcher/history/figures.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kSmoothingSteps = 100;

QWidget* labelled(const QString& text, QWidget* control, QWidget* after = nullptr) {
    auto* box = new QWidget;
    auto* layout = new QHBoxLayout(box);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(0.4));
    auto* label = new QLabel(text);
    label->setBuddy(control);
    label->setMinimumHeight(lineHeight(label->font()));
    layout->addWidget(label);
    layout->addWidget(control);
    if (after != nullptr) layout->addWidget(after);
    return box;
}

}  // namespace

MonitorPage::MonitorPage(Session& session, QWidget* parent)
    : Page(parent), m_session(session), m_stack(new QStackedWidget), m_ticker(new QTimer(this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_stack);
    m_stack->addWidget(makeEmpty());
    m_stack->addWidget(makeProblem());
    m_stack->addWidget(makeRun());
    m_ticker->setInterval(1000);
    connect(m_ticker, &QTimer::timeout, this, &MonitorPage::showAge);
    connect(&m_session.keeper(), &RunKeeper::changed, this, [this](const QString& dir) {
        if (dir != m_dir || !m_news) return;
        showHeader();
        showVerdict();
    });
    m_ticker->start();
}

QWidget* MonitorPage::makeEmpty() {
    auto* empty =
        new EmptyView(tr("No run is open"),
                      tr("Here a run shows its loss, its ranks and what holds them up, while it trains "
                         "and afterwards."));
    QPushButton* choose = empty->addAction(tr("Choose a run"));
    choose->setObjectName(u"chooseRunButton"_s);
    choose->setMenu(new QMenu(choose));
    connect(choose->menu(), &QMenu::aboutToShow, this, [this, choose] { offerRuns(choose); });
    QPushButton* folder = empty->addAction(tr("Attach to a run…"));
    folder->setObjectName(u"attachFolderButton"_s);
    connect(folder, &QPushButton::clicked, this, &MonitorPage::chooseFolder);
    auto* page = new QWidget;
    auto* header = new PageHeader;
    header->setTitle(tr("Monitor"));
    layOutPage(page, header)->addWidget(empty, 1);
    return page;
}

QWidget* MonitorPage::makeProblem() {
    auto* box = new QWidget;
    m_problem_room = new QVBoxLayout(box);
    m_problem_room->setContentsMargins(0, 0, 0, 0);
    return box;
}

QWidget* MonitorPage::makeRun() {
    auto* box = new QWidget;
    auto* layout = new QVBoxLayout(box);
    layout->setContentsMargins(0, space(0.9), 0, 0);
    layout->setSpacing(0);
    auto* inside = new QWidget;
    auto* rows = new QVBoxLayout(inside);
    rows->setContentsMargins(space(1.1), space(0.4), 0, space(0.9));
    rows->setSpacing(space(0.75));
    auto* top = new QVBoxLayout;
    top->setContentsMargins(space(1.1), 0, space(1.1), space(0.4));
    top->setSpacing(space(0.7));
    makeHeader(top);
    layout->addLayout(top);
    makeFigures(rows);
    m_banner = new Banner;
    m_banner->setObjectName(u"verdict"_s);
    rows->addWidget(m_banner);
    makeTools(rows);
    makeCards(rows);
    rows->addStretch(1);  // free space stays below the cards
    m_scroll = scrolled(inside);
    auto* middle = new QHBoxLayout;
    middle->setContentsMargins(0, 0, space(1.1), 0);
    middle->addWidget(m_scroll);
    layout->addLayout(middle, 1);
    connect(m_scroll->verticalScrollBar(), &QScrollBar::valueChanged, this, &MonitorPage::feedCharts);
    return box;
}

void MonitorPage::makeHeader(QVBoxLayout* layout) {
    m_header = new PageHeader;
    m_header->setObjectName(u"runHeader"_s);
    m_stop = new QPushButton(tr("Stop and save"));
    m_stop->setObjectName(u"stopButton"_s);
    m_stop->setToolTip(tr("Finish the step, save a checkpoint, end"));
    m_stop_now = new QPushButton(tr("Stop now"));
    m_stop_now->setObjectName(u"stopNowButton"_s);
    m_stop_now->setToolTip(tr("End at once; what came after the last checkpoint is lost"));
    m_resume = primaryButton(tr("Resume"));
    m_resume->setObjectName(u"resumeButton"_s);
    m_resume->setToolTip(tr("Go on from the newest complete checkpoint"));
    m_try = new QPushButton(tr("Try it"));
    m_try->setObjectName(u"tryButton"_s);
    m_try->setToolTip(tr("Let the trained model write, beside its base"));
    connect(m_try, &QPushButton::clicked, this, [this] { Q_EMIT tryWanted(m_dir); });
    m_fetch = new QPushButton(tr("Fetch…"));
    m_fetch->setObjectName(u"fetchButton"_s);
    m_fetch->setToolTip(tr("The trained model or a checkpoint, from the machine that it is on"));
    connect(m_fetch, &QPushButton::clicked, this, [this] { Q_EMIT m_session.fetchRequested(m_dir); });
    m_export = new QPushButton(tr("Export"));
    m_export->setObjectName(u"exportButton"_s);
    auto* menu = new QMenu(m_export);
    menu->addAction(tr("All figures as CSV…"), this, [this] { exportTo(true); });
    menu->addAction(tr("TensorBoard files…"), this, [this] { exportTo(false); });
    QAction* merged = menu->addAction(tr("Merged model…"), this, [this] { Q_EMIT mergeWanted(m_dir); });
    merged->setObjectName(u"exportMergedAction"_s);
    connect(menu, &QMenu::aboutToShow, this, [this, merged] { merged->setVisible(hasTrainedAdapter()); });
    m_export->setMenu(menu);
    for (QPushButton* button : {m_stop, m_stop_now, m_resume, m_try, m_fetch, m_export})
        m_header->addAction(button);
    connect(m_stop, &QPushButton::clicked, this, [this] { askStop(StopHow::FinishAndSave); });
    connect(m_stop_now, &QPushButton::clicked, this, [this] { askStop(StopHow::Now); });
    connect(m_resume, &QPushButton::clicked, this, [this] { Q_EMIT m_session.resumeRequested(m_dir, {}); });
    m_progress = new QProgressBar;
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(tr("Progress"));
    layout->addWidget(m_header);
    layout->addWidget(m_progress);
}

void MonitorPage::makeFigures(QVBoxLayout* layout) {
    auto* box = new QWidget;
    auto* grid = new CardGrid(7.5, 6, box);
    box->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Minimum);  // grows by a line where it wraps
    m_steps = new Figure(tr("step"));
    m_loss = new Figure(tr("loss"));
    m_rate = new Figure({});
    m_overhead = new Figure({});
    m_rate->setToolTip(tr("Mean of the last %1 steps").arg(show::count(kRecentSteps)));
    m_overhead->setToolTip(tr("Mean of the ranks over the last %1 steps").arg(show::count(kRecentSteps)));
    m_memory = new Figure(tr("tensors of the fullest rank"));
    m_age = new Figure(tr("last heard"));
    for (Figure* figure : {m_steps, m_loss, m_rate, m_overhead, m_memory, m_age}) grid->addCard(figure);
    layout->addWidget(box);
}

void MonitorPage::makeTools(QVBoxLayout* layout) {
    auto* box = new QWidget;
    box->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Minimum);  // grows by a line where it wraps
    auto* row = new FlowLayout(space(0.9), box);
    m_pause = new QPushButton(icon(u"pause"_s), tr("Pause"));
    m_pause->setCheckable(true);
    m_pause->setObjectName(u"pauseButton"_s);
    m_pause->setToolTip(tr("Hold the charts still; the run goes on (Space)"));
    m_smoothing = new QSlider(Qt::Horizontal);
    m_smoothing->setRange(0, kSmoothingSteps - 1);
    m_smoothing->setMinimumWidth(space(6));
    m_smoothing->setObjectName(u"smoothingSlider"_s);
    m_smoothing->setAccessibleName(tr("Smoothing"));
    m_smoothing->setToolTip(tr("Moving average over the steps; what was measured stays behind it"));
    m_smoothing_value = mutedLabel(tr("off"));
    m_smoothing_value->setMinimumWidth(QFontMetrics(m_smoothing_value->font()).horizontalAdvance(u"0.000"_s));
    m_axis = new QComboBox;
    m_axis->setObjectName(u"axisCombo"_s);
    m_axis->setAccessibleName(tr("What the charts run along"));
    m_axis->addItem(tr("Step"), int(XAxis::Step));
    m_axis->addItem(tr("Tokens"), int(XAxis::Tokens));
    m_axis->addItem(tr("Time"), int(XAxis::Seconds));
    m_log_axis = new QCheckBox(tr("Logarithmic"));
    m_log_axis->setObjectName(u"logAxisBox"_s);
    m_log_axis->setToolTip(tr("Logarithmic figures; 0 and below are drawn at the foot"));
    m_follow = new QCheckBox(tr("Follow the end"));
    m_follow->setObjectName(u"followBox"_s);
    m_follow->setToolTip(tr("Show the last steps only, and go with them"));
    m_all = quietButton(tr("Show all steps"));
    m_all->setObjectName(u"showAllButton"_s);
    m_all->setToolTip(tr("Undo the zoom (double click in a chart)"));
    m_all->hide();
    row->addWidget(m_pause);
    row->addWidget(labelled(tr("Smoothing"), m_smoothing, m_smoothing_value));
    row->addWidget(labelled(tr("X axis"), m_axis));
    row->addWidget(m_log_axis);
    row->addWidget(m_follow);
    row->addWidget(m_all);
    layout->addWidget(box);
    connect(m_pause, &QPushButton::toggled, this, &MonitorPage::setPaused);
    connect(m_smoothing, &QSlider::valueChanged, this,
            [this](int value) { setSmoothing(double(value) / kSmoothingSteps); });
    connect(m_axis, &QComboBox::currentIndexChanged, this, [this] {
        m_request.axis = XAxis(m_axis->currentData().toInt());
        sendWish();
    });
    connect(m_log_axis, &QCheckBox::toggled, this, [this] {
        m_stale.fill(true);
        feedCharts();
    });
    connect(m_follow, &QCheckBox::toggled, this, [this](bool on) {
        constexpr int64_t kLeastTail = 100;
        const int64_t now = m_fed ? m_fed->range.count() : 0;
        m_request.tail = on ? std::max(kLeastTail, m_request.range ? now : now / 5) : 0;
        m_request.range.reset();
        m_all->setVisible(on);
        sendWish();
    });
    connect(m_all, &QPushButton::clicked, this, [this] {
        m_follow->setChecked(false);
        showSteps({});
    });
}

void MonitorPage::makeCards(QVBoxLayout* layout) {
    auto* box = new QWidget;
    auto* grid = new CardGrid(27, 3, box);
    grid->addCard(makeChart(ChartKind::Loss));
    for (int kind = int(kFirstOptional); kind < kChartKinds; ++kind) {
        ChartCard* card = makeChart(ChartKind(kind));
        card->hide();
        grid->addCard(card);
    }
    for (ChartKind kind : {ChartKind::StepTime, ChartKind::Exposed, ChartKind::Memory})
        grid->addCard(makeChart(kind));
    grid->addCard(makeHeatCard());
    grid->addCard(makeChart(ChartKind::Throughput));
    m_samples = new SamplesCard(m_session);
    m_samples->hide();
    grid->addCard(m_samples, 3);
    Card* table = makeTableCard();
    grid->addCard(table, 3);
    for (ChartKind kind : {ChartKind::Overlap, ChartKind::GradNorm, ChartKind::LearningRate})
        grid->addCard(makeChart(kind));
    Card* log = makeLogCard();
    grid->addCard(log, 3);
    // Only charts take the remaining height.
    for (Card* card : std::initializer_list<Card*>{m_samples, table, log})
        card->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    layout->addWidget(box);
    std::vector<Plot*> plots;
    for (ChartCard* card : m_charts) {
        if (card != nullptr) plots.push_back(card->plot());
    }
    linkCursors(plots);
    for (Plot* plot : plots) {
        connect(plot, &Plot::cursorMoved, m_heat, &HeatMap::setCursorX);
        connect(m_heat, &HeatMap::cursorMoved, plot, &Plot::setCursorX);
    }
}

ChartCard* MonitorPage::makeChart(ChartKind kind) {
    auto* card = new ChartCard(chartTitle(kind));
    card->setObjectName(chartName(kind));
    card->setCsvWriter([this, kind](const QString& file) { saveFigures(kind, file); });
    connect(card, &ChartCard::saveFailed, &m_session, &Session::notice);
    connect(card, &ChartCard::saved, this,
            [this](const QString& file) { Q_EMIT m_session.notice(tr("Saved: %1").arg(file)); });
    connect(card->plot(), &Plot::rankChosen, this, &MonitorPage::chooseRank);
    connect(card->plot(), &Plot::rangeChosen, this, [this](double low, double high) {
        if (m_fed) showSteps(stepsBetween(*m_fed, low, high));
    });
    connect(card->plot(), &Plot::rangeReset, this, [this] { showSteps({}); });
    m_charts[size_t(kind)] = card;
    m_cards[size_t(kind)] = card;
    return card;
}

Card* MonitorPage::makeHeatCard() {
    auto* card = new Card(chartTitle(ChartKind::Heat));
    m_heat = new HeatMap;
    m_heat->setObjectName(chartName(ChartKind::Heat));
    card->body()->addWidget(m_heat, 1);
    // The other cards have a menu button in their header. This space makes the heat map's header as high, so
    // that the titles of neighbouring cards are level.
    auto* menu = m_charts[size_t(ChartKind::Loss)]->findChild<QToolButton*>();
    menu->ensurePolished();
    auto* room = new QWidget;
    room->setFixedHeight(menu->sizeHint().height());
    card->addHeaderWidget(room);
    connect(m_heat, &HeatMap::rankChosen, this, &MonitorPage::chooseRank);
    m_cards[size_t(ChartKind::Heat)] = card;
    return card;
}

Card* MonitorPage::makeTableCard() {
    auto* card = new Card(tr("Ranks"));
    card->setSubtitle(tr("click a column to sort, a row to highlight it in the charts"));
    m_rank_model = new RankTableModel(this);
    auto* sorter = new RankSorter(this);
    sorter->setSourceModel(m_rank_model);
    m_ranks = new QTableView;
    useSortHeader(m_ranks);
    m_ranks->setModel(sorter);
    m_ranks->setObjectName(u"rankTable"_s);
    m_ranks->setAccessibleName(tr("Ranks"));
    m_ranks->setSortingEnabled(true);
    m_ranks->sortByColumn(RankTableModel::Rank, Qt::AscendingOrder);
    m_ranks->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_ranks->setSelectionMode(QAbstractItemView::SingleSelection);
    m_ranks->setProperty("flat", true);
    m_ranks->setShowGrid(false);
    m_ranks->setTabKeyNavigation(false);
    m_ranks->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_ranks->verticalHeader()->hide();
    m_ranks->verticalHeader()->setDefaultSectionSize(space(1.7));
    m_ranks->horizontalHeader()->setHighlightSections(false);
    card->body()->addWidget(m_ranks);
    connect(m_ranks->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
        const QModelIndexList rows = m_ranks->selectionModel()->selectedRows();
        chooseRank(rows.isEmpty() ? -1 : rows.front().data(RankTableModel::RankRole).toInt());
    });
    return card;
}

Card* MonitorPage::makeLogCard() {
    auto* card = new Card(tr("Log"));
    card->setSubtitle(tr("of all ranks by time, with the run's events"));
    m_log = new LogView;
    m_log->setFixedHeight(space(17));
    card->body()->addWidget(m_log);
    return card;
}

}  // namespace ringmaster
