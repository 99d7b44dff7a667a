// Tests following a run of another machine over real connections: the choices offered, one message for each
// mistake, and a window that never freezes. elsewhere_test.cpp does this with the engine.
#include "gui/runs/follow_dialog.h"

#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QTimer>
#include <QTreeWidget>
#include <atomic>
#include <thread>

#include "gui/login/login_prompts.h"
#include "gui/login/question_dialog.h"
#include "gui/look/card.h"
#include "gui/look/look.h"
#include "gui/runs/fetch_dialog.h"
#include "gui/session/agree.h"
#include "launcher/anywhere/saved_targets.h"
#include "tests/gui/own_home.h"
#include "tests/gui/test_runs.h"
#include "tests/support/listener.h"
#include "tests/support/ssh_server.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kPatienceMs = 30000;

}  // namespace

class FollowTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { applyAppearance(Appearance::Light); }

    void init() {
        std::filesystem::remove_all(m_home.path("data").toStdString());
        QFile::remove(m_home.path("known_hosts"));
        m_home.write("ssh_config", {});
        m_session = std::make_unique<Session>(find_places());
        m_session->settings().remove(u"follow"_s);
        m_session->setPeople([](std::function<bool()> given_up) {
            return SshPerson{[](const LoginPrompt&) { return std::string("right"); },
                             [](const UnknownHostKey&) { return true; }, std::move(given_up)};
        });
        m_dialog = std::make_unique<FollowDialog>(*m_session);
        m_dialog->open();
    }
    void cleanup() {
        m_dialog.reset();
        m_session.reset();
    }

    void theRunsOfAMachineAreListedThoseAtWorkFirst() {
        const SshServer server({"right", {}});
        serve(server);
        TestRun run;
        run.name = "finished";
        run.steps = 12;
        add(u"aaaa"_s, run);
        run.name = "queued for Slurm";
        run.phase = RunPhase::Stopped;
        run.created += 100;
        write_text(add(u"bbbb"_s, run).dir / "submit.sbatch", "#!/bin/sh\n");
        look(u"there"_s);
        auto* runs = list();
        QCOMPARE(runs->topLevelItemCount(), 2);
        QCOMPARE(runs->topLevelItem(0)->text(0), u"queued for Slurm"_s);
        QVERIFY(!runs->topLevelItem(0)->flags().testFlag(Qt::ItemIsEnabled));
        QCOMPARE(runs->topLevelItem(0)->text(1), u"stopped \u00B7 Slurm"_s);
        QCOMPARE(runs->topLevelItem(1)->text(0), u"finished"_s);
        QVERIFY2(runs->topLevelItem(1)->text(3).startsWith(u"12"_s),
                 qPrintable(runs->topLevelItem(1)->text(3)));
        QCOMPARE(runs->currentItem(), runs->topLevelItem(1));
        QCOMPARE(runs->topLevelItem(1)->text(1), u"incomplete"_s);  // its plan has 400 steps
        QVERIFY(button("followButton")->isEnabled());
        host()->setEditText(u"another"_s);  // the list belongs to the first machine
        QCOMPARE(runs->topLevelItemCount(), 0);
        QVERIFY(!button("followButton")->isEnabled());
    }

    void aRunThatStoppedEarlyByItselfIsCompleted() {
        const SshServer server({"right", {}});
        serve(server);
        EventWriter(add(u"aaaa"_s, TestRun()).events(), 0).write(DoneEvent{40, "completed"});
        look(u"there"_s);
        QCOMPARE(list()->topLevelItem(0)->text(1), u"completed"_s);
        QVERIFY(list()->topLevelItem(0)->text(3).startsWith(u"40"_s));
    }

    void whatIsNoneIsSaidInOneMessage_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("said");
        QTest::newRow("no name of a machine") << u"a;b"_s << u"a;b"_s;
        QTest::newRow("unknown") << u"nowhere.invalid"_s << u"nowhere.invalid"_s;
        QTest::newRow("refused") << u"127.0.0.1:1"_s << u"refused"_s;
        QTest::newRow("nothing of ours") << u"there"_s << u"Nothing of Ringmaster is on there"_s;
        QTest::newRow("only its own") << u"there"_s << u"on the machine itself"_s;
    }
    void whatIsNoneIsSaidInOneMessage() {
        QFETCH(QString, name);
        QFETCH(QString, said);
        const SshServer server({"right", {}});
        serve(server);
        if (said.contains(u"itself"_s)) write_test_run(runsDir(), TestRun());
        look(name);
        auto* banner = m_dialog->findChild<Banner*>(u"machineBanner"_s);
        QVERIFY(banner->isVisible());
        QVERIFY2(banner->text().contains(said), qPrintable(banner->text()));
        QCOMPARE(list()->topLevelItemCount(), 0);
        QVERIFY(!button("followButton")->isEnabled());
    }

    void aMachineThatHangsIsCalledOffAndHoldsNothing() {
        const Listener silent;
        int ticks = 0;
        QTimer clock;
        connect(&clock, &QTimer::timeout, this, [&ticks] { ++ticks; });
        clock.start(20);
        host()->setEditText(u"127.0.0.1:%1"_s.arg(silent.port()));
        QTest::mouseClick(button("lookThereButton"), Qt::LeftButton);
        QVERIFY(m_dialog->isBusy());
        QTRY_VERIFY(ticks > 10);  // the window stays responsive
        QTest::mouseClick(button("cancelButton"), Qt::LeftButton);
        QVERIFY(!m_dialog->isBusy());
        QVERIFY(m_dialog->isVisible());
        QVERIFY(!m_dialog->findChild<Banner*>(u"machineBanner"_s)->isVisible());
        QTest::mouseClick(button("lookThereButton"), Qt::LeftButton);
        QVERIFY(m_dialog->isBusy());
        m_dialog.reset();
    }

    void machinesThatAreKnownAreOffered() {
        SavedTarget known;
        known.target = make_target(TargetKind::Ssh, "ann@gpu1");
        write_saved_targets(saved_targets_file(find_places()), {known});
        m_home.write("ssh_config", "Host gpu2\n  Port 1\n");
        FollowDialog dialog(*m_session);
        auto* offered = dialog.findChild<QComboBox*>(u"followHost"_s);
        QCOMPARE(offered->itemText(0), u"ann@gpu1"_s);
        QCOMPARE(offered->itemText(1), u"gpu2"_s);
        QCOMPARE(offered->currentText(), QString());
    }

    void whatARunHasMadeIsOfferedTheModelFirst() {
        FetchDialog dialog(*m_session, m_home.path("run"));
        dialog.open();
        dialog.show({RunPhase::Completed, true, {10, 20}});
        auto* offer = dialog.findChild<QListWidget*>(u"fetchOffer"_s);
        QCOMPARE(offer->count(), 3);
        QCOMPARE(offer->item(0)->text(), u"The trained model"_s);
        QVERIFY(offer->item(1)->text().contains(u"20"_s));
        QVERIFY(dialog.findChild<QPushButton*>(u"bringButton"_s)->isEnabled());
        dialog.show({RunPhase::Running, false, {}});
        QVERIFY(!dialog.findChild<QPushButton*>(u"bringButton"_s)->isEnabled());
        QVERIFY(dialog.findChild<Banner*>(u"machineBanner"_s)->isVisible());
    }

    void goingOnWithFewerNodesIsAskedAndNoIsTheDefault() {
        QWidget window;
        window.show();
        LoginPrompts prompts(&window);
        const auto ask = LoginPrompts::asking(&prompts);
        for (const bool agrees : {false, true}) {
            std::atomic<int> answer = -1;
            std::thread asking([&] {
                answer = ask(
                    {u"Fewer?"_s, u"b: lost"_s, u"ranks: 2 instead of 3"_s, {}, u"Go on"_s, u"Leave it"_s},
                    {});
            });
            YesNoDialog* dialog = nullptr;
            const bool asked = QTest::qWaitFor([&] {
                dialog = qobject_cast<YesNoDialog*>(QApplication::activeModalWidget());
                return dialog != nullptr;
            });
            if (asked && agrees)
                QTest::mouseClick(dialog->findChild<QPushButton*>(u"yesButton"_s), Qt::LeftButton);
            else if (asked)
                QTest::keyClick(dialog, Qt::Key_Return);
            const bool answered = QTest::qWaitFor([&] { return answer >= 0; });
            asking.join();
            QVERIFY(asked && answered);
            QCOMPARE(answer == 1, agrees);
        }
    }

  private:
    void serve(const SshServer& server) const {
        m_home.write("known_hosts", QByteArray::fromStdString(server.known_hosts_line()));
        m_home.write("ssh_config",
                     u"Host there\n  HostName 127.0.0.1\n  Port %1\n  UserKnownHostsFile %2\n"
                     "  GlobalKnownHostsFile none\n  IdentityFile /nowhere\n"_s.arg(server.port())
                         .arg(m_home.path("known_hosts"))
                         .toUtf8());
    }
    static std::filesystem::path runsDir() { return find_places().runs_dir; }
    static RunDirectory add(const QString& id, const TestRun& run) {
        return write_test_run(runsDir() / id.toStdString(), run);
    }
    void look(const QString& name) {
        host()->setEditText(name);
        QTest::mouseClick(button("lookThereButton"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!m_dialog->isBusy(), kPatienceMs);
    }
    QComboBox* host() const { return m_dialog->findChild<QComboBox*>(u"followHost"_s); }
    QTreeWidget* list() const { return m_dialog->findChild<QTreeWidget*>(u"runsThere"_s); }
    QPushButton* button(const char* name) const {
        return m_dialog->findChild<QPushButton*>(QString::fromLatin1(name));
    }

    OwnHome m_home;
    std::unique_ptr<Session> m_session;
    std::unique_ptr<FollowDialog> m_dialog;
};

QTEST_MAIN(FollowTest)
#include "follow_test.moc"
