// Long work on its own thread: told in order, cancelled, failed, and never outliving its listener.
#include <QSignalSpy>
#include <QTest>
#include <QThread>

#include "engine/error.h"
#include "gui/launch/job.h"
#include "gui/launch/launch_dialog.h"
#include "gui/launch/stepper.h"
#include "gui/look/card.h"

#include <QLabel>
#include <QPushButton>
#include <QTemporaryDir>

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

class LaunchTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() {
        QVERIFY(m_home.isValid());
        qputenv("XDG_CONFIG_HOME", m_home.path().toLocal8Bit());
        qputenv("XDG_DATA_HOME", m_home.path().toLocal8Bit());
    }

    void aJobTellsItsPhasesProgressAndResultOnTheGuiThread() {
        Job job([](const Job::Reporter& report) {
            report.phase(1);
            report.progress.report({"tokenizing", 3, 10});
            report.progress.warn("a warning");
            return u"result"_s;
        });
        QThread* told_on = nullptr;
        connect(&job, &Job::finished, this, [&] { told_on = QThread::currentThread(); });
        QSignalSpy phases(&job, &Job::phaseReached), progress(&job, &Job::progressed),
            warnings(&job, &Job::warned), finished(&job, &Job::finished), failed(&job, &Job::failed);
        job.start();
        QVERIFY(finished.wait());
        QCOMPARE(told_on, thread());
        QCOMPARE(phases.at(0).at(0).toInt(), 1);
        QCOMPARE(progress.at(0).at(2).toLongLong(), 10);
        QCOMPARE(warnings.at(0).at(0).toString(), u"a warning"_s);
        QCOMPARE(finished.at(0).at(0).toString(), u"result"_s);
        QCOMPARE(failed.count(), 0);
    }

    void aJobsErrorKeepsWhereAndWhatNext() {
        Job job([](const Job::Reporter&) -> QString {
            throw Error(Failure::Refused, "the disk is full", "/data", "free some");
        });
        QSignalSpy failed(&job, &Job::failed);
        job.start();
        QVERIFY(failed.wait());
        const auto failure = failed.at(0).at(0).value<JobFailure>();
        QCOMPARE(failure.what, u"the disk is full"_s);
        QCOMPARE(failure.where, u"/data"_s);
        QCOMPARE(failure.hint, u"free some"_s);
    }

    void aJobIsCancelledAndMayGoBeforeItsWork() {
        auto* job = new Job([](const Job::Reporter& report) -> QString {
            while (true) {
                report.progress.stop_if_cancelled();
                report.progress.report({"waiting", 0, 0});
                QThread::msleep(2);
            }
        });
        QSignalSpy cancelled(job, &Job::cancelled), progress(job, &Job::progressed);
        job->start();
        QVERIFY(progress.wait());
        job->cancel();
        QVERIFY(cancelled.wait());
        delete job;
        job = new Job([](const Job::Reporter& report) -> QString {
            while (true) report.progress.stop_if_cancelled();
        });
        job->start();
        delete job;  // its work ends by itself
        QTest::qWait(50);
    }

    void aStepperShowsWhatIsDoneAtWorkAndStillToCome() {
        Stepper stepper({u"one"_s, u"two"_s, u"three"_s});
        stepper.reach(1);
        auto said = [&](int index) { return stepper.findChildren<QLabel*>()[3 * index]->accessibleName(); };
        QVERIFY(said(0).contains(u"done"_s));
        QVERIFY(said(1).contains(u"at work"_s));
        QVERIFY(said(2).contains(u"still to come"_s));
        stepper.reach(0);  // never backwards
        QCOMPARE(stepper.current(), 1);
        stepper.fail();
        QVERIFY(said(1).contains(u"failed"_s));
    }

    void aConfigurationThatIsNotThereIsSaidInTheDialog() {
        Session session(find_places());
        LaunchDialog dialog(session);
        Request request;
        request.config = "/nowhere/llama.yaml";
        dialog.launch(request);
        QTRY_VERIFY(!dialog.isBusy());
        QTRY_VERIFY(dialog.findChild<Banner*>()->isVisible());
        QVERIFY2(dialog.findChild<Banner*>()->text().contains(u"/nowhere/llama.yaml"_s),
                 qPrintable(dialog.findChild<Banner*>()->text()));
        QVERIFY(dialog.findChild<QPushButton*>(u"closeLaunchButton"_s)->isVisible());
        QVERIFY(!dialog.findChild<QPushButton*>(u"cancelLaunchButton"_s)->isVisible());
    }

  private:
    QTemporaryDir m_home;
};

QTEST_MAIN(LaunchTest)
#include "launch_test.moc"
