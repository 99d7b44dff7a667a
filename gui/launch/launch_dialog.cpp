#include "gui/launch/launch_dialog.h"

#include <QDialogButtonBox>
#include <QEvent>
#include <QLabel>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

#include "engine/error.h"
#include "gui/launch/launch_form.h"
#include "gui/launch/started_run.h"
#include "gui/launch/stepper.h"
#include "gui/look/card.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/session/agree.h"
#include "gui/session/failure_words.h"
#include "launcher/base/setup.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr double kFormEms = 44;  ///< width of the form, which is wider than the list of phases
constexpr double kMostEms = 46;  ///< height up to which the dialog grows to show a long preview

/// Scrolls the form if the screen is too low for it; otherwise shows it at its full height.
class FormRoom : public QScrollArea {
  public:
    explicit FormRoom(QWidget* form) {
        setFrameShape(QFrame::NoFrame);
        setWidgetResizable(true);
        setFocusPolicy(Qt::NoFocus);
        setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
        setWidget(form);
        form->setAutoFillBackground(false);
        viewport()->setAutoFillBackground(false);
    }
    QSize sizeHint() const override { return widget()->sizeHint(); }
    QSize minimumSizeHint() const override { return {widget()->minimumSizeHint().width(), space(10)}; }
    bool hasHeightForWidth() const override { return widget()->hasHeightForWidth(); }
    int heightForWidth(int width) const override { return widget()->heightForWidth(width); }

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (watched == widget() && event->type() == QEvent::LayoutRequest) updateGeometry();
        return QScrollArea::eventFilter(watched, event);
    }
};

}  // namespace

LaunchDialog::LaunchDialog(Session& session, QWidget* parent)
    : QDialog(parent),
      m_session(session),
      m_title(new QLabel),
      m_room(new QVBoxLayout),
      m_banner(new Banner),
      m_warnings(mutedLabel()),
      m_cancel(new QPushButton(tr("Cancel"))),
      m_buttons(new QDialogButtonBox),
      m_away(new QPushButton(tr("Close"))),
      m_go(primaryButton(tr("Launch"))),
      m_queue(new QPushButton(tr("Add to the queue"))) {
    setObjectName(u"launchDialog"_s);
    m_title->setFont(fontOf(Type::Title));
    m_warnings->setWordWrap(true);
    m_banner->hide();
    m_warnings->hide();
    m_cancel->setObjectName(u"cancelLaunchButton"_s);
    m_away->setObjectName(u"closeLaunchButton"_s);
    m_go->setObjectName(u"goLaunchButton"_s);
    m_queue->setObjectName(u"queueLaunchButton"_s);
    for (QPushButton* button : {m_go, m_away, m_queue, m_cancel}) {
        button->setParent(this);
        button->hide();
    }
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space(1.4), space(1.2), space(1.4), space(1.2));
    layout->setSpacing(space(0.8));
    layout->addWidget(m_title);
    layout->addLayout(m_room, 1);
    layout->addWidget(m_warnings);
    layout->addWidget(m_banner);
    layout->addWidget(m_buttons);
    setMinimumWidth(space(30));
    connect(m_away, &QPushButton::clicked, this, &QDialog::accept);
    connect(m_cancel, &QPushButton::clicked, this, &LaunchDialog::reject);
    connect(m_go, &QPushButton::clicked, this, [this] { go(LaunchWhen::Now); });
    connect(m_queue, &QPushButton::clicked, this, [this] { go(LaunchWhen::InTurn); });
}

LaunchDialog::~LaunchDialog() {
    if (m_given_up) m_given_up->store(true);
}

void LaunchDialog::clear(const QString& title) {
    setWindowTitle(title);
    m_title->setText(title);
    delete m_stepper;
    dropForm();
    m_banner->hide();
    m_banner->clearActions();
    m_warnings->clear();
    m_warnings->hide();
    delete m_started;
    for (QPushButton* button : {m_go, m_queue, m_away}) setOffered(button, false);
    setOffered(m_cancel, true);
    m_cancel->setEnabled(true);
    m_cancel->setText(tr("Cancel"));
    m_cancel->setDefault(true);
    m_cancel->setFocus();
}

/// Shows or hides a button. A hidden button is removed from the button box, which would otherwise show it
/// again when the style changes, and give it the focus.
void LaunchDialog::setOffered(QPushButton* button, bool offered) {
    if (offered == m_buttons->buttons().contains(button)) return;
    if (!offered) {
        m_buttons->removeButton(button);
        button->setParent(this);
        button->hide();
        return;
    }
    m_buttons->addButton(button, button == m_cancel  ? QDialogButtonBox::RejectRole
                                 : button == m_queue ? QDialogButtonBox::ActionRole
                                                     : QDialogButtonBox::AcceptRole);
    button->show();
}

/// Deletes the form later, because the pressed button may belong to it.
void LaunchDialog::dropForm() {
    if (!m_form) return;
    m_form->disconnect(this);  // a timer of the form may fire before the form is deleted
    m_form_room->hide();
    m_form_room->deleteLater();
    m_form.clear();
}

void LaunchDialog::ask(const Request& request) {
    clear(tr("Launch"));
    m_request = request;
    m_form = new LaunchForm(m_session, request);
    m_form_room = new FormRoom(m_form);
    m_room->addWidget(m_form_room);
    const auto show = [this] {
        m_go->setText(m_form->actionText());
        m_go->setEnabled(m_form->isReady());
        const QString why_not = m_form->whyNotQueued();
        m_queue->setEnabled(m_form->isReady() && why_not.isEmpty());
        m_queue->setToolTip(why_not.isEmpty() ? tr("Prepare the run now; it starts there when its turn comes")
                                              : why_not);
        QTimer::singleShot(0, this, &LaunchDialog::growToFit);  // the fields depend on the chosen place
    };
    connect(m_form, &LaunchForm::changed, this, show);
    connect(m_form, &LaunchForm::nodesWanted, this, [this] {
        reject();
        Q_EMIT nodesWanted();
    });
    show();
    setOffered(m_queue, true);
    setOffered(m_go, true);
    m_go->setDefault(true);
    m_go->setFocus();
    resize(std::max(width(), space(kFormEms)), std::max(height(), space(38)));
    open();
}

void LaunchDialog::go(LaunchWhen when) {
    const auto choice = m_form ? m_form->choice() : std::nullopt;
    if (!choice || !m_form->isReady()) return;
    m_form->keep();
    launch(m_request, *choice, when);
}

void LaunchDialog::begin(const LaunchJob& job) {
    clear(job.title);
    m_refused = job.refused;
    m_phases = job.phases;
    m_stepper = new Stepper(job.names);
    m_room->addWidget(m_stepper, 0, Qt::AlignTop);
    m_busy = true;
    m_stepper->reach(0);
    delete m_job;
    m_job = new Job(job.work, this);
    connect(m_job, &Job::phaseReached, m_stepper, &Stepper::reach);
    connect(m_job, &Job::progressed, m_stepper, &Stepper::progress);
    connect(m_job, &Job::warned, this, [this](const QString& text) {
        m_warnings->setText(m_warnings->text().isEmpty() ? text : m_warnings->text() + u'\n' + text);
        m_warnings->show();
    });
    connect(m_job, &Job::failed, this, [this](const JobFailure& failure) {
        if (m_given_up && m_given_up->load()) {  // the failure is only a result of the cancellation
            m_busy = false;
            QDialog::reject();
            return;
        }
        showFailure(failure);
    });
    connect(m_job, &Job::cancelled, this, [this] {
        m_busy = false;
        QDialog::reject();
    });
    m_job->start();
    open();
    QTimer::singleShot(0, this, &QWidget::adjustSize);  // the form was larger than the phases
}

LaunchOrder LaunchDialog::orderFor(const Request& request, const LaunchChoice& choice) {
    m_given_up = std::make_shared<std::atomic<bool>>(false);
    LaunchOrder order;
    order.places = m_session.places();
    order.request = request;
    order.choice = choice;
    order.person = m_session.person([flag = m_given_up] { return flag->load(); });
    order.agree = agreeIn(m_session, [flag = m_given_up] { return flag->load(); });
    return order;
}

/// Launches the run or queues it. After a failure, the dialog offers to go back to the form. If other files
/// in the output folder were the reason, it also offers to overwrite them.
void LaunchDialog::launch(const Request& request, const LaunchChoice& choice, LaunchWhen when,
                          bool overwrite) {
    m_request = request;
    LaunchOrder order = orderFor(request, choice);
    order.overwrite = overwrite;
    if (m_form) order.reached = m_form->takeReached();
    begin(launchJob(order, when));
    connect(m_job, &Job::failed, this, [this, order, when] {
        if (!m_busy && !m_banner->isVisible()) return;  // the launch was cancelled
        connect(offer(tr("Back")), &QPushButton::clicked, this, [this] { ask(m_request); });
        if (order.in_the_way->load())
            connect(offer(tr("Overwrite")), &QPushButton::clicked, this,
                    [this, order, when] { launch(order.request, order.choice, when, true); });
    });
    connect(m_job, &Job::finished, this, [this, order, when](const QString& dir) {
        if (when == LaunchWhen::Now) return take(order, dir);
        finish();
        Q_EMIT queued(dir);
    });
}

void LaunchDialog::resume(const QString& dir, const ResumeOptions& options) {
    const LaunchOrder order = orderFor({}, {});
    begin(resumeJob(order, dir, options));
    connect(m_job, &Job::finished, this, [this, order](const QString& run) { take(order, run); });
}

void LaunchDialog::setUp() {
    makeReady(setUpJob(m_session.places()));
}

void LaunchDialog::measure() {
    if (m_session.machine()) makeReady(measureJob(m_session.places(), *m_session.machine()));
}

void LaunchDialog::makeReady(const LaunchJob& job) {
    m_given_up.reset();
    begin(job);
    connect(m_job, &Job::finished, this, [this] {
        finish();
        Q_EMIT madeReady();
    });
}

void LaunchDialog::makeExample() {
    m_given_up.reset();
    begin(exampleJob(m_session.places()));
    connect(m_job, &Job::finished, this, [this](const QString& file) {
        finish();
        Q_EMIT exampleMade(file);
    });
}

void LaunchDialog::finish() {
    m_given_up.reset();
    m_busy = false;
    m_stepper->finish();
    accept();
}

/// Hands a started run and its logged-in sessions to the RunKeeper. From then on, this dialog only follows
/// the run.
void LaunchDialog::take(const LaunchOrder& order, const QString& dir) {
    m_given_up.reset();
    RestartLimits limits;
    try {
        limits = restart_limits_of(RunDirectory{dir.toStdString()});
    } catch (const Error&) {  // options.json is damaged; StartedRun reports it
        limits = {};
    }
    m_session.keeper().keep(dir, order.sessions, limits);
    Q_EMIT started(dir);
    reach(m_phases.at(m_phases.size() - 3) == LaunchPhase::Queue ? LaunchPhase::Queue : LaunchPhase::Meet);
    m_cancel->setText(tr("Stop now"));
    m_away->setText(tr("Show in Monitor"));
    setOffered(m_away, true);
    m_away->setFocus();
    m_started = new StartedRun(m_session, dir, this);
    connect(m_started, &StartedRun::reached, this, &LaunchDialog::reach);
    connect(m_started, &StartedRun::progressed, this, [this](const QString& what, qint64 done, qint64 total) {
        if (m_busy) m_stepper->progress(what, done, total);
    });
    connect(m_started, &StartedRun::failed, this, [this](const QString& what, const QString& hint) {
        if (m_busy) showEnd(what, hint);
    });
    connect(m_started, &StartedRun::done, this, [this] {
        if (m_busy) finish();
    });
    m_started->begin();
}

void LaunchDialog::reach(LaunchPhase phase) {
    const auto at = std::find(m_phases.begin(), m_phases.end(), phase);
    if (at != m_phases.end()) m_stepper->reach(int(at - m_phases.begin()));
}

void LaunchDialog::showFailure(const JobFailure& failure) {
    const auto [what, next] = failureWords(failure);
    showEnd(what, next);
    if (!is_set_up(m_session.places())) {
        connect(offer(tr("Set up")), &QPushButton::clicked, this, [this] { setUp(); });
    }
}

void LaunchDialog::showEnd(const QString& what, const QString& hint) {
    m_busy = false;
    m_stepper->fail();
    m_banner->clearActions();
    m_banner->say(Tone::Error, m_refused, what, hint);
    m_banner->show();
    setOffered(m_cancel, false);
    m_away->setText(tr("Close"));
    setOffered(m_away, true);
    m_away->setFocus();
    QTimer::singleShot(0, this, &LaunchDialog::growToFit);  // runs after the caller has added its buttons
}

/// Grows again when the form or a banner that is already shown gets taller, for example by a button.
bool LaunchDialog::event(QEvent* event) {
    const bool is_handled = QDialog::event(event);
    const bool has_grown = event->type() == QEvent::LayoutRequest && !m_busy;
    if (has_grown && (m_form || m_banner->isVisible())) growToFit();
    return is_handled;
}

/// Enlarges the dialog until all phases and the complete message are visible, if the screen has room. Grows
/// up to kMostEms to show the preview; the rest of the preview scrolls.
void LaunchDialog::growToFit() {
    const int wide = std::max(width(), space(34));
    const int high =
        layout()->hasHeightForWidth() ? layout()->totalHeightForWidth(wide) : sizeHint().height();
    const QSize room = screen()->availableGeometry().size() - QSize(space(2), space(3));
    const int unseen = m_form ? m_form->hiddenHeight() : 0;
    const int shown = std::max(height(), std::min(height() + unseen, space(kMostEms)));
    resize(QSize(wide, std::max(shown, high)).boundedTo(room));
}

QPushButton* LaunchDialog::offer(const QString& text) {
    return m_banner->addAction(text);
}

void LaunchDialog::reject() {
    if (!m_busy) {
        dropForm();
        QDialog::reject();
        return;
    }
    m_cancel->setEnabled(false);
    if (m_started) return m_started->stopNow();
    m_job->cancel();
    if (m_given_up) m_given_up->store(true);
    m_stepper->progress(tr("calling it off"), 0, 0);
}

}  // namespace ringmaster
