// Uses the app as a user does, with the real engine: opens the example, launches it, watches both ranks,
// stops, resumes, closes the window, opens the run again, tries the model, trains a second time and compares.
#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QProcess>
#include <QPushButton>
#include <QSpinBox>
#include <QTest>
#include <QTimer>

#include "gui/app/main_window.h"
#include "gui/launch/launch_dialog.h"
#include "gui/look/card.h"
#include "gui/look/look.h"
#include "gui/look/side_by_side.h"
#include "gui/monitor/monitor_page.h"
#include "launcher/machine/machine_figures.h"
#include "launcher/run/local_node.h"
#include "launcher/run/recorded_run.h"
#include "tests/gui/own_home.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kStepsMs = 300000;  ///< time limit for a run's next change; a machine may be busy

RunDirectory run_at(const QString& dir) {
    return {dir.toStdString()};
}

RunPhase state_of(const QString& dir) {
    return read_run_state(dir.toStdString()).state;
}

int64_t last_step(const QString& dir) {
    const RunDirectory run = run_at(dir);
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const int rank : recorded_ranks(run)) {
        int64_t last = 0;
        for_each_step(run, {rank}, [&](int, const Timed<StepEvent>& step) { last = step.event.step; });
        least = std::min(least, last);
    }
    return least;
}

}  // namespace

class AppTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() {
        applyAppearance(Appearance::Light);
        m_places = find_places();
        m_places.programs_dir = RINGMASTER_BIN;
        m_places.cache_dir = m_home.path("cache").toStdString();  // the measured speed is kept there
        m_places.share_dir = m_places.programs_dir.parent_path() / "share/ringmaster";
        m_example = m_home.makeExample(m_places);
        open();
    }

    void theMachineIsMeasuredByAButton() {
        QTRY_VERIFY_WITH_TIMEOUT(m_window->findChild<QPushButton*>(u"measureButton"_s), 20000);
        QTest::mouseClick(button("measureButton"), Qt::LeftButton);
        auto* dialog = m_window->findChild<LaunchDialog*>();
        QTRY_VERIFY(dialog->isVisible());
        QTRY_VERIFY_WITH_TIMEOUT(!dialog->isVisible(), kStepsMs);
        QCOMPARE(known_calibrations(m_places, *m_session->machine()).size(), size_t(1));
    }

    void theExampleIsOpenedAndCanBeLaunched() {
        m_window->openPath(m_example);
        QCOMPARE(m_window->pageName(), u"plan"_s);
        QTRY_VERIFY_WITH_TIMEOUT(button("launchButton")->isEnabled(), 20000);
    }

    void launchTrainsItAndBothRanksGrow() {
        QTest::mouseClick(button("launchButton"), Qt::LeftButton);
        auto* dialog = m_window->findChild<LaunchDialog*>();
        QTRY_VERIFY(dialog->isVisible());
        QTest::mouseClick(button("goLaunchButton"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!dialog->isVisible(), kStepsMs);
        QTRY_COMPARE(m_window->pageName(), u"monitor"_s);
        m_run = m_window->findChild<MonitorPage*>()->run();
        QVERIFY(!m_run.isEmpty());
        QTRY_VERIFY_WITH_TIMEOUT(last_step(m_run) >= 5, kStepsMs);
        const QString before = pictureOf("lossChart"), overhead = pictureOf("exposedChart");
        const int64_t step = last_step(m_run);
        QTRY_VERIFY_WITH_TIMEOUT(last_step(m_run) >= step + 5, kStepsMs);
        QTRY_VERIFY(pictureOf("lossChart") != before);
        QTRY_VERIFY(pictureOf("exposedChart") != overhead);
    }

    void stopSavesAndResumeGoesOn() {
        QTRY_VERIFY(button("stopButton")->isEnabled());
        QTest::mouseClick(button("stopButton"), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(state_of(m_run), RunPhase::Stopped, kStepsMs);
        const int64_t stopped_after = last_step(m_run);
        QTRY_VERIFY_WITH_TIMEOUT(button("resumeButton")->isEnabled() && button("resumeButton")->isVisible(),
                                 20000);
        QTest::mouseClick(button("resumeButton"), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(state_of(m_run), RunPhase::Running, kStepsMs);
        QTRY_VERIFY_WITH_TIMEOUT(last_step(m_run) > stopped_after, kStepsMs);
        QTRY_VERIFY_WITH_TIMEOUT(!m_window->findChild<LaunchDialog*>()->isVisible(), kStepsMs);
    }

    void aClosedWindowLeavesTheRunAliveAndFindsItAgain() {
        QVERIFY(!m_window->liveRuns().isEmpty());
        bool asked = false;
        QTimer answer;
        connect(&answer, &QTimer::timeout, this, [&] {
            auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
            if (!box) return;
            asked = true;
            QTest::keyClick(box, Qt::Key_Return);  // selects the first choice: leave running
        });
        answer.start(50);
        QVERIFY(m_window->close());
        answer.stop();
        QVERIFY(asked);
        m_window.reset();
        const int64_t step = last_step(m_run);
        QTRY_VERIFY_WITH_TIMEOUT(last_step(m_run) > step, kStepsMs);
        open();
        m_window->restore();
        QCOMPARE(m_window->findChild<MonitorPage*>()->run(), m_run);
        QCOMPARE(m_window->pageName(), u"monitor"_s);
        QTRY_COMPARE_WITH_TIMEOUT(state_of(m_run), RunPhase::Completed, kStepsMs);
    }

    void theSamplesOfEveryEvaluationAreShown() {
        auto* texts = m_window->findChild<SideBySide*>(u"sampleTexts"_s);
        QTRY_COMPARE_WITH_TIMEOUT(m_window->findChild<QComboBox*>(u"laterSample"_s)->currentText(),
                                  u"step 60"_s, 20000);
        QVERIFY(texts->toPlainText().contains(u"after step 20"_s));
        QVERIFY(texts->toPlainText().contains(u"def "_s));
    }

    void theTrainedModelWritesBesideItsBase() {
        QTRY_VERIFY_WITH_TIMEOUT(button("tryButton")->isVisible(), 20000);
        QTest::mouseClick(button("tryButton"), Qt::LeftButton);
        QCOMPARE(m_window->pageName(), u"try"_s);
        auto* prompt = m_window->findChild<QPlainTextEdit*>(u"promptEdit"_s);
        QTest::keyClicks(prompt, u"def forward("_s);
        auto* most = m_window->findChild<QSpinBox*>(u"mostTokensBox"_s);
        most->setFocus();
        most->selectAll();
        QTest::keyClicks(most, u"24"_s);
        QTest::keyClick(prompt, Qt::Key_Return, Qt::ControlModifier);
        QVERIFY(button("generateCancelButton")->isEnabled());
        QTRY_VERIFY_WITH_TIMEOUT(m_window->page(u"try"_s)->settled(), kStepsMs);
        auto* problem = m_window->findChild<Banner*>(u"tryBanner"_s);
        QVERIFY2(!problem->isVisible(), qPrintable(problem->text()));
        const QString answers = m_window->findChild<SideBySide*>(u"answers"_s)->toPlainText();
        QCOMPARE(answers.count(u"def forward("_s), 2);  // the base model and the trained one
        QVERIFY2(answers.size() > 80, qPrintable(answers));
    }

    void aLongGenerationIsStopped() {
        auto* most = m_window->findChild<QSpinBox*>(u"mostTokensBox"_s);
        most->setFocus();
        most->selectAll();
        QTest::keyClicks(most, u"1500"_s);
        QTest::mouseClick(button("generateButton"), Qt::LeftButton);
        auto* doing = m_window->findChild<QLabel*>(u"tryDoing"_s);
        QTRY_VERIFY_WITH_TIMEOUT(doing->text().contains(u"writes"_s), kStepsMs);
        QTest::mouseClick(button("generateCancelButton"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(m_window->page(u"try"_s)->settled(), 10000);
        QCOMPARE(doing->text(), u"Stopped."_s);
        QVERIFY(m_window->findChild<SideBySide*>(u"answers"_s)->toPlainText().contains(u"stopped"_s));
        QVERIFY(button("generateButton")->isEnabled());
    }

    void aSecondRunIsComparedWithTheFirst() {
        QFile file(m_example);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QByteArray text = file.readAll();
        file.close();
        text.replace("learning_rate: 0.003", "learning_rate: 0.001")
            .replace("max_steps: 60", "max_steps: 20");
        QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
        file.write(text);
        file.close();
        m_window->openPath(m_example);
        QTRY_VERIFY_WITH_TIMEOUT(button("launchButton")->isEnabled(), 20000);
        QTest::mouseClick(button("launchButton"), Qt::LeftButton);
        QTest::mouseClick(button("goLaunchButton"), Qt::LeftButton);
        auto* monitor = m_window->findChild<MonitorPage*>();
        QTRY_VERIFY_WITH_TIMEOUT(monitor->run() != m_run, kStepsMs);
        const QString second = monitor->run();
        QTRY_COMPARE_WITH_TIMEOUT(state_of(second), RunPhase::Completed, kStepsMs);
        m_window->openRuns({m_run, second});
        QCOMPARE(m_window->pageName(), u"runs"_s);
        QTRY_VERIFY_WITH_TIMEOUT(m_window->page(u"runs"_s)->settled(), 20000);
    }

    void cleanupTestCase() {
        m_window.reset();
        if (!m_run.isEmpty() && !is_over(state_of(m_run))) request_stop(run_at(m_run), StopHow::Now);
    }

  private:
    void open() {
        m_session = std::make_unique<Session>(m_places);
        m_window = std::make_unique<MainWindow>(*m_session);
        m_window->resize(1280, 900);
        m_window->show();
    }

    QPushButton* button(const char* name) {
        auto* found = m_window->findChild<QPushButton*>(QString::fromLatin1(name));
        if (!found) qFatal("there is no button %s", name);
        return found;
    }

    /// Returns what a chart shows now, as a hash of its picture.
    QString pictureOf(const char* name) {
        auto* chart = m_window->findChild<QWidget*>(QString::fromLatin1(name));
        if (!chart) qFatal("there is no chart %s", name);
        const QImage image = chart->grab().toImage();
        return QString::number(qHashBits(image.constBits(), size_t(image.sizeInBytes())));
    }

    OwnHome m_home;
    Places m_places;
    QString m_example, m_run;
    std::unique_ptr<Session> m_session;
    std::unique_ptr<MainWindow> m_window;
};

QTEST_MAIN(AppTest)
#include "app_test.moc"
