// Uses a run on another machine as a user does, with a real sshd and the real engine: names the machine,
// trusts its key, launches there, loses the connection and restores it, stops, resumes, and fetches the
// model. Also tests a run queued for the machine, a rank that dies on one of two machines, and following a
// run that somebody else launched.
#include <signal.h>

#include <QApplication>
#include <QComboBox>
#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QProcess>
#include <QPushButton>
#include <QRadioButton>
#include <QSpinBox>
#include <QTest>
#include <QTreeWidget>

#include "engine/error.h"
#include "engine/plan/resolve/plan_json.h"
#include "gui/app/main_window.h"
#include "gui/launch/launch_dialog.h"
#include "gui/launch/launch_form.h"
#include "gui/login/question_dialog.h"
#include "gui/look/look.h"
#include "gui/monitor/monitor_page.h"
#include "gui/nodes/nodes_page.h"
#include "gui/runs/fetch_dialog.h"
#include "gui/runs/follow_dialog.h"
#include "gui/session/run_keeper.h"
#include "launcher/backends/queue_place.h"
#include "launcher/backends/run_follower.h"
#include "launcher/nodes/remote_run.h"
#include "launcher/queue/queue_file.h"
#include "launcher/run/recorded_run.h"
#include "tests/gui/own_home.h"
#include "tests/support/sshd.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kPatienceMs = 240000;  ///< time limit for a run's next change; a machine may be busy

RunPhase state_of(const QString& dir) {
    return read_run_state(dir.toStdString()).state;
}

std::vector<int64_t> steps_of(const QString& dir, size_t rank) {
    std::vector<int64_t> steps;
    for_each_step({dir.toStdString()}, {static_cast<int>(rank)},
                  [&](int, const Timed<StepEvent>& step) { steps.push_back(step.event.step); });
    return steps;
}

}  // namespace

class ElsewhereTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() {
        qputenv("CUDA_VISIBLE_DEVICES", "");
        qunsetenv("SSH_CONNECTION");
        applyAppearance(Appearance::Light);
        m_places = find_places();
        m_places.programs_dir = RINGMASTER_BIN;
        m_places.share_dir = m_places.programs_dir.parent_path() / "share/ringmaster";
        m_there = std::make_unique<Sshd>(m_home.filePath(u"there"_s));
        m_second = std::make_unique<Sshd>(m_home.filePath(u"second"_s));
        writeClientConfig();
        m_example = m_home.makeExample(m_places);
        m_home.write("example/example.yaml",
                     m_home.read("example/example.yaml").replace("sequence_len: 2048", "sequence_len: 1024"));
        m_home.write("example/quick.yaml", m_home.read("example/example.yaml")
                                               .replace("sequence_len: 1024", "sequence_len: 256")
                                               .replace("max_steps: 60", "max_steps: 80")
                                               .replace("./out", "./quick"));
        m_home.write("example/short.yaml", m_home.read("example/quick.yaml")
                                               .replace("max_steps: 80", "max_steps: 3")
                                               .replace("./quick", "./short"));
        m_quick = m_home.path("example/quick.yaml");
        m_short = m_home.path("example/short.yaml");
        m_session = std::make_unique<Session>(m_places);
        m_window = std::make_unique<MainWindow>(*m_session);
        m_window->resize(1280, 900);
        m_window->show();
    }

    void aMachineIsNamedItsKeyTrustedAndItCanTrain() {
        m_window->showPage(u"nodes"_s);
        auto* page = qobject_cast<NodesPage*>(m_window->page(u"nodes"_s));
        QTRY_VERIFY_WITH_TIMEOUT(page->settled(), kPatienceMs);
        for (const char* name : {"there", "second"}) {
            page->checks().add({TargetKind::Ssh, name});
            QTRY_VERIFY_WITH_TIMEOUT(QApplication::activeModalWidget() != nullptr, kPatienceMs);
            auto* asked = qobject_cast<TrustDialog*>(QApplication::activeModalWidget());
            QVERIFY(asked);
            QTest::mouseClick(asked->findChild<QPushButton*>(u"trustKeyButton"_s), Qt::LeftButton);
            QTRY_VERIFY_WITH_TIMEOUT(page->settled(), kPatienceMs);
        }
        const TargetReport& report = *page->checks().entry(1).last;
        QVERIFY2(report.node.state == NodeVerdict::Ready || report.node.state == NodeVerdict::Warning,
                 report.node.message.c_str());
        QTest::qWait(500);  // gives the app time to write the report
    }

    void aRunIsLaunchedThereAndItsStepsAreSeenHere() {
        LaunchForm* form = askForNodes(m_example);
        QVERIFY(form);
        auto* nodes = form->findChild<QListWidget*>(u"launchNodeList"_s);
        QCOMPARE(nodes->count(), 2);
        nodes->item(0)->setCheckState(Qt::Checked);
        QTest::mouseClick(form->findChild<QPushButton*>(u"showPreviewButton"_s), Qt::LeftButton);
        auto* preview = form->findChild<QPlainTextEdit*>(u"previewText"_s);
        QTRY_VERIFY_WITH_TIMEOUT(preview->toPlainText().contains(u"ringmaster-agent --run"_s), kPatienceMs);
        QVERIFY(preview->toPlainText().contains(u"torchrun --no-python --nnodes 1"_s));
        QTest::mouseClick(button("goLaunchButton"), Qt::LeftButton);
        auto* dialog = m_window->findChild<LaunchDialog*>();
        QTRY_VERIFY_WITH_TIMEOUT(!dialog->isVisible(), kPatienceMs);
        QCOMPARE(m_window->pageName(), u"monitor"_s);
        m_run = m_window->findChild<MonitorPage*>()->run();
        QVERIFY(is_remote({m_run.toStdString()}));
        QTRY_VERIFY_WITH_TIMEOUT(steps_of(m_run, 1).size() >= 3, kPatienceMs);
    }

    void aLostConnectionIsSaidAndLosesNothing() {
        m_there->stop();
        QTRY_VERIFY_WITH_TIMEOUT(m_window->findChild<QPushButton*>(u"reconnectButton"_s) != nullptr,
                                 kPatienceMs);
        QCOMPARE(state_of(m_run), RunPhase::Running);
        m_there->start();
        QTRY_VERIFY_WITH_TIMEOUT(m_window->findChild<QPushButton*>(u"reconnectButton"_s) == nullptr,
                                 kPatienceMs);
        const size_t known = steps_of(m_run, 0).size();
        QTRY_VERIFY_WITH_TIMEOUT(steps_of(m_run, 0).size() > known, kPatienceMs);
        for (size_t rank = 0; rank < 2; ++rank) {
            const std::vector<int64_t> steps = steps_of(m_run, rank);
            for (size_t i = 0; i < steps.size(); ++i) QCOMPARE(steps[i], int64_t(i) + 1);
        }
    }

    void stopSavesThereAndResumeGoesOnThere() {
        QTRY_VERIFY(button("stopButton")->isEnabled());
        QTest::mouseClick(button("stopButton"), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(state_of(m_run), RunPhase::Stopped, kPatienceMs);
        const int64_t stopped_after = steps_of(m_run, 0).back();
        QTRY_VERIFY_WITH_TIMEOUT(button("resumeButton")->isVisible(), kPatienceMs);
        QTest::mouseClick(button("resumeButton"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(steps_of(m_run, 0).back() > stopped_after, kPatienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(state_of(m_run), RunPhase::Completed, kPatienceMs);
        QCOMPARE(read_run_state(m_run.toStdString()).attempt, 2);
        const Plan plan = read_plan(m_run.toStdString() + "/plan.json");
        QVERIFY(QFile::exists(QString::fromStdString(plan.config.output_dir) + u"/model.safetensors"_s));
    }

    void aRunIsQueuedForAMachineAndTrainsThereInItsTurn() {
        auto* dialog = m_window->findChild<LaunchDialog*>();
        LaunchForm* form = askForNodes(m_short);
        QVERIFY(form);
        form->findChild<QListWidget*>(u"launchNodeList"_s)->item(0)->setCheckState(Qt::Checked);
        QTRY_VERIFY_WITH_TIMEOUT(button("queueLaunchButton")->isEnabled(), kPatienceMs);
        QTest::mouseClick(button("queueLaunchButton"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!dialog->isVisible(), kPatienceMs);
        QCOMPARE(m_window->pageName(), u"queue"_s);
        const std::vector<QueuedRun> queued = read_queue(queue_folder(m_places)).runs;
        QCOMPARE(queued.size(), size_t(1));
        QCOMPARE(queue_place(queued[0].run).hosts, std::vector<std::string>{"there"});
        const QString run = QString::fromStdString(queued[0].run.dir.string());
        QTRY_COMPARE_WITH_TIMEOUT(state_of(run), RunPhase::Completed, kPatienceMs);
        QVERIFY(is_remote(queued[0].run));
        for (size_t rank = 0; rank < 2; ++rank)
            QCOMPARE(steps_of(run, rank), (std::vector<int64_t>{1, 2, 3}));
    }

    void aRunOverTwoNodesIsStartedAgainByTheWindowOnceARankDied() {
        auto* dialog = m_window->findChild<LaunchDialog*>();
        LaunchForm* form = askForNodes(m_quick);
        QVERIFY(form);
        auto* nodes = form->findChild<QListWidget*>(u"launchNodeList"_s);
        for (int row = 0; row < 2; ++row) nodes->item(row)->setCheckState(Qt::Checked);
        form->findChild<QSpinBox*>(u"restartsBox"_s)->setValue(1);
        QTest::mouseClick(form->findChild<QPushButton*>(u"showPreviewButton"_s), Qt::LeftButton);
        auto* preview = form->findChild<QPlainTextEdit*>(u"previewText"_s);
        QTRY_VERIFY_WITH_TIMEOUT(preview->toPlainText().contains(u"up to 1, by the program"_s), kPatienceMs);
        QTest::mouseClick(button("goLaunchButton"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!dialog->isVisible(), kPatienceMs);
        m_run = m_window->findChild<MonitorPage*>()->run();
        QTRY_VERIFY_WITH_TIMEOUT(steps_of(m_run, 1).size() >= 25, kPatienceMs);
        QVERIFY(m_session->keeper().willRestart(m_run));
        const RunState before = read_run_state(m_run.toStdString());
        QCOMPARE(before.nodes.size(), size_t(2));
        QVERIFY(::kill(pid_t(before.nodes[1].ranks[0].process.pid), SIGKILL) == 0);
        QTRY_VERIFY_WITH_TIMEOUT(m_window->findChild<QPushButton*>(u"leaveItButton"_s) != nullptr,
                                 kPatienceMs);
        QVERIFY(!button("resumeButton")->isVisible());
        QTRY_COMPARE_WITH_TIMEOUT(state_of(m_run), RunPhase::Completed, kPatienceMs);
        QCOMPARE(read_run_state(m_run.toStdString()).attempt, 2);
        QVERIFY(!m_session->keeper().willRestart(m_run));
        for (size_t rank = 0; rank < 2; ++rank) {
            const std::vector<int64_t> steps = steps_of(m_run, rank);
            QCOMPARE(steps.size(), size_t(80));
            QCOMPARE(steps.back(), int64_t(80));
        }
        QFile events(m_run + u"/events/rank-00000.jsonl"_s);
        QVERIFY(events.open(QIODevice::ReadOnly));
        // The run resumed from the checkpoint, not from the beginning.
        QCOMPARE(events.readAll().count("\"step\":1,"), 1);
    }

    void aRunThatAnotherMachineLaunchedIsFollowedStoppedResumedAndFetched() {
        launchFromAnotherHome();
        m_window->showPage(u"runs"_s);
        QTest::mouseClick(button("followElsewhereButton"), Qt::LeftButton);
        auto* dialog = m_window->findChild<FollowDialog*>();
        QVERIFY(dialog);
        dialog->findChild<QComboBox*>(u"followHost"_s)->setEditText(u"there"_s);
        QTest::mouseClick(dialog->findChild<QPushButton*>(u"lookThereButton"_s), Qt::LeftButton);
        auto* runs = dialog->findChild<QTreeWidget*>(u"runsThere"_s);
        QTRY_VERIFY_WITH_TIMEOUT(!dialog->isBusy(), kPatienceMs);
        QVERIFY(runs->topLevelItemCount() >= 1);
        QCOMPARE(runs->topLevelItem(0)->text(0), u"shared"_s);  // active runs come first
        runs->setCurrentItem(runs->topLevelItem(0));
        QTest::mouseClick(dialog->findChild<QPushButton*>(u"followButton"_s), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(m_window->pageName(), u"monitor"_s, kPatienceMs);
        m_run = m_window->findChild<MonitorPage*>()->run();
        QCOMPARE(m_run, QString::fromStdString((m_places.runs_dir / "shared").string()));
        QVERIFY(read_remote_run({m_run.toStdString()}).adopted);
        QTRY_VERIFY_WITH_TIMEOUT(steps_of(m_run, 1).size() >= 3, kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(button("stopButton")->isEnabled(), kPatienceMs);
        QTest::mouseClick(button("stopButton"), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(state_of(m_run), RunPhase::Stopped, kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(button("resumeButton")->isVisible(), kPatienceMs);
        QTest::mouseClick(button("resumeButton"), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(state_of(m_run), RunPhase::Completed, kPatienceMs);
        QCOMPARE(steps_of(m_run, 1).size(), size_t(120));
        QTRY_VERIFY_WITH_TIMEOUT(button("fetchButton")->isVisible(), kPatienceMs);
        QTest::mouseClick(button("fetchButton"), Qt::LeftButton);
        auto* fetch = m_window->findChild<FetchDialog*>();
        QVERIFY(fetch);
        auto* offer = fetch->findChild<QListWidget*>(u"fetchOffer"_s);
        QTRY_VERIFY_WITH_TIMEOUT(offer->count() > 1, kPatienceMs);
        QString path;
        connect(fetch, &FetchDialog::fetched, this, [&path](const QString& to) { path = to; });
        QTest::mouseClick(fetch->findChild<QPushButton*>(u"bringButton"_s), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!path.isEmpty(), kPatienceMs);
        const QString there = QString::fromStdString(read_remote_run({m_run.toStdString()}).output_dir());
        QVERIFY(hashOf(path + u"/model.safetensors"_s).size() > 0);
        QCOMPARE(hashOf(path + u"/model.safetensors"_s), hashOf(there + u"/model.safetensors"_s));
        fetch->close();
    }

    void cleanupTestCase() {
        if (!m_run.isEmpty() && !is_over(state_of(m_run))) {
            const RunDirectory run{m_run.toStdString()};
            backend_of(run)->stop(run, StopHow::Now, {});
        }
        m_window.reset();
        m_session.reset();
        m_there.reset();
        m_second.reset();
    }

  private:
    void writeClientConfig() {
        QFile config(m_home.filePath(u"ssh_config"_s));
        QVERIFY(config.open(QIODevice::WriteOnly));
        for (const auto& [name, server] :
             {std::pair(u"there"_s, m_there.get()), {u"second"_s, m_second.get()}})
            config.write(
                u"Host %1\n  HostName 127.0.0.1\n  Port %2\n  IdentityFile %3/id\n  UserKnownHostsFile "
                "%4\n  GlobalKnownHostsFile none\n"_s.arg(name)
                    .arg(server->port())
                    .arg(server->folder(), m_home.filePath(u"known_hosts"_s))
                    .toUtf8());
    }

    /// Launches with the command line as another user, whose runs are in another folder.
    void launchFromAnotherHome() {
        const QString other = m_home.filePath(u"other"_s);
        QDir().mkpath(other);
        QProcess launch;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(u"HOME"_s, other);
        environment.insert(u"XDG_DATA_HOME"_s, other + u"/data"_s);
        launch.setProcessEnvironment(environment);
        launch.start(QStringLiteral(RINGMASTER_BIN "/ringmaster"),
                     {u"launch"_s, m_quick, u"--node"_s, u"there"_s, u"--name"_s, u"shared"_s, u"--detach"_s,
                      u"--set"_s, u"max_steps=120"_s, u"--set"_s, u"output_dir="_s + other + u"/out"_s});
        QVERIFY(launch.waitForFinished(kPatienceMs));
        QVERIFY2(launch.exitCode() == 0, launch.readAllStandardError().constData());
    }

    /// Opens a configuration, presses Launch, and chooses machines over SSH. Returns null if the form does
    /// not open.
    LaunchForm* askForNodes(const QString& config) {
        m_window->openPath(config);
        if (!QTest::qWaitFor([&] { return button("launchButton")->isEnabled(); }, kPatienceMs))
            return nullptr;
        QTest::mouseClick(button("launchButton"), Qt::LeftButton);
        auto* form = m_window->findChild<LaunchForm*>();
        if (form) form->findChild<QRadioButton*>(u"launchNodes"_s)->setChecked(true);
        return form;
    }

    static QByteArray hashOf(const QString& file) {
        QFile content(file);
        if (!content.open(QIODevice::ReadOnly)) return {};
        QCryptographicHash hash(QCryptographicHash::Sha256);
        hash.addData(&content);
        return hash.result();
    }

    QPushButton* button(const char* name) {
        auto* found = m_window->findChild<QPushButton*>(QString::fromLatin1(name));
        if (!found) qFatal("there is no button %s", name);
        return found;
    }

    OwnHome m_home;
    Places m_places;
    std::unique_ptr<Sshd> m_there, m_second;
    QString m_example, m_quick, m_short, m_run;
    std::unique_ptr<Session> m_session;
    std::unique_ptr<MainWindow> m_window;
};

QTEST_MAIN(ElsewhereTest)
#include "elsewhere_test.moc"
