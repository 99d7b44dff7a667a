// Tests the Monitor while a run is training: figures, charts, tables and log.
#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QComboBox>
#include <QDBusConnection>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalSpy>
#include <QTableView>
#include <QTextBrowser>
#include <QTreeView>
#include <set>

#include "engine/error.h"
#include "engine/events/file_lock.h"
#include "engine/events/log_text.h"
#include "gui/monitor/verdict_text.h"
#include "launcher/alerts/settings.h"
#include "launcher/queue/queue_file.h"
#include "tests/gui/monitor_page_test.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;
namespace fs = std::filesystem;

/// Stands in for the desktop: keeps title and text of each notification.
class Notifications : public QObject {
    Q_OBJECT
    Q_CLASSINFO("D-Bus Interface", "org.freedesktop.Notifications")

  public:
    ~Notifications() override {
        QDBusConnection::sessionBus().unregisterService(u"org.freedesktop.Notifications"_s);
    }
    bool take() {
        QDBusConnection bus = QDBusConnection::sessionBus();
        return bus.registerObject(u"/org/freedesktop/Notifications"_s, this,
                                  QDBusConnection::ExportAllSlots) &&
               bus.registerService(u"org.freedesktop.Notifications"_s);
    }
    QList<QStringList> said;

  public Q_SLOTS:
    uint Notify(const QString& /*app*/, uint /*replaces*/, const QString& /*icon*/, const QString& title,
                const QString& text, const QStringList& /*actions*/, const QVariantMap& /*hints*/,
                int /*ms*/) {
        said << QStringList{title, text};
        return uint(said.size());
    }
};

class MonitorTest : public MonitorPageTest {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { makeHome(); }
    void init() { makePage(); }
    void cleanup() { removePage(); }

    void withoutARunItSaysWhatToDo() {
        QVERIFY(m_page->settled());
        QVERIFY(m_page->findChild<QPushButton*>(u"chooseRunButton"_s)->isVisible());
        QVERIFY(m_page->findChild<QPushButton*>(u"attachFolderButton"_s)->isVisible());
        QVERIFY(m_page->run().isEmpty());
    }

    void aRunningRunIsShownWithItsFiguresAndVerdict() {
        const SyntheticRun run = written({at("even"), 4, 200});
        open(run);
        const RunPicture& now = *m_page->picture();
        QCOMPARE(now.step, std::optional<int64_t>(200));
        QCOMPARE(now.total_steps, std::optional<int64_t>(1000));
        QCOMPARE(now.diagnosis.finding, Finding::RunningWell);
        QVERIFY(std::abs(*now.overhead - 0.055) < 0.02);
        QVERIFY(now.expected_bytes > 0 && now.capacity_bytes == 80LL << 30);
        QVERIFY(figure(u"step"_s).startsWith(u"200 of 1"_s));
        QVERIFY(m_page->findChild<Banner*>(u"verdict"_s)->text().startsWith(u"Running well."_s));
        QVERIFY(m_page->findChild<QPushButton*>(u"stopButton"_s)->isVisible());
        QVERIFY(!m_page->findChild<QPushButton*>(u"resumeButton"_s)->isVisible());
        const ChartData& loss = m_page->chart(ChartKind::Loss)->plot()->chart();
        QCOMPARE(loss.series.size(), size_t(6));  // four ranks, the global loss, the evaluations
        QCOMPARE(loss.series[5].x, (std::vector<double>{100, 200}));
        QVERIFY(std::abs(double(loss.series[4].value.back()) - synthetic_step(run, 0, 200).loss) < 1e-4);
        QVERIFY(m_page->chart(ChartKind::Loss)->plot()->accessibleDescription().contains(u"global"_s));
    }

    void aRunThatTrainsHereCanBeAsked() {
        auto* card = m_page->findChild<SamplesCard*>(u"samplesCard"_s);
        auto* prompt = card->findChild<QLineEdit*>(u"askEdit"_s);
        auto* ask = card->findChild<QPushButton*>(u"askButton"_s);
        SyntheticRun elsewhere{at("asked-elsewhere"), 2, 50};
        elsewhere.writer_host = "another-machine";
        open(written(elsewhere));
        QVERIFY(card->isHidden());
        const SyntheticRun here = written({at("asked"), 2, 50});
        RunState state = read_run_state(here.dir);
        state.nodes = {{"here", this_process(), {}}};
        write_run_state(here.dir, state);
        open(here);
        QTRY_VERIFY_WITH_TIMEOUT(prompt->isVisible(), kPatience_ms);
        QVERIFY(card->findChild<QLabel*>(u"noSamples"_s)->isVisible());
        QVERIFY(!ask->isEnabled());
        QSignalSpy asked(card, &SamplesCard::asked), notice(m_session.get(), &Session::notice);
        prompt->setFocus();
        QTest::keyClicks(prompt, u"Once upon"_s);
        QTest::keyClick(prompt, Qt::Key_Return);
        QCOMPARE(asked.size(), 1);
        QCOMPARE(asked[0][0].toString(), u"Once upon"_s);
        QVERIFY(!prompt->isEnabled());
        // The synthetic run has no tokenizer.
        QTRY_COMPARE_WITH_TIMEOUT(notice.size(), 1, kPatience_ms);
        QVERIFY(notice[0][0].toString().contains(u"tokenizer.json"_s));
        QVERIFY(prompt->isEnabled() && ask->isEnabled());
    }

    void rewardsAreDrawnOnlyForARunThatHasThem() {
        const SyntheticRun plain = written({at("plain"), 2, 50});
        open(plain);
        for (int kind = int(kFirstOptional); kind < kChartKinds; ++kind)
            QVERIFY(m_page->chart(ChartKind(kind))->isHidden());
        SyntheticRun run{at("sampled"), 2, 200};
        run.samples = true;
        open(written(run));
        const auto lines = [&](ChartKind kind) {
            QStringList names;
            for (const ChartSeries& line : m_page->chart(kind)->plot()->chart().series) names << line.name;
            return names;
        };
        QTRY_COMPARE_WITH_TIMEOUT(lines(ChartKind::Rewards).size(), 3, kPatience_ms);
        QCOMPARE(lines(ChartKind::Rewards),
                 (QStringList{u"reward"_s, u"rewards.exact"_s, u"rewards.shortness"_s}));
        const ChartSeries& reward = m_page->chart(ChartKind::Rewards)->plot()->chart().series[0];
        QVERIFY(std::abs(double(reward.value.back()) - *synthetic_step(run, 0, 200).sampling.reward) < 1e-4);
        for (ChartKind kind : {ChartKind::RewardShares, ChartKind::CompletionLength, ChartKind::Divergence,
                               ChartKind::SamplerGap})
            QVERIFY(!m_page->chart(kind)->isHidden());
        QVERIFY(m_page->chart(ChartKind::LossParts)->isHidden());
        const ChartSeries& gap = m_page->chart(ChartKind::SamplerGap)->plot()->chart().series.at(0);
        QVERIFY(std::abs(double(gap.value.back()) - *synthetic_step(run, 0, 200).preference.sampler_gap) <
                1e-6);
        const QString file = m_home.filePath(u"rewards.csv"_s);
        m_page->chart(ChartKind::Rewards)->saveFigures(file);
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(file), kPatience_ms);
        QFile csv(file);
        QVERIFY(csv.open(QIODevice::ReadOnly));
        QCOMPARE(csv.readLine().trimmed(),
                 QByteArray("step,rank,t,reward,\"rewards.exact\",\"rewards.shortness\""));
        QCOMPARE(csv.readAll().count('\n'), 200);
    }

    void checkpointsAndResumesAreMarkedOnEveryChart() {
        const SyntheticRun run = written({at("marks"), 2, 250});
        for (int rank = 0; rank < 2; ++rank) {
            SyntheticRun resumed = run;
            resumed.ranks = 4;
            std::ofstream(run.dir / "events" / event_file_name(rank), std::ios::app)
                << to_json_line({unix_now(), rank, synthetic_hello(resumed, rank, 2, 200)}) << '\n';
        }
        open(run);
        for (ChartKind kind : {ChartKind::Loss, ChartKind::StepTime, ChartKind::Memory}) {
            const std::vector<ChartMark>& marks = m_page->chart(kind)->plot()->chart().marks;
            QTRY_COMPARE_WITH_TIMEOUT(m_page->chart(kind)->plot()->chart().marks.size(), size_t(3),
                                      kPatience_ms);
            QCOMPARE(marks[0].x, 100.0);
            QCOMPARE(marks[0].text, u"checkpoint of step 100"_s);
            QVERIFY(!marks[1].strong && marks[2].strong);
            QCOMPARE(marks[2].x, 200.0);
            QCOMPARE(marks[2].text, u"attempt 2, from step 200, on 4 ranks in place of 2"_s);
            QVERIFY(m_page->chart(kind)->legend()->accessibleName().endsWith(u"checkpoint, new attempt"_s));
        }
        QVERIFY(m_page->chart(ChartKind::Loss)->plot()->accessibleDescription().contains(u"attempt 2"_s));
        m_page->showSteps(StepRange{120, 180});
        QTRY_VERIFY_WITH_TIMEOUT(m_page->chart(ChartKind::Loss)->plot()->chart().marks.empty(), kPatience_ms);
    }

    void alertsAreMarkedOnEveryChartAndToldOnTheDesktopOnce() {
        Notifications desktop;
        QVERIFY(desktop.take());
        SyntheticRun run{at("alerted <b>"), 4, 400};
        run.slow_rank = 2;
        open(written(run));
        const QString slow = u"Rank 2 is slow at step 330: the others wait"_s;
        for (ChartKind kind : {ChartKind::Loss, ChartKind::StepTime, ChartKind::Memory}) {
            const auto strong = [&] {
                const std::vector<ChartMark>& marks = m_page->chart(kind)->plot()->chart().marks;
                const auto found = std::find_if(marks.begin(), marks.end(),
                                                [](const ChartMark& mark) { return mark.strong; });
                return found == marks.end() ? ChartMark() : *found;
            };
            QTRY_VERIFY_WITH_TIMEOUT(strong().strong, kPatience_ms);
            QVERIFY2(strong().text.startsWith(slow), qPrintable(strong().text));
            QCOMPARE(strong().x, 330.0);
            QVERIFY(m_page->chart(kind)->findChild<Legend*>()->accessibleName().contains(u"alert"_s));
        }
        QStringList lines;
        const LogModel* log = m_page->log()->model();
        for (int row = 0; row < log->rowCount(); ++row)
            lines << log->data(log->index(row, LogModel::Text), Qt::DisplayRole).toString();
        QVERIFY2(lines.join(u'\n').contains(slow), qPrintable(lines.join(u'\n')));
        QVERIFY(desktop.said.isEmpty());  // the alert was raised before the run was opened
        StepEvent broken = synthetic_step(run, 0, 401);
        broken.loss = std::nan("");
        for (int rank = 0; rank < run.ranks; ++rank) EventWriter(run.dir / "events", rank).write(broken);
        QTRY_COMPARE_WITH_TIMEOUT(desktop.said.size(), 1, kPatience_ms);
        QCOMPARE(desktop.said[0], (QStringList{u"alerted <b>"_s, u"The loss is not a number at step 401"_s}));
        AlertSettings none;
        none.kinds = {AlertKind::Stall};
        write_alert_settings(alert_settings_file(), none);
        QTest::qWait(1500);
        QCOMPARE(desktop.said.size(), 1);
    }

    void growthIsFollowed() {
        const SyntheticRun run = written({at("growing"), 2, 50});
        open(run);
        SyntheticRun longer = run;
        longer.steps = 60;
        append(longer, 51, 60);
        QTRY_COMPARE_WITH_TIMEOUT(m_page->picture()->step, std::optional<int64_t>(60), kPatience_ms);
        QTRY_COMPARE_WITH_TIMEOUT(m_page->chart(ChartKind::Loss)->plot()->chart().x.back(), 60.0,
                                  kPatience_ms);
    }

    void samplesOfTwoStepsStandSideBySideAndFollowTheRun() {
        const SyntheticRun run = written({at("samples"), 2, 50});
        auto* card = m_page->findChild<QWidget*>(u"samplesCard"_s);
        open(run);
        QVERIFY(card->isHidden());
        write_sample(run, 20, "the early text");
        write_sample(run, 20, "asked once", 1);
        write_sample(run, 40, "the later text");
        QTRY_VERIFY_WITH_TIMEOUT(!card->isHidden(), kPatience_ms);
        const auto texts = [&] { return m_page->findChild<QTextBrowser*>(u"sampleTexts"_s)->toPlainText(); };
        QTRY_VERIFY_WITH_TIMEOUT(texts().contains(u"the later text"_s), kPatience_ms);
        QVERIFY(texts().contains(u"Once the early text"_s) && texts().contains(u"after step 20"_s));
        QVERIFY(texts().contains(u"asked once"_s) && texts().contains(u"no sample"_s));
        write_sample(run, 60, "the newest text");
        QTRY_VERIFY_WITH_TIMEOUT(texts().contains(u"the newest text"_s), kPatience_ms);
        QVERIFY(texts().contains(u"the early text"_s) && !texts().contains(u"the later text"_s));
        auto* later = m_page->findChild<QComboBox*>(u"laterSample"_s);
        later->setFocus();
        QTest::keyClick(later, Qt::Key_Up);
        QVERIFY(texts().contains(u"the later text"_s) && !texts().contains(u"the newest text"_s));
        write_sample(run, 80, "one more text");
        QTRY_COMPARE_WITH_TIMEOUT(later->count(), 4, kPatience_ms);
        QVERIFY(texts().contains(u"the later text"_s));  // the user chose this step
        QTest::keyClick(m_page->findChild<QComboBox*>(u"earlierSample"_s), Qt::Key_Down);
        QVERIFY(texts().contains(u"after step 40"_s) && !texts().contains(u"after step 20"_s));
        open(written({at("without-samples"), 2, 10}));
        QVERIFY(card->isHidden());
    }

    void aPausedPageHoldsItsChartsAndGoesOnAfterwards() {
        const SyntheticRun run = written({at("paused"), 2, 50});
        open(run);
        QTest::keyClick(m_page.get(), Qt::Key_Space);
        QVERIFY(m_page->findChild<QPushButton*>(u"pauseButton"_s)->isChecked());
        append(run, 51, 55);
        QTRY_COMPARE_WITH_TIMEOUT(m_page->picture()->step, std::optional<int64_t>(55), kPatience_ms);
        QCOMPARE(m_page->chart(ChartKind::Loss)->plot()->chart().x.back(), 50.0);
        QTest::keyClick(m_page.get(), Qt::Key_Space);
        QTRY_COMPARE_WITH_TIMEOUT(m_page->chart(ChartKind::Loss)->plot()->chart().x.back(), 55.0,
                                  kPatience_ms);
    }

    void aRunOffersAPauseFromItsFirstStepToItsEnd() {
        SyntheticRun waits{at("waits"), 2, 0};
        auto* pause = m_page->findChild<QPushButton*>(u"pauseButton"_s);
        for (const RunPhase phase : {RunPhase::Queued, RunPhase::Preparing, RunPhase::Running}) {
            waits.phase = phase;
            open(written(waits));
            QVERIFY(!pause->isVisible());
            QTest::keyClick(m_page.get(), Qt::Key_Space);
            QVERIFY(!pause->isChecked());
        }
        append(waits, 1, 3);
        QTRY_VERIFY_WITH_TIMEOUT(pause->isVisible(), kPatience_ms);
        for (const RunPhase phase : {RunPhase::Completed, RunPhase::Stopped, RunPhase::Failed}) {
            SyntheticRun over{at("over"), 2, 20};
            over.phase = phase;
            open(written(over));
            QVERIFY(!pause->isVisible());
        }
    }

    void aRunThatWaitsInAQueueThatStandsStillSaysSo() {
        SyntheticRun waits{at("waits"), 2, 0};
        waits.phase = RunPhase::Queued;
        write_synthetic_run(waits);
        const fs::path folder = queue_folder(m_places);
        change_queue(folder, [&](Queue& queue) { queue.runs = {{{waits.dir}, 0, {}}}; });
        open(waits);
        const auto* banner = m_page->findChild<Banner*>(u"verdict"_s);
        QVERIFY2(banner->text().contains(u"stands still"_s), qPrintable(banner->text()));
        QVERIFY(m_page->findChild<QPushButton*>(u"wakeQueueButton"_s) != nullptr);
        QVERIFY(!m_page->picture()->ranks.empty());
        for (const RankRow& rank : m_page->picture()->ranks) QCOMPARE(rank.last_heard, 0.0);
        for (const ChartKind kind : {ChartKind::Loss, ChartKind::StepTime})
            QVERIFY(m_page->chart(kind)->findChild<Legend*>()->isHidden());
        const FileLock process(folder / "queue-runner.lock");  // stands in for the queue's process
        QTRY_COMPARE_WITH_TIMEOUT(banner->text(), u"Waiting to start."_s, kPatience_ms);
        fs::remove(folder / "queue.json");
    }

    void aResumedAttemptReplacesTheStepsItRepeats() {
        const SyntheticRun run = written({at("resumed"), 2, 80});
        for (int rank = 0; rank < 2; ++rank) {
            EventWriter events(run.dir / "events", rank);
            events.write(synthetic_hello(run, rank, 2, 50));
            for (int64_t step = 51; step <= 60; ++step) {
                StepEvent event = synthetic_step(run, rank, step);
                event.loss = 0.25;
                events.write(event);
            }
        }
        open(run);
        QCOMPARE(m_page->picture()->step, std::optional<int64_t>(60));
        const ChartData& loss = m_page->chart(ChartKind::Loss)->plot()->chart();
        QCOMPARE(loss.x.back(), 60.0);
        QCOMPARE(loss.series[2].value[59], 0.25F);
        QVERIFY(loss.series[2].value[49] > 1);
    }

    void muchExposedCommunicationIsNotRunningWell() {
        Diagnosis found{.finding = Finding::RunningWell, .urgency = Urgency::Good, .share = 0.05};
        QCOMPARE(verdictText(found).verdict, u"Running well."_s);
        QCOMPARE(verdictText(found).tone, Tone::Good);
        found.share = 0.18;
        QCOMPARE(verdictText(found).verdict, u"Running."_s);
        QCOMPARE(verdictText(found).tone, Tone::Plain);
    }

    void aWaitForRolloutsIsSaidWhereItHasRoom() {
        const SyntheticRun run = written({at("rollouts"), 2, 20});
        open(run);
        QVERIFY(m_page->picture()->eta_s);
        EventWriter(run.dir / "events", 0).write(PhaseEvent{"rollouts", 45, 1800});
        open(run);
        QVERIFY2(!subtitle().contains(u"rollouts"_s), qPrintable(subtitle()));
        QVERIFY2(!m_page->picture()->eta_s, "nobody knows how long a wait delays the run");
        const QString said = plain(m_page->findChild<Banner*>(u"verdict"_s)->text());
        QVERIFY2(said.startsWith(u"Waiting for files of rollouts"_s) && said.contains(u" s of 30 min"_s),
                 qPrintable(said));
        const auto captions = m_page->findChildren<QLabel*>();
        QVERIFY(std::any_of(captions.begin(), captions.end(), [](const QLabel* label) {
            return label->text() == u"tokens per second at the last step"_s;
        }));
        // The wait goes on between the reports.
        QTRY_VERIFY_WITH_TIMEOUT(m_page->picture()->phase->done > 45, kPatience_ms);
    }

    void memoryIsExpectedAsItIsMeasured() {
        const SyntheticRun run = written({at("expected"), 2, 20});
        open(run);
        std::set<int64_t> tensors;  // the events measure tensors, without the runtime
        const Plan plan = read_plan((run.dir / "plan.json").string());
        for (const RankMemory& rank : plan.memory->per_rank) {
            QVERIFY(rank.runtime > 0);
            tensors.insert(rank.total - rank.runtime);
        }
        QVERIFY(tensors.contains(m_page->picture()->expected_bytes));
    }

    void aStragglerIsNamedAndOneClickAway() {
        SyntheticRun run{at("straggler"), 8, 400};
        run.slow_rank = 5;
        written(run);
        open(run);
        QCOMPARE(m_page->picture()->diagnosis.finding, Finding::Straggler);
        QCOMPARE(m_page->picture()->diagnosis.rank, std::optional<int>(5));
        QVERIFY(m_page->findChild<Banner*>(u"verdict"_s)->text().startsWith(u"Rank 5 on node-b is slow."_s));
        QTest::mouseClick(m_page->findChild<QPushButton*>(u"showRankButton"_s), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(m_page->settled(), kPatience_ms);
        for (const ChartSeries& series : m_page->chart(ChartKind::Loss)->plot()->chart().series) {
            if (series.rank >= 0) QCOMPARE(series.strong, series.rank == 5);
        }
        QVERIFY(m_page->findChild<HeatMap*>()->accessibleDescription().contains(u"rank 5 is slower now"_s) ||
                !m_page->findChild<HeatMap*>()->isVisible());
    }

    void manyRanksAreABandWithItsOutliers() {
        SyntheticRun run{at("many"), 64, 60};
        run.slow_rank = 37;
        written(run);
        open(run);
        const ChartData& loss = m_page->chart(ChartKind::Loss)->plot()->chart();
        QCOMPARE(loss.series[0].mark, Mark::Band);
        const Colours colours = coloursOf(m_page.get());
        const QColor band = loss.series[0].colour(colours);
        for (int rank = 0; rank < 64; ++rank)
            QVERIFY(rankColour(rank, colours).hsvSaturation() > band.hsvSaturation() + 50);
        QVERIFY(loss.series.size() <= 6);
        m_page->chooseRank(50);
        QTRY_VERIFY_WITH_TIMEOUT(m_page->settled(), kPatience_ms);
        const auto& series = m_page->chart(ChartKind::Loss)->plot()->chart().series;
        QVERIFY(std::any_of(series.begin(), series.end(),
                            [](const ChartSeries& s) { return s.rank == 50 && s.strong; }));
    }

    void smoothingAxisAndLogarithmGoToTheCharts() {
        open(written({at("tools"), 2, 120}));
        m_page->setSmoothing(0.8);
        QTRY_VERIFY_WITH_TIMEOUT(m_page->settled(), kPatience_ms);
        QVERIFY(!m_page->chart(ChartKind::Loss)->plot()->chart().series.front().smooth.empty());
        auto* axis = m_page->findChild<QComboBox*>(u"axisCombo"_s);
        axis->setCurrentIndex(1);
        QTRY_VERIFY_WITH_TIMEOUT(m_page->settled(), kPatience_ms);
        QCOMPARE(m_page->chart(ChartKind::Loss)->plot()->chart().x.back(), 120 * 131072.0);
        axis->setCurrentIndex(2);
        QTRY_VERIFY_WITH_TIMEOUT(m_page->settled(), kPatience_ms);
        QVERIFY(std::abs(m_page->chart(ChartKind::Loss)->plot()->chart().x.back() - 60) < 2);
        m_page->findChild<QCheckBox*>(u"logAxisBox"_s)->click();
        QVERIFY(m_page->chart(ChartKind::Loss)->plot()->chart().logY);
        QVERIFY(!m_page->chart(ChartKind::StepTime)->plot()->chart().logY);
    }

    void aZoomShowsItsStepsInEveryChart() {
        open(written({at("zoom"), 2, 300}));
        m_page->showSteps(StepRange{100, 150});
        QTRY_VERIFY_WITH_TIMEOUT(m_page->settled(), kPatience_ms);
        for (ChartKind kind : {ChartKind::Loss, ChartKind::StepTime, ChartKind::Exposed}) {
            QCOMPARE(m_page->chart(kind)->plot()->chart().x.front(), 100.0);
            QCOMPARE(m_page->chart(kind)->plot()->chart().x.back(), 150.0);
        }
        Q_EMIT m_page->chart(ChartKind::Loss)->plot()->rangeReset();
        QTRY_COMPARE_WITH_TIMEOUT(m_page->chart(ChartKind::StepTime)->plot()->chart().x.back(), 300.0,
                                  kPatience_ms);
        m_page->findChild<QCheckBox*>(u"followBox"_s)->click();
        QTRY_COMPARE_WITH_TIMEOUT(m_page->chart(ChartKind::Loss)->plot()->chart().x.front(), 201.0,
                                  kPatience_ms);
    }

    void theRankTableIsAProperModelAndSorts() {
        RankTableModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        std::vector<RankRow> rows(3);
        for (int rank = 0; rank < 3; ++rank) {
            rows[size_t(rank)].rank = rank;
            rows[size_t(rank)].exposed = rank == 1 ? std::nan("") : 0.1 * (3 - rank);
        }
        model.setRows(rows, 0);
        RankSorter sorter;
        sorter.setSourceModel(&model);
        const QAbstractItemModelTester sorted(&sorter,
                                              QAbstractItemModelTester::FailureReportingMode::QtTest);
        const auto ranks = [&] {
            QString text;
            for (int row = 0; row < sorter.rowCount(); ++row) text += sorter.index(row, 0).data().toString();
            return text;
        };
        sorter.sort(RankTableModel::Exposed, Qt::AscendingOrder);
        QCOMPARE(ranks(), u"201"_s);
        sorter.sort(RankTableModel::Exposed, Qt::DescendingOrder);
        QCOMPARE(ranks(), u"021"_s);
        rows.resize(1);
        model.setRows(rows, 0);
        rows.resize(5);
        model.setRows(rows, 0);
        QCOMPARE(sorter.rowCount(), 5);
    }

    void aRanksPlaceIsSaidAlongTheAxesThatHaveSeveralRanks() {
        RankTableModel model;
        RankRow row;
        row.mesh = {1, 2, 4, 2};
        row.place = {0, 1, 3, 0};
        RankRow sharded = row;
        sharded.zero_stage = 3;
        model.setRows({sharded, {}, row}, 0);
        const auto place = [&](int at) {
            return model.index(at, RankTableModel::MeshPlace).data(Qt::DisplayRole).toString();
        };
        QCOMPARE(place(0), u"shard 1 ring 3 ulysses 0"_s);
        QCOMPARE(place(1), QString());
        QCOMPARE(place(2), u"data parallel 1 ring 3 ulysses 0"_s);
    }

    void choosingARowDrawsTheRankOut() {
        open(written({at("row"), 4, 60}));
        auto* table = m_page->findChild<QTableView*>(u"rankTable"_s);
        QCOMPARE(table->model()->rowCount(), 4);
        table->selectRow(2);
        QTRY_VERIFY_WITH_TIMEOUT(m_page->settled(), kPatience_ms);
        QVERIFY(m_page->chart(ChartKind::Loss)->plot()->chart().series[2].strong);
        QVERIFY(m_page->chart(ChartKind::Loss)->plot()->chart().series[1].faint);
    }

    void theLogIsMergedByTimeSearchedAndPinsTheFirstError() {
        SyntheticRun run{at("failed"), 2, 60};
        run.phase = RunPhase::Failed;
        run.reason = "rank 1: the disk is full\nlast lines of its log";
        written(run);
        EventWriter(run.dir / "events", 1).write(ErrorEvent{"the disk is full", "checkpoints/step-00000060"});
        open(run);
        LogModel* log = m_page->log()->model();
        const QAbstractItemModelTester tester(log, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QVERIFY(log->rowCount() > 50);
        auto* pinned = m_page->findChild<QLabel*>(u"firstError"_s);
        QVERIFY(pinned->text().contains(u"rank 1"_s) && pinned->text().contains(u"the disk is full"_s));
        auto* list = m_page->findChild<QTreeView*>(u"logList"_s);
        const int all = list->model()->rowCount();
        m_page->log()->search()->setText(u"DISK IS"_s);
        QCOMPARE(list->model()->rowCount(), 1);
        m_page->log()->search()->clear();
        m_page->log()->showRank(1);
        QVERIFY(list->model()->rowCount() < all && list->model()->rowCount() >= 4);
        QVERIFY(m_page->findChild<QPushButton*>(u"resumeButton"_s)->isVisible());
        QVERIFY(m_page->findChild<Banner*>(u"verdict"_s)->text().contains(u"the disk is full"_s));
    }

    void theLogSaysNothingTwice() {
        SyntheticRun run{at("twice"), 2, 60};
        run.phase = RunPhase::Failed;
        written(run);
        const Event events[] = {CheckpointEvent{60, "checkpoints", 4.13}, EvalEvent{60, 1.25, 4000, {}},
                                WarningEvent{"the rows are short", "/data"},
                                error_event(Error(Failure::Refused, Code("DISK-FULL"), "the disk is full",
                                                  "/runs", "make room"))};
        std::ofstream log(run.dir / "logs" / log_file_name(1));
        for (const Event& event : events) {
            EventWriter(run.dir / "events", 1).write(event);
            log << "23:59:59 " << log_text(event) << '\n';
        }
        log << "23:59:59 only the log says this" << std::endl;
        open(run);
        const LogModel* model = m_page->log()->model();
        QStringList said;
        for (int row = 0; row < model->rowCount(); ++row)
            said << model->index(row, LogModel::Text).data().toString();
        const QString all = said.join(u'\n');
        for (const QString& once : {u"checkpoint of step 60"_s, u"after step 60"_s, u"the rows are short"_s,
                                    u"the disk is full"_s, u"make room"_s, u"only the log says this"_s})
            QVERIFY2(all.count(once) == 1, qPrintable(once + u'\n' + all));
    }

    void figuresOfAChartAreSavedStepByStep() {
        open(written({at("csv"), 2, 30}));
        const QString file = m_home.filePath(u"loss.csv"_s);
        m_page->chart(ChartKind::Loss)->saveFigures(file);
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(file), kPatience_ms);
        QFile csv(file);
        QVERIFY(csv.open(QIODevice::ReadOnly));
        const QByteArrayList lines = csv.readAll().split('\n');
        QVERIFY(lines.front().startsWith("step,rank,t,loss,rank_loss"));
        QCOMPARE(lines.size(), 1 + 60 + 1);
    }

    void fitsTheNarrowPageAndUsesTheWideOne() {
        open(written({at("narrow"), 2, 60}));
        m_page->resize(850, 700);
        QTest::qWait(50);
        auto* scroll = m_page->findChild<QScrollArea*>();
        QVERIFY2(scroll->widget()->minimumSizeHint().width() <= 850,
                 qPrintable(QString::number(scroll->widget()->minimumSizeHint().width())));
        QVERIFY(m_page->minimumSizeHint().width() <= 850);
        const auto columns = [&] {
            return m_page->chart(ChartKind::Loss)->y() == m_page->chart(ChartKind::Exposed)->y()    ? 3
                   : m_page->chart(ChartKind::Loss)->y() == m_page->chart(ChartKind::StepTime)->y() ? 2
                                                                                                    : 1;
        };
        m_page->resize(1750, 1150);
        QTest::qWait(50);
        QCOMPARE(columns(), 3);
        m_page->resize(1050, 900);
        QTest::qWait(50);
        QCOMPARE(columns(), 2);
    }
};

QTEST_MAIN(MonitorTest)
#include "monitor_test.moc"
