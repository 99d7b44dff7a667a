#include "gui/launch/launch_dialog.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <set>

#include "engine/error.h"
#include "gui/launch/stepper.h"
#include "gui/look/card.h"
#include "gui/look/look.h"
#include "launcher/example.h"
#include "launcher/local_node.h"
#include "launcher/prepare.h"
#include "launcher/setup.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

enum Phase { kCheck, kPrepare, kStart, kMeet, kFirstStep };

Job::Work launch_work(const Places& places, const Request& request, bool overwrite,
                      std::shared_ptr<std::atomic<bool>> in_the_way) {
    return [=](const Job::Reporter& report) {
        report.phase(kCheck);
        const Machine machine = this_machine();
        const Proposal proposal = propose(request, machine, places);
        require_launchable(proposal);
        try {
            check_output_dir(proposal.reading.config.output_dir, overwrite);
        } catch (const Error&) {
            in_the_way->store(true);  // the one refusal that a press of a button can answer
            throw;
        }
        require_startable(proposal.plan, machine, places);
        report.phase(kPrepare);
        RunOptions options;
        options.name = suggest_run_name(request.config);
        options.overwrite = overwrite;
        const PreparedRun prepared = prepare_run(proposal, options, machine, places, report.progress);
        report.progress.stop_if_cancelled();
        report.phase(kStart);
        start_run(prepared.run, prepared.plan, machine, places);
        return QString::fromStdString(prepared.run.dir.string());
    };
}

Job::Work resume_work(const Places& places, const QString& dir, const ResumeOptions& options) {
    return [=](const Job::Reporter& report) {
        report.phase(kCheck);
        const RunDirectory run{dir.toStdString()};
        const Machine machine = this_machine();
        report.phase(kPrepare);
        const ResumedRun resumed = prepare_resume(run, options, machine, places, report.progress);
        report.progress.stop_if_cancelled();
        report.phase(kStart);
        start_resumed(run, resumed, machine, places);
        return dir;
    };
}

}  // namespace

LaunchDialog::LaunchDialog(Session& session, QWidget* parent)
    : QDialog(parent),
      m_session(session),
      m_title(new QLabel),
      m_room(new QVBoxLayout),
      m_banner(new Banner),
      m_warnings(mutedLabel()),
      m_cancel(new QPushButton(tr("Cancel"))),
      m_away(new QPushButton(tr("Close"))) {
    setObjectName(u"launchDialog"_s);
    m_title->setFont(fontOf(Type::Title));
    m_warnings->setWordWrap(true);
    m_banner->hide();
    m_warnings->hide();
    m_cancel->setObjectName(u"cancelLaunchButton"_s);
    m_away->setObjectName(u"closeLaunchButton"_s);
    auto* buttons = new QHBoxLayout;
    buttons->addStretch(1);
    buttons->addWidget(m_cancel);
    buttons->addWidget(m_away);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space(1.4), space(1.2), space(1.4), space(1.2));
    layout->setSpacing(space(0.9));
    layout->addWidget(m_title);
    layout->addLayout(m_room);
    layout->addWidget(m_warnings);
    layout->addWidget(m_banner);
    layout->addStretch(1);
    layout->addLayout(buttons);
    setMinimumWidth(space(30));
    connect(m_away, &QPushButton::clicked, this, &QDialog::accept);
    connect(m_cancel, &QPushButton::clicked, this, &LaunchDialog::reject);
}

void LaunchDialog::begin(const QString& title, const QStringList& phases, Job::Work work) {
    setWindowTitle(title);
    m_title->setText(title);
    delete m_stepper;
    m_stepper = new Stepper(phases);
    m_room->addWidget(m_stepper);
    m_banner->hide();
    m_banner->clearActions();
    m_warnings->clear();
    m_warnings->hide();
    m_watch.reset();
    m_dir.clear();
    m_busy = true;
    m_cancel->show();
    m_cancel->setEnabled(true);
    m_cancel->setText(tr("Cancel"));
    m_away->hide();
    m_stepper->reach(0);
    delete m_job;
    m_job = new Job(std::move(work), this);
    connect(m_job, &Job::phaseReached, m_stepper, &Stepper::reach);
    connect(m_job, &Job::progressed, m_stepper, &Stepper::progress);
    connect(m_job, &Job::warned, this, [this](const QString& text) {
        m_warnings->setText(m_warnings->text().isEmpty() ? text : m_warnings->text() + u'\n' + text);
        m_warnings->show();
    });
    connect(m_job, &Job::failed, this, &LaunchDialog::showFailure);
    connect(m_job, &Job::cancelled, this, [this] {
        m_busy = false;
        QDialog::reject();
    });
    m_job->start();
    open();
}

void LaunchDialog::launch(const Request& request, bool overwrite) {
    m_request = request;
    auto in_the_way = std::make_shared<std::atomic<bool>>(false);
    begin(tr("Launch"),
          {tr("Check the plan"), tr("Prepare model and data"), tr("Start the ranks"), tr("Ranks meet"),
           tr("First step")},
          launch_work(m_session.places(), request, overwrite, in_the_way));
    connect(m_job, &Job::failed, this, [this, in_the_way] {
        if (!in_the_way->load()) return;
        connect(offer(tr("Overwrite")), &QPushButton::clicked, this, [this] { launch(*m_request, true); });
    });
    connect(m_job, &Job::finished, this, &LaunchDialog::follow);
}

void LaunchDialog::resume(const QString& dir, const ResumeOptions& options) {
    begin(tr("Resume"),
          {tr("Check the checkpoint"), tr("Prepare model and data"), tr("Start the ranks"), tr("Ranks meet"),
           tr("First step")},
          resume_work(m_session.places(), dir, options));
    connect(m_job, &Job::finished, this, &LaunchDialog::follow);
}

void LaunchDialog::setUp() {
    begin(tr("Set up"), {tr("Install PyTorch and the Hugging Face libraries (some GB)")},
          [places = m_session.places()](const Job::Reporter& report) {
              set_up(places, report.progress);
              return QString();
          });
    connect(m_job, &Job::finished, this, [this] {
        m_busy = false;
        m_stepper->finish();
        Q_EMIT madeReady();
        accept();
    });
}

void LaunchDialog::makeExample() {
    begin(tr("The example"), {tr("Make the example")},
          [places = m_session.places()](const Job::Reporter& report) {
              return QString::fromStdString(make_example(places, report.progress).string());
          });
    connect(m_job, &Job::finished, this, [this](const QString& file) {
        m_busy = false;
        accept();
        Q_EMIT exampleMade(file);
    });
}

void LaunchDialog::follow(const QString& dir) {
    m_dir = dir;
    Q_EMIT started(dir);
    m_stepper->reach(kMeet);
    m_cancel->setText(tr("Stop now"));
    m_away->setText(tr("Show in Monitor"));
    m_away->show();
    m_away->setFocus();
    try {
        m_watch = std::make_unique<RunWatch>(RunDirectory{dir.toStdString()});
    } catch (const Error& error) {
        showFailure({QString::fromUtf8(error.what()), QString::fromStdString(error.where), {}, {}});
        return;
    }
    connect(m_watch.get(), &RunWatch::eventsArrived, this, &LaunchDialog::read);
    connect(m_watch.get(), &RunWatch::stateChanged, this, &LaunchDialog::stateChanged);
}

void LaunchDialog::read(const std::vector<EventLine>& events) {
    const RunFollower& follower = m_watch->follower();
    int met = 0;
    for (const RankProgress& rank : follower.ranks()) met += rank.hello.has_value();
    const int all = follower.state().ranks;
    if (all > 0 && met < all) m_stepper->progress(tr("ranks"), met, all);
    if (all > 0 && met >= all) m_stepper->reach(kFirstStep);
    for (const EventLine& line : events) {
        if (const auto* phase = std::get_if<PhaseEvent>(&line.event); phase && line.rank == 0)
            m_stepper->progress(QString::fromStdString(phase->name), phase->done, phase->total);
        const auto* step = std::get_if<StepEvent>(&line.event);
        if (step && line.t >= follower.state().started) {
            m_busy = false;
            m_stepper->finish();
            const QString dir = m_dir;
            accept();
            Q_EMIT firstStep(dir);
            return;
        }
    }
}

void LaunchDialog::stateChanged() {
    const RunState& state = m_watch->follower().state();
    if (!is_over(state.state) || !m_busy) return;
    if (state.state == RunPhase::Failed) {
        showEnd(QString::fromStdString(state.reason), tr("The ranks' logs are in Monitor."));
    } else {
        m_busy = false;
        accept();
    }
}

void LaunchDialog::showFailure(const JobFailure& failure) {
    QString what = failure.where.isEmpty() ? failure.what : failure.where + u": "_s + failure.what;
    for (const Diagnostic& said : failure.diagnostics) {
        if (said.severity != Severity::Error) continue;
        what += u"\n\u2022 "_s + (said.line > 0 ? tr("line %1: ").arg(said.line) : QString()) +
                QString::fromStdString(said.message);
        if (!said.hint.empty()) what += u' ' + QString::fromStdString(said.hint);
    }
    showEnd(what, failure.hint);
    if (!is_set_up(m_session.places())) {
        connect(offer(tr("Set up")), &QPushButton::clicked, this, [this] { setUp(); });
    }
}

void LaunchDialog::showEnd(const QString& what, const QString& hint) {
    m_busy = false;
    m_stepper->fail();
    m_banner->clearActions();
    m_banner->say(Tone::Error, tr("It did not start."), what, hint);
    m_banner->show();
    m_cancel->hide();
    m_away->setText(tr("Close"));
    m_away->show();
    m_away->setFocus();
}

QPushButton* LaunchDialog::offer(const QString& text) {
    return m_banner->addAction(text);
}

void LaunchDialog::reject() {
    if (!m_busy) {
        QDialog::reject();
        return;
    }
    m_cancel->setEnabled(false);
    if (m_dir.isEmpty()) {
        m_job->cancel();
        m_stepper->progress(tr("calling it off"), 0, 0);
        return;
    }
    try {
        request_stop(RunDirectory{m_dir.toStdString()}, StopHow::Now);
    } catch (const Error& error) {
        showEnd(QString::fromUtf8(error.what()), QString::fromStdString(error.hint));
    }
}

}  // namespace ringmaster
