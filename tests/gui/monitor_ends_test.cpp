// Tests the Monitor page with runs that ended, failed or lost their writer, and with damaged files.
#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QProcess>
#include <QPushButton>
#include <QSignalSpy>
#include <random>

#include "gui/monitor/verdict_text.h"
#include "tests/gui/monitor_page_test.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;
namespace fs = std::filesystem;

class MonitorEndsTest : public MonitorPageTest {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { makeHome(); }
    void init() { makePage(); }
    void cleanup() { removePage(); }

    void aCompletedRunOffersToBeTried() {
        SyntheticRun run{at("tried"), 2, 20};
        run.phase = RunPhase::Completed;
        open(written(run));
        QSignalSpy wanted(m_page.get(), &MonitorPage::tryWanted);
        auto* button = m_page->findChild<QPushButton*>(u"tryButton"_s);
        QVERIFY(button->isVisible());
        QTest::mouseClick(button, Qt::LeftButton);
        QCOMPARE(wanted.size(), 1);
        QCOMPARE(wanted[0][0].toString(), QString::fromStdString(run.dir.string()));
        open(written({at("not-yet"), 2, 20}));
        QVERIFY(!button->isVisible());
    }

    void theRankThatFailedIsOneClickAway() {
        SyntheticRun run{at("fallen"), 4, 60};
        run.phase = RunPhase::Failed;
        run.reason = "rank 2 was killed by signal 9 (Killed)";
        written(run);
        RunState state = read_run_state(run.dir);
        state.failed_rank = 2;
        write_run_state(run.dir, state);
        open(run);
        auto* show = m_page->findChild<QPushButton*>(u"showRankButton"_s);
        QVERIFY(show);
        QCOMPARE(show->text(), u"Show rank 2"_s);
        QTest::mouseClick(show, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(m_page->settled(), kPatience_ms);
        for (const ChartSeries& series : m_page->chart(ChartKind::Loss)->plot()->chart().series) {
            if (series.rank >= 0) QCOMPARE(series.strong, series.rank == 2);
        }
        QCOMPARE(m_page->findChild<QComboBox*>(u"logRank"_s)->currentText(), u"Rank 2"_s);
    }

    void aRunWithAStopAheadIsStopping() {
        QProcess agent;  // the process ends when it is stopped, but the run's files do not show that yet
        agent.start(u"sleep"_s, {u"60"_s});
        QVERIFY(agent.waitForStarted());
        const SyntheticRun run = written({at("stopping"), 2, 200});
        RunState state = read_run_state(run.dir);
        state.nodes = {{"here", find_process(agent.processId()).value(), {}}};
        write_run_state(run.dir, state);
        open(run);
        QVERIFY(subtitle().startsWith(u"running"_s));
        QTest::mouseClick(m_page->findChild<QPushButton*>(u"stopButton"_s), Qt::LeftButton);
        QVERIFY2(subtitle().startsWith(u"stopping"_s), qPrintable(subtitle()));
        QVERIFY(m_page->findChild<Banner*>(u"verdict"_s)->text().startsWith(u"Stopping."_s));
        QVERIFY(agent.waitForFinished());
    }

    void aCompletedRunWhoseEventsEndEarlyIsMarked() {
        SyntheticRun early{at("early"), 2, 40};
        early.phase = RunPhase::Completed;
        written(early);
        m_page->resize(1200, 900);
        auto* choose = m_page->findChild<QPushButton*>(u"chooseRunButton"_s);
        QStringList offered;
        QTimer::singleShot(0, this, [&] {
            QMenu* menu = choose->menu();
            QAction* wanted = nullptr;
            for (QAction* action : menu->actions()) {
                offered << action->text();
                if (action->text().startsWith(u"early"_s)) wanted = action;
            }
            if (wanted) QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(wanted).center());
            menu->close();
        });
        QTest::mouseClick(choose, Qt::LeftButton);
        QVERIFY2(offered.contains(u"early \u00B7 incomplete"_s), qPrintable(offered.join(u'|')));
        QTRY_VERIFY_WITH_TIMEOUT(m_page->settled(), kPatience_ms);
        QVERIFY2(subtitle().startsWith(u"incomplete"_s), qPrintable(subtitle()));
        QVERIFY(m_page->findChild<Banner*>(u"verdict"_s)->text().contains(u"end at step 40"_s));
    }

    void aRunThatNeverTrainedHasNothingMeasured() {
        SyntheticRun run{at("never"), 2, 0};
        open(written(run));
        Plot* loss = m_page->chart(ChartKind::Loss)->plot();
        QCOMPARE(loss->emptyText(), u"Nothing measured yet."_s);
        run.phase = RunPhase::Failed;
        open(written(run));
        QCOMPARE(loss->emptyText(), u"Nothing was measured."_s);
    }

    void resumeIsPassedOn() {
        SyntheticRun run{at("stopped"), 2, 20};
        run.phase = RunPhase::Stopped;
        open(written(run));
        QSignalSpy asked(m_session.get(), &Session::resumeRequested);
        QTest::mouseClick(m_page->findChild<QPushButton*>(u"resumeButton"_s), Qt::LeftButton);
        QCOMPARE(asked.size(), 1);
        QCOMPARE(asked[0][0].toString(), QString::fromStdString(run.dir.string()));
    }

    void aKilledWriterReadsAsFailed() {
        const SyntheticRun run = written({at("killed"), 2, 20});
        RunState state = read_run_state(run.dir);
        state.writer.start_time += 1;  // now differs from the start time of the living process
        write_run_state(run.dir, state);
        open(run);
        QCOMPARE(m_page->picture()->diagnosis.finding, Finding::Failed);
    }

    void aSilentWriterElsewhereIsDisconnectedAndNotFailed() {
        open(disconnected());
        QCOMPARE(m_page->picture()->diagnosis.finding, Finding::Disconnected);
        QVERIFY(plain(m_page->findChild<Banner*>(u"verdict"_s)->text()).contains(u"Last heard 5 min ago"_s));
        QVERIFY(!m_page->findChild<QPushButton*>(u"stopNowButton"_s)->isEnabled());
        QVERIFY(!m_page->chart(ChartKind::Loss)->plot()->chart().series.empty());
    }

    void aDirectoryThatVanishesIsDisconnected() {
        const SyntheticRun run = written({at("vanishing"), 2, 20});
        open(run);
        fs::remove_all(run.dir);
        QTRY_COMPARE_WITH_TIMEOUT(m_page->picture()->diagnosis.finding, Finding::Disconnected, kPatience_ms);
        QCOMPARE(m_page->picture()->step, std::optional<int64_t>(20));
    }

    void whatIsNoRunIsSaidInThePage() {
        const auto says = [&](const fs::path& dir) {
            m_page->openRun(QString::fromStdString(dir.string()));
            if (!QTest::qWaitFor([&] { return m_page->settled(); }, kPatience_ms)) return false;
            auto* again = m_page->findChild<QPushButton*>(u"tryAgainButton"_s);
            return again != nullptr && again->isVisible();
        };
        QVERIFY(says("/nowhere/at/all"));
        fs::create_directories(at("empty"));
        QVERIFY(says(at("empty")));
        fs::create_directories(at("damaged"));
        std::ofstream(at("damaged") / "run.json") << "{\"state\": \"run";
        QVERIFY(says(at("damaged")));
        for (const QLabel* label : m_page->findChildren<QLabel*>())
            QVERIFY2(!label->text().contains(u"json"_s + u".exception"_s), qPrintable(label->text()));
        fs::create_directories(at("folder") / "run.json");
        QVERIFY(says(at("folder")));
        open(written({at("good"), 2, 10}));
        QCOMPARE(m_page->picture()->step, std::optional<int64_t>(10));
    }

    void hostileFilesLeaveThePageAlive() {
        std::mt19937 random(11);
        for (int round = 0; round < 6; ++round) {
            const SyntheticRun run = written({at("fuzz-" + std::to_string(round)), 2, 80});
            for (const char* name :
                 {"events/rank-00000.jsonl", "events/rank-00001.jsonl", "plan.json", "logs/rank-00000.log"}) {
                std::fstream file(run.dir / name, std::ios::in | std::ios::out | std::ios::binary);
                const auto size = int(fs::file_size(run.dir / name));
                for (int hit = 0; hit < size / 50 + 1; ++hit) {
                    file.seekp(std::streamoff(random() % unsigned(size)));
                    file.put(char(random() % 256));
                }
            }
            fs::remove(run.dir / "logs/rank-00001.log");
            open(run);
            m_page->grab();
        }
        // The run has impossible steps, impossible times and endless names.
        const SyntheticRun run = written({at("hostile"), 2, 5});
        EventWriter events(run.dir / "events", 0);
        for (int64_t step : {int64_t(-5), int64_t(0), int64_t(999'999'999'999), INT64_MAX}) {
            StepEvent event;
            event.step = step;
            event.loss = 1e300;
            event.step_s = -1;
            event.memory_bytes = INT64_MAX;
            event.peak_memory_bytes = INT64_MIN;
            events.write(event);
        }
        HelloEvent hello;
        hello.host = std::string(100'000, 'x');
        hello.attempt = -3;
        hello.start_step = INT64_MAX;
        events.write(hello);
        events.write(PhaseEvent{std::string(50'000, '\n'), INT64_MIN, INT64_MAX});
        open(run);
        m_page->grab();
        RunState state = read_run_state(run.dir);
        state.ranks = 2'000'000'000;
        state.name = std::string(10'000, '<');
        write_run_state(run.dir, state);
        open(run);
    }
};

QTEST_MAIN(MonitorEndsTest)
#include "monitor_ends_test.moc"
