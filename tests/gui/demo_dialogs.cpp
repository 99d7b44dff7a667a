#include "tests/gui/demo_dialogs.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QFile>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QSpinBox>
#include <QTest>
#include <QTimer>

#include "gui/app/alerts_dialog.h"
#include "gui/app/main_window.h"
#include "gui/launch/launch_dialog.h"
#include "gui/launch/launch_form.h"
#include "gui/login/question_dialog.h"
#include "gui/look/card.h"
#include "gui/look/side_by_side.h"
#include "gui/plan/adapt_dialog.h"
#include "gui/plan/yaml_editor.h"
#include "gui/queue/queue_dialog.h"
#include "gui/runs/fetch_dialog.h"
#include "gui/runs/follow_dialog.h"
#include "gui/runs/run_actions.h"
#include "gui/session/agree.h"
#include "gui/try/publish_dialog.h"
#include "launcher/run/local_node.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kPatienceMs = 20000;
constexpr int kPreviewStartsMs = 400;  ///< the form starts its preview within this time after a change

void wait_for(const std::function<bool()>& done) {
    if (!QTest::qWaitFor(done, kPatienceMs)) qFatal("a dialog does not come to rest");
}

/// Calls `open`, passes the modal box named `object` that it opens to `shown`, then closes the box with
/// Escape.
void show_box(const Shown& shown, const char* name, const char* object, const std::function<void()>& open) {
    bool seen = false;
    QTimer::singleShot(0, qApp, [&] {
        wait_for([] { return QApplication::activeModalWidget() != nullptr; });
        QWidget* box = QApplication::activeModalWidget();
        if (box->objectName() != QLatin1String(object))
            qFatal("%s opened in place of %s", qPrintable(box->objectName()), object);
        shown(*box, QString::fromLatin1(name));
        seen = true;
        QTest::keyClick(box, Qt::Key_Escape);
    });
    open();
    if (!seen) qFatal("%s did not open", name);
}

void show_questions(const Shown& shown) {
    TrustDialog trust({"ann@gpu2:2222", "ssh-ed25519", "SHA256:zx4k4Nq0pVQpC5wP3nqYpQ7m1n6S0b6kXv3T1u2v9Qk",
                       "/home/ann/.ssh/known_hosts"},
                      nullptr);
    shown(trust, u"trust"_s);
    PromptDialog code({"login1",
                       "*** Example University Research Computing ***\nUnauthorised use is "
                       "prohibited.\n\nTwo-factor login for "
                       "ann\n\nEnter a passcode or select one of the following options:\n\n 1. Push to "
                       "XXX-XXX-1234\n 2. SMS "
                       "passcodes\n\nPasscode or option (1-2): ",
                       true, true},
                      false, nullptr);
    shown(code, u"code"_s);
    PromptDialog password({"gpu7", "", false, false, PromptKind::Password, "ann"}, true, nullptr);
    shown(password, u"password"_s);
}

void show_alerts(const Shown& shown) {
    AlertsDialog dialog;
    dialog.show();
    shown(dialog, u"alerts"_s);
    const auto refused = [&](const char* field, const QString& text, const char* name) {
        auto* line = dialog.findChild<QLineEdit*>(QString::fromLatin1(field));
        line->setText(text);
        QTest::mouseClick(dialog.findChild<QPushButton*>(u"alertSave"_s), Qt::LeftButton);
        shown(dialog, QString::fromLatin1(name));
        line->clear();
    };
    refused("alertWebhook", u"hooks.example.org/T024"_s, "alerts-webhook");
    refused("alertCommand", u"mail -s 'Ringmaster"_s, "alerts-quote");
    refused("alertCommand", u"\"\" ann"_s, "alerts-command");
}

void show_launch(const Shown& shown, const QString& config) {
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
        QTest::qWait(kPreviewStartsMs);
        wait_for([&] { return form->findChild<QLabel*>(u"previewState"_s)->text().isEmpty(); });
        shown(dialog, where);
        dialog.close();
        QTest::qWait(1);
    }
    request.config = QFileInfo(config).path().toStdString() + "/missing.yml";
    dialog.launch(request);
    wait_for([&] { return !dialog.isBusy(); });
    shown(dialog, u"launch-failed"_s);
    LaunchChoice choice;
    choice.to.nodes = {"127.0.0.1:1"};
    dialog.launch(request, choice);
    wait_for([&] { return !dialog.isBusy(); });
    shown(dialog, u"launch-unreachable"_s);
}

/// Draws the dialog that asks what to queue: empty, with a sweep, and with a refusal.
void show_queue(const Shown& shown, const QString& config) {
    Places places = find_places();
    places.programs_dir = RINGMASTER_BIN;
    Session session(places);
    QueueDialog dialog(session, {});
    shown(dialog, u"queue-new"_s);
    QueueDialog sweep(session, config);
    auto* lines = sweep.findChild<QPlainTextEdit*>(u"queueSweep"_s);
    lines->setPlainText(u"learning_rate=[1e-5, 2e-5]\ngradient_accumulation_steps=[1, 2, 4]"_s);
    shown(sweep, u"queue-sweep"_s);
    lines->setPlainText(u"learning_rate\n"_s);
    sweep.findChild<QPushButton*>(u"queueAddButton"_s)->click();
    wait_for([&] { return !sweep.isBusy(); });
    shown(sweep, u"queue-refused"_s);
}

/// Draws the dialogs about another machine: its runs, what can be fetched from one of them, and the question
/// about a restart.
void show_elsewhere(const Shown& shown) {
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
    shown(follow, u"follow"_s);
    follow.resize(follow.minimumSize());
    shown(follow, u"follow-small"_s);
    FollowDialog nothing(session);
    nothing.findChild<QComboBox*>(u"followHost"_s)->setEditText(u"127.0.0.1:1"_s);
    nothing.findChild<QPushButton*>(u"lookThereButton"_s)->click();
    wait_for([&] { return !nothing.isBusy(); });
    shown(nothing, u"follow-refused"_s);
    FetchDialog fetch(session, u"/runs/longdocs-64k"_s);
    fetch.show({RunPhase::Completed, true, {8000, 10000, 12000}});
    shown(fetch, u"fetch"_s);
    session.setAsking([&shown](const YesNo& question, const auto&) {
        YesNoDialog fewer(question, nullptr);
        shown(fewer, u"fewer"_s);
        return false;
    });
    NodesLeft left;
    left.lost.emplace_back().host = "gpu2";
    left.lost.back().found(NodeVerdict::Unreachable, {"refused", {"gpu2", "22"}});
    Shrunk shrunk;
    shrunk.before.ranks = 16;
    shrunk.after.ranks = shrunk.before.context_parallel.size = shrunk.after.context_parallel.size = 8;
    shrunk.before.batch.global = shrunk.after.batch.global = 16;
    shrunk.before.batch.accumulation = 1;
    shrunk.after.batch.accumulation = 2;
    std::ignore = agreeIn(session, {})(left, shrunk);
}

Request on_eight_gpus(const QString& config) {
    Request request;
    request.config = config.toStdString();
    request.ranks = 8;
    request.device = Device::Cuda;
    request.device_memory_bytes = int64_t{80} << 30;
    return request;
}

/// Draws what "Make it run…" would change in a file with mistakes.
void show_adapt(const Shown& shown, const QString& config) {
    AdaptDialog dialog(adapt(on_eight_gpus(config), Machine(), find_places()));
    dialog.show();
    shown(dialog, u"adapt"_s);
}

/// Draws the publish dialog twice: for a run's model, with the repository filled in, and for a model folder.
void show_publish(const Shown& shown) {
    PublishDialog of_run(u"longdocs-64k"_s, true, nullptr);
    of_run.findChild<QLineEdit*>(u"publishRepository"_s)->setText(u"ann/longdocs-64k"_s);
    of_run.show();
    shown(of_run, u"publish"_s);
    PublishDialog of_folder(u"merged"_s, false, nullptr);
    of_folder.show();
    shown(of_folder, u"publish-folder"_s);
}

void show_menus(const Shown& shown, MainWindow& window) {
    QMenu* menu = window.findChild<QPushButton*>(u"menuButton"_s)->menu();
    QList<QMenu*> menus{menu};
    for (const QAction* action : menu->actions())
        if (action->menu()) menus << action->menu();
    for (qsizetype at = 0; at < menus.size(); ++at) {
        menus[at]->popup({});
        shown(*menus[at], u"menu-%1"_s.arg(at));
        menus[at]->hide();
    }
    show_box(shown, "about", "", [&] { window.findChild<QAction*>(u"aboutAction"_s)->trigger(); });
}

void show_palette(const Shown& shown, MainWindow& window) {
    const auto open = [&] {
        window.findChild<QAction*>(u"paletteAction"_s)->trigger();
        return window.findChild<QDialog*>(u"commandPalette"_s);
    };
    QDialog* palette = open();
    shown(*palette, u"palette"_s);
    QTest::keyClicks(palette->findChild<QLineEdit*>(), u"qqq"_s);
    shown(*palette, u"palette-nothing"_s);
    palette->close();
}

/// Draws the questions that the app asks before edits, runs or restarts are lost.
void show_losses(const Shown& shown, Session& session, MainWindow& window, const QString& config) {
    window.openPath(config);
    Page* plan = window.page(u"plan"_s);
    wait_for([&] { return plan->settled(); });
    QTest::keyClick(window.findChild<YamlEditor*>(), Qt::Key_Return);
    wait_for([&] { return plan->settled(); });
    show_box(shown, "unsaved", "unsavedBox", [&] { plan->mayClose(); });
    show_box(shown, "save-launch", "saveLaunchBox",
             [&] { window.findChild<QPushButton*>(u"launchButton"_s)->click(); });
    QTest::keyClick(window.findChild<YamlEditor*>(), Qt::Key_Z, Qt::ControlModifier);
    RunActions actions(session, &window);
    const auto dir = [&](const char* name) {
        return QString::fromStdString((session.places().runs_dir / name).string());
    };
    show_box(shown, "delete", "deleteBox", [&] {
        actions.askDelete({dir("longdocs-lr1e-5"), dir("longdocs-cp4")});
    });
    window.openPath(dir("longdocs-2"));
    show_box(shown, "live-runs", "liveRunsBox", [&] { window.close(); });
}

void show_main(const Shown& shown, const QString& config) {
    Places places = find_places();
    places.programs_dir = RINGMASTER_BIN;
    Session session(places);
    MainWindow window(session);
    window.resize(1024, 700);
    window.choose(on_eight_gpus({}));
    window.show();
    wait_for([&] { return window.page(u"start"_s)->settled(); });
    show_menus(shown, window);
    show_palette(shown, window);
    show_losses(shown, session, window, config);
}

}  // namespace

void show_dialogs(const QString& home, const Shown& shown) {
    const QString config = home + u"/longdocs.yml"_s;
    show_questions(shown);
    show_alerts(shown);
    show_launch(shown, config);
    show_queue(shown, config);
    show_elsewhere(shown);
    show_publish(shown);
    show_adapt(shown, home + u"/mistakes.yml"_s);
    show_main(shown, config);
}

}  // namespace ringmaster
