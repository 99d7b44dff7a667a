// Tests the start page.
#include "gui/start/start_page.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QDir>
#include <QDropEvent>
#include <QLabel>
#include <QListView>
#include <QMimeData>
#include <QPushButton>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include "gui/look/look.h"
#include "gui/start/action_tile.h"
#include "gui/start/machine_card.h"
#include "gui/start/recent_runs.h"
#include "tests/gui/test_runs.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

namespace {

QStringList labelsOf(const QWidget* widget) {
    QStringList texts;
    for (const QLabel* label : widget->findChildren<QLabel*>())
        if (label->isVisibleTo(widget)) texts << label->text();
    return texts;
}

}  // namespace

class StartTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() {
        QStandardPaths::setTestModeEnabled(true);
        QApplication::setOrganizationName(u"ringmaster-test"_s);
        QApplication::setApplicationName(u"start-test"_s);
        QSettings().clear();
        applyAppearance(Appearance::Light);
    }

    void asksForWhatItsActionsSay() {
        TestHome home;
        Session session(home.places);
        StartPage page(session);
        QSignalSpy choose(&session, &Session::chooseConfig), example(&session, &Session::tryExample);
        page.show();
        QTest::mouseClick(page.findChild<ActionTile*>(u"openButton"_s), Qt::LeftButton);
        QTest::keyClick(page.findChild<ActionTile*>(u"exampleButton"_s), Qt::Key_Return);
        QCOMPARE(choose.count(), 1);
        QCOMPARE(example.count(), 1);
    }

    void listsRunsWithLiveOnesFirst() {
        TestHome home;
        home.add({.name = "older", .created = 1000});
        home.add({.name = "newer",
                  .phase = RunPhase::Failed,
                  .reason = "rank 1 ran out of memory",
                  .created = 2000});
        home.add({.name = "alive", .phase = RunPhase::Running, .created = 500, .live = true});
        Session session(home.places);
        StartPage page(session);
        page.show();
        auto* list = page.findChild<TwoLineList*>(u"recentRuns"_s);
        QTRY_COMPARE(list->model()->rowCount(), 3);
        const QAbstractItemModel* model = list->model();
        QCOMPARE(model->index(0, 0).data().toString(), u"alive"_s);
        QVERIFY(model->index(0, 0).data(RecentRunsModel::LiveRole).toBool());
        QCOMPARE(model->index(1, 0).data().toString(), u"newer"_s);
        const QString spoken = model->index(1, 0).data(Qt::AccessibleTextRole).toString();
        QVERIFY2(spoken.contains(u"failed "_s) && spoken.contains(u"loss"_s), qPrintable(spoken));
        home.add({.name = "patient", .phase = RunPhase::Queued, .steps = 0});
        Q_EMIT session.runsChanged();
        QTRY_COMPARE(model->rowCount(), 4);
        QStringList lines;
        for (int row = 0; row < 4; ++row)
            lines << model->index(row, 0).data(RecentRunsModel::SecondLineRole).toString();
        QCOMPARE(lines.filter(QRegularExpression(u"^waiting for \\d"_s)).size(), 1);
    }

    void opensARunWithEnterAndDoubleClick() {
        TestHome home;
        const RunDirectory run = home.add({.name = "llama"});
        Session session(home.places);
        StartPage page(session);
        page.resize(850, 700);
        page.show();
        auto* list = page.findChild<TwoLineList*>(u"recentRuns"_s);
        QTRY_COMPARE(list->model()->rowCount(), 1);
        QSignalSpy open(&session, &Session::openRun);
        list->setCurrentIndex(list->model()->index(0, 0));
        QTest::keyClick(list, Qt::Key_Return);
        QCOMPARE(open.count(), 1);
        QCOMPARE(open[0][0].toString(), QString::fromStdString(run.dir.string()));
        Q_EMIT list->doubleClicked(list->model()->index(0, 0));
        QCOMPARE(open.count(), 2);
    }

    void followsALiveRun() {
        TestHome home;
        const TestRun made{.name = "alive", .phase = RunPhase::Running, .steps = 5, .live = true};
        const RunDirectory run = home.add(made);
        Session session(home.places);
        StartPage page(session);
        page.show();
        auto* list = page.findChild<TwoLineList*>(u"recentRuns"_s);
        QAbstractItemModelTester tester(list->model(),
                                        QAbstractItemModelTester::FailureReportingMode::QtTest);
        QTRY_VERIFY(list->model()->rowCount() == 1);
        write_test_steps(run, made, 6, 9, 1000);
        QTRY_VERIFY_WITH_TIMEOUT(list->model()
                                     ->index(0, 0)
                                     .data(RecentRunsModel::SecondLineRole)
                                     .toString()
                                     .contains(u"step 9 of 400"_s),
                                 8000);
    }

    void saysWhatIsEmpty() {
        TestHome home;
        Session session(home.places);
        StartPage page(session);
        page.show();
        QTRY_VERIFY(labelsOf(&page).join(u'|').contains(u"No runs yet"_s));
        QVERIFY(labelsOf(&page).join(u'|').contains(u"No file yet"_s));
    }

    void takesADroppedFileOrRun() {
        TestHome home;
        const RunDirectory run = home.add({.name = "llama"});
        Session session(home.places);
        StartPage page(session);
        page.show();
        QSignalSpy config(&session, &Session::openConfig), open(&session, &Session::openRun),
            notice(&session, &Session::notice);
        auto drop = [&](const QString& path) {
            QMimeData data;
            data.setUrls({QUrl::fromLocalFile(path)});
            QDragEnterEvent enter(QPoint(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
            QApplication::sendEvent(&page, &enter);
            QVERIFY(enter.isAccepted());
            QDropEvent event(QPointF(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
            QApplication::sendEvent(&page, &event);
        };
        drop(QString::fromStdString(run.config().string()));
        QCOMPARE(config.count(), 1);
        drop(QString::fromStdString(run.dir.string()));
        QCOMPARE(open.count(), 1);
        drop(home.dir.path());
        QCOMPARE(notice.count(), 1);
        QMimeData text;
        text.setText(u"x"_s);
        QDragEnterEvent enter(QPoint(5, 5), Qt::CopyAction, &text, Qt::LeftButton, Qt::NoModifier);
        enter.ignore();
        QApplication::sendEvent(&page, &enter);
        QVERIFY(!enter.isAccepted());
    }

    void listsRecentFilesAndForgetsThoseThatAreGone() {
        TestHome home;
        const QByteArray outer_home = qgetenv("HOME");
        qputenv("HOME", home.dir.path().toLocal8Bit());
        QVERIFY(QDir(home.dir.path()).mkdir(u"configurations"_s));
        const QString file = home.dir.path() + u"/configurations/a long name of a configuration.yaml"_s;
        write_text(file.toStdString(), "base_model: x\n");
        Session session(home.places);
        StartPage page(session);
        page.show();
        session.addRecentFile(file);
        session.addRecentFile(home.dir.path() + u"/gone.yaml"_s);
        const auto files = page.findChildren<QPushButton*>(u"recentFile"_s);
        QCOMPARE(files.size(), 1);
        qputenv("HOME", outer_home);
        QTRY_VERIFY(labelsOf(&page).contains(u"~/configurations"_s));
        QSignalSpy config(&session, &Session::openConfig);
        files[0]->click();
        QCOMPARE(config.count(), 1);
        QCOMPARE(config[0][0].toString(), file);
        session.settings().remove(u"recentFiles"_s);
    }

    void offersToSetUpWhatIsMissing() {
        TestHome home;
        home.places.share_dir = "/nowhere";
        Session session(home.places);
        StartPage page(session);
        page.show();
        QTRY_VERIFY_WITH_TIMEOUT(page.settled(), 20'000);
        auto* button = page.findChild<QPushButton*>(u"setUpButton"_s);
        QVERIFY(button);
        QSignalSpy wanted(&session, &Session::setUpRequested);
        button->click();
        QCOMPARE(wanted.count(), 1);
        QVERIFY(page.findChild<QPushButton*>(u"runsFolder"_s));
    }

    void offersToMeasureAMachineThatHasTheEngine() {
        TestHome home;
        home.places.programs_dir = (home.dir.path() + u"/bin"_s).toStdString();
        for (const bool has_engine : {false, true}) {
            if (has_engine) write_text(home.places.engine(), "");
            Session session(home.places);
            StartPage page(session);
            page.show();
            QTRY_VERIFY_WITH_TIMEOUT(page.settled(), 20'000);
            auto* button = page.findChild<QPushButton*>(u"measureButton"_s);
            QCOMPARE(button != nullptr, has_engine);
            if (!button) continue;
            QSignalSpy wanted(&session, &Session::measureRequested);
            QTest::mouseClick(button, Qt::LeftButton);
            QCOMPARE(wanted.count(), 1);
        }
    }

    void hasWordsForEveryCheck() {
        MachineFacts bad;
        bad.machine.gpus = {{0, "", "NVIDIA H200", int64_t{141} << 30},
                            {1, "", "NVIDIA H200", int64_t{141} << 30}};
        for (const MachineCheck& check : machine_checks(bad)) {
            const CheckWords words = wordsOf(check, bad);
            QVERIFY(!words.topic.isEmpty() && !words.what.isEmpty());
            QVERIFY2(check.state == CheckState::Ok || !words.fix.isEmpty() || check.fix.empty() ||
                         check.topic == Topic::RunsDisk || check.topic == Topic::CacheDisk,
                     to_string(check.topic));
        }
    }

    void isQuickToCome() {
        TestHome home;
        for (int run = 0; run < 20; ++run) home.add({.name = "run-" + std::to_string(run), .steps = 100});
        Session session(home.places);
        QElapsedTimer timer;
        timer.start();
        StartPage page(session);
        page.resize(1000, 700);
        page.grab();
        qInfo("first picture after %lld ms", timer.elapsed());
        QVERIFY(page.grab().width() > 0);
    }
};

QTEST_MAIN(StartTest)
#include "start_test.moc"
