// Implements `draw_dialogs TO APPEARANCE LANGUAGE CONFIG`: draws, as TO-NAME.png, the dialogs that no page
// shows: the questions of a login, the choices of where to run and what to queue, and the questions about a
// machine with a run. The machines are those of nodes.json in the data folder.
#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QSpinBox>
#include <QTest>
#include <cstdio>

#include "gui/app/alerts_dialog.h"
#include "gui/app/languages.h"
#include "gui/launch/launch_dialog.h"
#include "gui/launch/launch_form.h"
#include "gui/login/question_dialog.h"
#include "gui/look/look.h"
#include "gui/queue/queue_dialog.h"
#include "gui/runs/fetch_dialog.h"
#include "gui/runs/follow_dialog.h"
#include "gui/session/agree.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kPreviewMs = 4000;

void keep(QWidget& window, const QString& to, const QString& name) {
    window.show();
    QTest::qWait(150);
    const QString file = to + u'-' + name + u".png"_s;
    if (!window.grab().save(file)) qFatal("%s cannot be written", qPrintable(file));
    std::printf("%s\n", qPrintable(file));
}

void draw_questions(const QString& to) {
    TrustDialog trust({"ann@gpu2:2222", "ssh-ed25519", "SHA256:zx4k4Nq0pVQpC5wP3nqYpQ7m1n6S0b6kXv3T1u2v9Qk",
                       "/home/ann/.ssh/known_hosts"},
                      nullptr);
    keep(trust, to, u"trust"_s);
    PromptDialog code({"login1",
                       "*** Example University Research Computing ***\nUnauthorised use is "
                       "prohibited.\n\nTwo-factor login for "
                       "ann\n\nEnter a passcode or select one of the following options:\n\n 1. Push to "
                       "XXX-XXX-1234\n 2. SMS "
                       "passcodes\n\nPasscode or option (1-2): ",
                       true, true},
                      false, nullptr);
    keep(code, to, u"code"_s);
    PromptDialog password({"gpu7", "", false, false, PromptKind::Password, "ann"}, true, nullptr);
    keep(password, to, u"password"_s);
}

void draw_alerts(const QString& to) {
    AlertsDialog dialog;
    keep(dialog, to, u"alerts"_s);
    dialog.findChild<QLineEdit*>(u"alertWebhook"_s)->setText(u"hooks.example.org/T024"_s);
    QTest::mouseClick(dialog.findChild<QPushButton*>(u"alertSave"_s), Qt::LeftButton);
    keep(dialog, to, u"alerts-refused"_s);
}

void draw_launch(const QString& to, const QString& config) {
    Places places = find_places();
    places.programs_dir = RINGMASTER_BIN;
    Session session(places);
    LaunchDialog dialog(session);
    Request request;
    request.config = config.toStdString();
    request.ranks = 8;
    request.device = Device::Cuda;
    for (const QString& where : {u"launchHere"_s, u"launchNodes"_s, u"launchSlurm"_s}) {
        dialog.ask(request);
        auto* form = dialog.findChild<LaunchForm*>();
        form->findChild<QRadioButton*>(where)->setChecked(true);
        auto* nodes = form->findChild<QListWidget*>(u"launchNodeList"_s);
        for (int row = 0; row < std::min(2, nodes->count()); ++row)
            nodes->item(row)->setCheckState(Qt::Checked);
        form->findChild<QSpinBox*>(u"restartsBox"_s)->setValue(2);
        form->findChild<QLineEdit*>(u"slurmTime"_s)->setText(u"4:00:00"_s);
        form->findChild<QLineEdit*>(u"slurmGres"_s)->setText(u"gpu:h100:8"_s);
        QTest::qWait(kPreviewMs);
        keep(dialog, to, where);
        dialog.close();
        QTest::qWait(50);
    }
}

/// Draws the question what to queue: empty, with a sweep, and with a refusal.
void draw_queue(const QString& to, const QString& config) {
    Places places = find_places();
    places.programs_dir = RINGMASTER_BIN;
    Session session(places);
    QueueDialog dialog(session, {});
    keep(dialog, to, u"queue-empty"_s);
    QueueDialog sweep(session, config);
    auto* lines = sweep.findChild<QPlainTextEdit*>(u"queueSweep"_s);
    lines->setPlainText(u"learning_rate=[1e-5, 2e-5]\ngradient_accumulation_steps=[1, 2, 4]"_s);
    keep(sweep, to, u"queue-sweep"_s);
    lines->setPlainText(u"learning_rate\n"_s);
    sweep.findChild<QPushButton*>(u"queueAddButton"_s)->click();
    std::ignore = QTest::qWaitFor([&] { return !sweep.isBusy(); }, kPreviewMs);
    keep(sweep, to, u"queue-refused"_s);
}

/// Draws the dialogs about another machine: its runs, what one of them has made, and the question about a
/// restart.
void draw_elsewhere(const QString& to) {
    Session session(find_places());
    RunsThere there;
    there.host = "gpu1";
    there.has_ringmaster = true;
    const auto add = [&there](const char* name, RunPhase phase, int64_t step, int hours, bool slurm = false) {
        RunThere one;
        one.id = "5f1c02ab77de";
        one.run.name = name;
        one.run.dir = "/home/ann/.local/share/ringmaster/runs/5f1c02ab77de/" + one.run.name;
        one.run.state.state = phase;
        one.run.state.started = 1763719445 - 3600.0 * hours;
        one.run.step = step;
        one.run.total_steps = 12000;
        one.is_of_slurm = slurm;
        there.runs.push_back(one);
    };
    add("longdocs-128k-lr2e-5", RunPhase::Running, 4180, 2);
    add("longdocs-64k-varlen-llama3-heads-2", RunPhase::Completed, 12000, 30);
    add("longdocs-cp2", RunPhase::Failed, 310, 31);
    add("nightly", RunPhase::Running, 900, 5, true);
    FollowDialog follow(session);
    follow.findChild<QComboBox*>(u"followHost"_s)->setEditText(u"gpu1"_s);
    follow.open();
    follow.show(there);
    keep(follow, to, u"follow"_s);
    follow.resize(follow.minimumSize());
    keep(follow, to, u"follow-small"_s);
    FollowDialog nothing(session);
    nothing.findChild<QComboBox*>(u"followHost"_s)->setEditText(u"127.0.0.1:1"_s);
    nothing.findChild<QPushButton*>(u"lookThereButton"_s)->click();
    std::ignore = QTest::qWaitFor([&] { return !nothing.isBusy(); }, kPreviewMs);
    keep(nothing, to, u"follow-refused"_s);
    FetchDialog fetch(session, u"/runs/longdocs-64k"_s);
    fetch.show({RunPhase::Completed, true, {8000, 10000, 12000}});
    keep(fetch, to, u"fetch"_s);
    session.setAsking([&to](const YesNo& question, const auto&) {
        YesNoDialog fewer(question, nullptr);
        keep(fewer, to, u"fewer"_s);
        return false;
    });
    NodesLeft left;
    left.lost = {"gpu2: Connection refused"};
    Shrunk shrunk;
    shrunk.before.ranks = 16;
    shrunk.after.ranks = shrunk.before.context_parallel.size = shrunk.after.context_parallel.size = 8;
    shrunk.before.batch.global = shrunk.after.batch.global = 16;
    shrunk.before.batch.accumulation = 1;
    shrunk.after.batch.accumulation = 2;
    std::ignore = agreeIn(session, {})(left, shrunk);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) return 2;
    QApplication app(argc, argv);
    QApplication::setApplicationName(u"ringmaster"_s);
    QApplication::setOrganizationName(u"ringmaster"_s);
    const QStringList given = QApplication::arguments();
    use_language(given[3]);
    applyAppearance(given[2] == u"dark"_s ? Appearance::Dark : Appearance::Light);
    draw_questions(given[1]);
    draw_alerts(given[1]);
    draw_launch(given[1], given[4]);
    draw_queue(given[1], given[4]);
    draw_elsewhere(given[1]);
}
