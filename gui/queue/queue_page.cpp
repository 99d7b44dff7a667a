#include "gui/queue/queue_page.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStackedWidget>
#include <QtConcurrent/QtConcurrentRun>

#include "engine/error.h"
#include "gui/look/card.h"
#include "gui/look/flow_layout.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/look/scrolled.h"
#include "gui/queue/parallel_plot.h"
#include "gui/queue/queue_dialog.h"
#include "gui/queue/queue_table.h"
#include "gui/queue/service_switch.h"
#include "gui/session/finding_words.h"
#include "launcher/queue/queue_runner.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kEveryMs = 2000;

}  // namespace

QueuePage::QueuePage(Session& session, QWidget* parent)
    : Page(parent),
      m_session(session),
      m_header(new PageHeader),
      m_problem(new Banner),
      m_still(new Banner),
      m_stack(new QStackedWidget),
      m_add(primaryButton(tr("Add…"))),
      m_up(new QPushButton(tr("Earlier"))),
      m_down(new QPushButton(tr("Later"))),
      m_remove(new QPushButton(tr("Remove"))),
      m_open(new QPushButton(tr("Open in Monitor"))),
      m_slots(new QSpinBox),
      m_service(new ServiceSwitch(session)),
      m_table(new QueueTable),
      m_results(new Card(tr("Results of the sweep"))),
      m_plot(new ParallelPlot) {
    m_header->setTitle(tr("Queue"));
    m_add->setObjectName(u"addToQueueButton"_s);
    m_add->setToolTip(tr("Queue a configuration, or a sweep of it"));
    m_header->addAction(m_add);
    auto* empty = new EmptyView(tr("Nothing is queued"),
                                tr("Runs wait here for their turn and start by themselves, one after the "
                                   "other, even when this window is closed."));
    QPushButton* first = empty->addAction(tr("Add a configuration…"));
    first->setObjectName(u"firstQueueButton"_s);
    m_problem->setObjectName(u"queuePageProblem"_s);
    m_problem->hide();
    m_still->setObjectName(u"queueStillBanner"_s);
    m_still->say(Tone::Warning, tr("The queue stands still."),
                 tr("The process that starts its runs is not running."));
    m_still->hide();
    QPushButton* wake = m_still->addAction(tr("Start"));
    wake->setObjectName(u"wakeQueueButton"_s);
    connect(wake, &QPushButton::clicked, this, [this] {
        wake_queue(m_session.places());
        refresh();
    });
    m_stack->addWidget(empty);
    m_stack->addWidget(scrolled(makeList()));
    QVBoxLayout* layout = layOutPage(this, m_header);
    layout->addWidget(m_problem);
    layout->addWidget(m_still);
    layout->addWidget(m_stack, 1);
    for (QPushButton* button : {m_add, first}) connect(button, &QPushButton::clicked, this, &QueuePage::add);
    connect(m_table, &QueueTable::moveWanted, this, &QueuePage::move);
    connect(m_table, &QueueTable::removeWanted, this, &QueuePage::removeChosen);
    connect(m_table, &QueueTable::opened, &m_session, &Session::openRun);
    connect(m_table, &QTableWidget::itemSelectionChanged, this, &QueuePage::showState);
    connect(m_plot, &ParallelPlot::runChosen, m_table, &QueueTable::choose);
    connect(m_plot, &ParallelPlot::runOpened, &m_session, &Session::openRun);
    connect(m_up, &QPushButton::clicked, this, [this] { m_table->moveChosen(-1); });
    connect(m_down, &QPushButton::clicked, this, [this] { m_table->moveChosen(1); });
    connect(m_remove, &QPushButton::clicked, this, &QueuePage::removeChosen);
    connect(m_open, &QPushButton::clicked, this, [this] { Q_EMIT m_session.openRun(m_table->chosenDir()); });
    connect(m_slots, &QSpinBox::valueChanged, this, &QueuePage::setSlots);
    connect(&m_watcher, &QFutureWatcherBase::finished, this, &QueuePage::take);
    connect(&m_timer, &QTimer::timeout, this, &QueuePage::refresh);
    m_timer.setInterval(kEveryMs);
}

QueuePage::~QueuePage() {
    m_watcher.waitForFinished();
}

QWidget* QueuePage::makeList() {
    m_up->setObjectName(u"queueUpButton"_s);
    m_up->setToolTip(tr("Move the run to an earlier place (Alt and the up arrow, or drag it)"));
    m_down->setObjectName(u"queueDownButton"_s);
    m_down->setToolTip(tr("Move the run to a later place (Alt and the down arrow, or drag it)"));
    m_remove->setObjectName(u"queueRemoveButton"_s);
    m_remove->setToolTip(tr("Take the run off the queue; its directory stays (Delete)"));
    m_open->setObjectName(u"queueOpenButton"_s);
    m_slots->setObjectName(u"slotsBox"_s);
    m_slots->setRange(1, kMostSlots);
    m_slots->setButtonSymbols(QAbstractSpinBox::NoButtons);
    m_slots->setKeyboardTracking(false);
    m_slots->setAccessibleName(tr("Runs at a time"));
    m_slots->setToolTip(
        tr("How many runs may train at the same time; a run on GPUs always has the machine to itself"));
    auto* at_a_time = new QWidget;
    auto* row = new QHBoxLayout(at_a_time);
    row->setContentsMargins(0, 0, 0, 0);
    auto* label = new QLabel(tr("Runs at a time"));
    label->setBuddy(m_slots);
    row->addWidget(label);
    row->addWidget(m_slots);
    auto* tools = new QWidget;
    auto* flow = new FlowLayout(space(0.5), tools);
    for (QPushButton* button : {m_up, m_down, m_remove, m_open}) flow->addWidget(button);
    flow->addWidget(at_a_time);
    auto* card = new Card(tr("Order"));
    card->setSubtitle(tr("drag a row to another place; a sweep's keys have columns of their own"));
    card->body()->addWidget(tools);
    card->body()->addWidget(m_service);
    card->body()->addWidget(m_table, 1);
    m_results->setObjectName(u"sweepResults"_s);
    m_results->setSubtitle(tr("a line for each run; drag along an axis to keep only some"));
    m_results->body()->addWidget(m_plot);
    auto* list = new QWidget;
    auto* column = new QVBoxLayout(list);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(space(0.7));
    column->addWidget(card, 1);
    column->addWidget(m_results);
    return list;
}

void QueuePage::refresh() {
    if (m_watcher.isRunning()) {
        m_again = true;
        return;
    }
    m_watcher.setFuture(QtConcurrent::run([places = m_session.places()] {
        Now now;
        try {
            now.queue = read_queue(queue_folder(places));
            now.is_alive = is_queue_alive(places);
            now.runs = queued_runs(now.queue);
            for (const auto& [queued, run] : now.runs) now.places.push_back(queue_place(queued.run));
        } catch (const Error& problem) {
            now.problem = message_of(problem) + u"\n"_s + QString::fromStdString(problem.where);
        } catch (const std::exception& unforeseen) {
            now.problem = QString::fromUtf8(unforeseen.what());
        }
        return now;
    }));
}

void QueuePage::take() {
    m_now = m_watcher.result();
    m_read = true;
    m_table->setRuns(m_now.runs, m_now.places, swept_keys(m_now.queue));
    const SweepPicture picture = sweep_picture(m_now.runs, swept_keys(m_now.queue));
    m_plot->setPicture(picture);
    m_results->setVisible(!picture.axes.empty());
    if (!m_now.problem.isEmpty()) m_problem->say(Tone::Error, tr("The queue cannot be read."), m_now.problem);
    m_problem->setVisible(!m_now.problem.isEmpty());
    showState();
    if (std::exchange(m_again, false)) refresh();
}

void QueuePage::showState() {
    int waiting = 0, active = 0;
    for (const auto& [queued, run] : m_now.runs) {
        waiting += run.state.state == RunPhase::Queued;
        active += !is_over(run.state.state) && run.state.state != RunPhase::Queued;
    }
    const bool none_works = waiting > 0 && active == 0;
    m_header->setSubtitle(
        show::listed({active > 0 ? tr("%1 running").arg(show::count(active)) : QString(),
                      waiting > 0 ? tr("%1 waiting").arg(show::count(waiting)) : QString(),
                      none_works && m_now.is_alive ? tr("the next one is being started") : QString()}));
    m_still->setVisible(none_works && !m_now.is_alive);
    m_add->setVisible(!m_now.runs.empty());
    const QWidget* focused = window()->focusWidget();
    const bool empty_had_focus = focused && m_stack->currentIndex() == 0 && m_stack->isAncestorOf(focused);
    m_stack->setCurrentIndex(m_now.runs.empty() ? 0 : 1);
    if (empty_had_focus && !m_now.runs.empty()) m_table->setFocus();
    const int row = m_table->chosenRow();
    m_plot->choose(m_table->chosenDir());
    const bool may_move =
        row >= 0 && size_t(row) < m_now.runs.size() && !is_over(m_now.runs[size_t(row)].second.state.state);
    m_up->setEnabled(may_move && row > 0);
    m_down->setEnabled(may_move && row + 1 < m_table->rowCount());
    m_remove->setEnabled(row >= 0);
    m_open->setEnabled(row >= 0);
    const QSignalBlocker quiet(m_slots);
    if (!m_slots->hasFocus()) m_slots->setValue(m_now.queue.slots);
}

/// Calls `work`, which changes the queue's file, then shows the queue. If `work` fails, shows the reason.
void QueuePage::change(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& problem) {
        Q_EMIT m_session.notice(QString::fromStdString(problem.where) + u": "_s + message_of(problem));
    }
    refresh();
}

void QueuePage::move(const QString& dir, int place) {
    change([&] { move_in_queue(queue_folder(m_session.places()), {dir.toStdString()}, place); });
}

void QueuePage::removeChosen() {
    const QString dir = m_table->chosenDir();
    if (dir.isEmpty()) return;
    change([&] { remove_from_queue(queue_folder(m_session.places()), {dir.toStdString()}); });
}

void QueuePage::setSlots(int count) {
    change([&] {
        change_queue(queue_folder(m_session.places()), [count](Queue& queue) { queue.slots = count; });
        wake_queue(m_session.places());
    });
}

void QueuePage::add() {
    auto* dialog = new QueueDialog(m_session, m_file, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QueueDialog::queued, this, [this] {
        Q_EMIT m_session.runsChanged();
        refresh();
    });
    dialog->open();
}

void QueuePage::appear() {
    m_timer.start();
    m_service->refresh();
    refresh();
}

bool QueuePage::settled() const {
    return m_read && !m_watcher.isRunning() && m_service->settled();
}

void QueuePage::disappear() {
    m_timer.stop();
}

void QueuePage::recolour() {
    if (m_read) m_table->setRuns(m_now.runs, m_now.places, swept_keys(m_now.queue));
}

}  // namespace ringmaster
