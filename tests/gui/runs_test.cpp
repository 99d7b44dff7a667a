// Tests the page of all runs: the table and one run in detail.
#include "gui/runs/runs_page.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QDir>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QStackedWidget>
#include <QStandardPaths>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QTreeWidget>
#include <set>

#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/runs/details_panel.h"
#include "gui/runs/estimate_bars.h"
#include "gui/runs/notes_editor.h"
#include "gui/runs/runs_model.h"
#include "gui/runs/runs_table.h"
#include "launcher/history/run_notes.h"
#include "tests/gui/runs_compare_test.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

namespace {

/// Presses a button of the next message box.
void pressInBox(const QString& text, QString* said = nullptr) {
    QTimer::singleShot(50, qApp, [text, said] {
        auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        if (box == nullptr) return;
        if (said) *said = box->text() + u' ' + box->informativeText();
        for (QAbstractButton* button : box->buttons())
            if (button->text() == text) return button->click();
    });
}

/// Returns a run with its expected and measured memory in GiB, and its expected and measured step time in
/// seconds.
RunRow measured(int64_t expected_gib, int64_t gib, double expected_s, std::optional<double> s = {}) {
    RunRow row;
    row.planned.memory_bytes = expected_gib << 30;
    row.measured.peak_memory_bytes = gib << 30;
    row.planned.step_s = expected_s;
    row.measured.step_s = s;
    return row;
}

}  // namespace

class RunsTest : public RunsCompareTest {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() {
        QStandardPaths::setTestModeEnabled(true);
        QApplication::setOrganizationName(u"ringmaster-test"_s);
        QApplication::setApplicationName(u"runs-test"_s);
        applyAppearance(Appearance::Light);
    }
    void init() { QSettings().clear(); }

    void modelKeepsTheRulesOfModels() {
        RunsModel model;
        RunsFilter filter;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        filter.setSourceModel(&model);
        QAbstractItemModelTester filterTester(&filter,
                                              QAbstractItemModelTester::FailureReportingMode::QtTest);
        auto rows = [](std::initializer_list<const char*> names) {
            std::vector<RunRow> made;
            for (const char* name : names) {
                RunRow row;
                row.name = name;
                row.dir = std::string("/runs/") + name;
                row.measured.last_loss = double(made.size());
                made.push_back(row);
            }
            return made;
        };
        model.setRows(rows({"a", "b", "c"}));
        model.setRows(rows({"c", "b", "d"}));
        QCOMPARE(model.rowCount(), 3);
        filter.sort(RunsModel::Name);
        filter.setWords(u"d"_s);
        QCOMPARE(filter.rowCount(), 1);
        model.setRows({});
        model.setRows(rows({"d"}));
        QCOMPARE(filter.rowCount(), 1);
    }

    void tellsWhatMatteredAboutEachRun() {
        TestHome home;
        home.add({.name = "llama", .steps = 400});
        Shown shown(home);
        TRY_SETTLED(shown);
        auto* model = shown.table()->model();
        QCOMPARE(model->rowCount(), 1);
        auto text = [&](int column) { return model->index(0, column).data().toString(); };
        QCOMPARE(text(RunsModel::State), u"completed"_s);
        QCOMPARE(text(RunsModel::Progress), u"400 of 400"_s);
        QCOMPARE(text(RunsModel::Model), u"Llama-3.2-1B"_s);
        QCOMPARE(text(RunsModel::MeshShape), u"ring 2"_s);
        for (int column :
             {RunsModel::LastLoss, RunsModel::BestLoss, RunsModel::TokensPerSecond, RunsModel::PeakMemory,
              RunsModel::Estimate, RunsModel::Overhead, RunsModel::Length, RunsModel::Duration})
            QVERIFY2(text(column) != u"\u2013"_s, qPrintable(RunsModel::title(RunsModel::Column(column))));
        // The peak is approximate, because only rank 0's events were read completely.
        QVERIFY(text(RunsModel::PeakMemory).startsWith(u'\u2248'));
        QVERIFY(!model->index(0, RunsModel::State).data(Qt::DecorationRole).value<QIcon>().isNull());
        QVERIFY(model->index(0, RunsModel::Name)
                    .data(Qt::AccessibleTextRole)
                    .toString()
                    .contains(u"completed"_s));
    }

    void aMeshIsSaidAsOnThePlanPage() {
        TestHome home;
        home.add({.name = "whole", .ranks = 4});
        home.add({.name = "sharded",
                  .ranks = 4,
                  .created = 1,
                  .more = "fsdp_version: 2\nfsdp_config:\n  reshard_after_forward: true\n"});
        Shown shown(home);
        TRY_SETTLED(shown);
        const auto mesh = [&](int row) {
            return shown.table()->model()->index(row, RunsModel::MeshShape).data().toString();
        };
        QCOMPARE(mesh(0), u"data parallel 2 \u00D7 ring 2"_s);
        QCOMPARE(mesh(1), u"dp_shard 2 \u00D7 ring 2 \u00B7 ZeRO 3"_s);
    }

    void aCompletedRunWhoseEventsEndEarlyIsMarked() {
        TestHome home;
        home.add({.name = "early", .steps = 40});
        const RunDirectory lost = home.add({.name = "lost", .steps = 400, .created = 1});
        std::filesystem::remove_all(lost.events());
        home.add({.name = "whole", .steps = 400, .created = 0.5});
        Shown shown(home);
        TRY_SETTLED(shown);
        QCOMPARE(shown.names(), QStringList({u"early"_s, u"lost"_s, u"whole"_s}));
        const auto* model = shown.table()->model();
        const auto state = [&](int row, int role) {
            return model->index(row, RunsModel::State).data(role).toString();
        };
        QCOMPARE(state(0, Qt::DisplayRole), u"incomplete"_s);
        QCOMPARE(state(1, Qt::DisplayRole), u"incomplete"_s);
        QCOMPARE(state(2, Qt::DisplayRole), u"completed"_s);
        QCOMPARE(state(0, Qt::ToolTipRole), u"Its events end at step 40, before the last."_s);
        const auto click = [&](int row) {
            const QRect cell = shown.table()->visualRect(model->index(row, RunsModel::Name));
            QTest::mouseClick(shown.table()->viewport(), Qt::LeftButton, {}, cell.center());
        };
        const auto* banner = shown.page.findChild<DetailsPanel*>()->findChild<Banner*>();
        click(0);
        QTRY_VERIFY(banner->isVisible());
        QVERIFY2(banner->text().contains(u"step 40"_s), qPrintable(banner->text()));
        click(2);
        QTRY_VERIFY(!banner->isVisible());
    }

    void sortsByFiguresAndPutsTheUnknownLast() {
        TestHome home;
        home.add({.name = "nine", .steps = 9});
        home.add({.name = "hundred", .steps = 100});
        home.add({.name = "none", .phase = RunPhase::Queued, .steps = 0});
        Shown shown(home);
        TRY_SETTLED(shown);
        shown.table()->sortByColumn(RunsModel::Progress, Qt::AscendingOrder);
        QCOMPARE(shown.names(), QStringList({u"nine"_s, u"hundred"_s, u"none"_s}));
        shown.table()->sortByColumn(RunsModel::Progress, Qt::DescendingOrder);
        QCOMPARE(shown.names(), QStringList({u"hundred"_s, u"nine"_s, u"none"_s}));
        for (const Qt::SortOrder order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
            shown.table()->sortByColumn(RunsModel::Started, order);
            QCOMPARE(shown.names().back(), u"none"_s);  // the run never started
        }
    }

    void theSortArrowStandsBesideTheTitle() {
        TestHome home;
        home.add({.name = "one"});
        Shown shown(home);
        TRY_SETTLED(shown);
        QHeaderView* header = shown.table()->horizontalHeader();
        const auto ink = [&](int sorted) {  // width of what is drawn in the header of Started
            shown.table()->sortByColumn(sorted, Qt::DescendingOrder);
            const QRect section(header->sectionViewportPosition(RunsModel::Started), 0,
                                header->sectionSize(RunsModel::Started), header->height() - 3);
            const QImage drawn = header->viewport()->grab(section).toImage();
            const QRgb ground = drawn.pixel(0, 0);
            int first = drawn.width(), last = -1;
            for (int x = 0; x < drawn.width(); ++x)
                for (int y = 0; y < drawn.height(); ++y)
                    if (drawn.pixel(x, y) != ground) first = std::min(first, x), last = x;
            return last - first;
        };
        QVERIFY(!shown.table()->isColumnHidden(RunsModel::Started));
        const int title = ink(RunsModel::Name),
                  arrow = QFontMetrics(header->font()).horizontalAdvance(u'\u25BC');
        QVERIFY(title > 0);
        QVERIFY2(ink(RunsModel::Started) > title + arrow / 2, "the arrow covers the title");
    }

    void aFailureIsSaidInASentence() {
        TestHome home;
        home.add({.name = "llama", .phase = RunPhase::Failed, .reason = "rank 1 ran out of memory"});
        Shown shown(home);
        TRY_SETTLED(shown);
        QCOMPARE(shown.page.findChild<DetailsPanel*>()->findChild<Banner*>()->text(),
                 u"It failed. Rank 1 ran out of memory"_s);
    }

    void findsByEveryWord() {
        TestHome home;
        write_run_notes(home.add({.name = "alpha"}), {"the good one", {"baseline"}});
        home.add({.name = "beta", .phase = RunPhase::Failed, .reason = "rank 1 ran out of memory"});
        Shown shown(home);
        TRY_SETTLED(shown);
        auto* search = shown.find<QLineEdit>(u"runsSearch"_s);
        const std::pair<QString, QStringList> cases[] = {{u"BASEL"_s, {u"alpha"_s}},
                                                         {u"good alpha"_s, {u"alpha"_s}},
                                                         {u"out of memory"_s, {u"beta"_s}},
                                                         {u"failed"_s, {u"beta"_s}},
                                                         {u"nothing like it"_s, {}}};
        for (const auto& [words, found] : cases) {
            search->setText(words);
            QCOMPARE(shown.names(), found);
        }
        QVERIFY(shown.find<QWidget>(u"noMatch"_s)->isVisible());
        shown.find<QPushButton>(u"clearSearch"_s)->click();
        QCOMPARE(shown.names().size(), 2);
    }

    void saysWhereThereIsNoRunYet() {
        TestHome home;
        Shown shown(home);
        TRY_SETTLED(shown);
        QVERIFY(shown.find<QWidget>(u"noRuns"_s)->isVisible());
        for (const QString& tool : {u"runsSearch"_s, u"columnsButton"_s, u"followElsewhereButton"_s})
            QVERIFY2(!shown.find<QWidget>(tool)->isVisible(), qPrintable(tool));
        QSignalSpy example(&shown.session, &Session::tryExample);
        shown.find<QPushButton>(u"runsTryExample"_s)->click();
        QCOMPARE(example.count(), 1);
    }

    void opensWithEnter() {
        TestHome home;
        home.add({.name = "llama"});
        Shown shown(home);
        TRY_SETTLED(shown);
        QSignalSpy open(&shown.session, &Session::openRun);
        QTest::keyClick(shown.table(), Qt::Key_Return);
        QCOMPARE(open.count(), 1);
        QCOMPARE(open[0][0].toString(), home.path(u"llama"_s));
    }

    void columnsAreWholeAndTheMostImportantOnesAlwaysThere() {
        RunRow row;
        row.name = "longdocs-batch-ring";
        row.dir = "/runs/longdocs-batch-ring";
        row.state.state = RunPhase::Running;
        row.state.started = 1.7e9;
        row.read_at = 1.7e9 + 100;
        row.measured.peak_memory_bytes = int64_t(132.4 * (1 << 30));
        row.measured.peak_is_sampled = true;
        row.measured.step = row.planned.total_steps = 1'000'000;
        RunsModel model;
        RunsFilter filter;
        filter.setSourceModel(&model);
        model.setRows({row});
        QCOMPARE(show::duration(100), model.index(0, RunsModel::Duration).data().toString());
        QSettings settings;
        RunsTable table(&filter, settings);
        const auto left_of_name = [&table] {
            return table.columnWidth(RunsModel::Name) - table.fontMetrics().horizontalAdvance(u"longdocs"_s);
        };
        table.resize(space(30), space(12));
        table.show();
        QVERIFY(QTest::qWaitForWindowExposed(&table));
        QVERIFY2(left_of_name() < space(5), "the name gives room first");
        for (const int column : {RunsModel::Progress, RunsModel::LastLoss, RunsModel::Started}) {
            QVERIFY(!table.isColumnHidden(column));
            const QString text = filter.index(0, column).data().toString();
            QVERIFY2(table.columnWidth(column) >= table.fontMetrics().horizontalAdvance(text) + space(0.5),
                     qPrintable(text));
        }
        QVERIFY(table.isColumnHidden(RunsModel::PeakMemory));
        table.resize(space(44), space(12));
        QTRY_COMPARE(table.horizontalScrollBar()->maximum(), 0);  // a column without room is hidden, not cut
        QVERIFY(table.isColumnHidden(RunsModel::Model));
        table.resize(space(110), space(12));
        QTRY_COMPARE(table.horizontalScrollBar()->maximum(), 0);
        QVERIFY(!table.isColumnHidden(RunsModel::Model));
        QCOMPARE(table.horizontalHeader()->length(),
                 table.viewport()->width());  // no empty strip next to the columns
    }

    void keepsTheChosenColumns() {
        TestHome home;
        home.add({.name = "llama"});
        {
            Shown shown(home);
            TRY_SETTLED(shown);
            for (QAction* action : shown.table()->columnsMenu()->actions())
                if (action->text() == RunsModel::title(RunsModel::EndReason)) action->setChecked(true);
            QVERIFY(!shown.table()->isColumnHidden(RunsModel::EndReason));
        }
        Shown again(home);
        QVERIFY(!again.table()->isColumnHidden(RunsModel::EndReason));
        QVERIFY(again.table()->isColumnHidden(RunsModel::Batch));
    }

    void followsRunsThatGrowComeAndGo() {
        TestHome home;
        const TestRun made{.name = "alive", .phase = RunPhase::Running, .steps = 5, .live = true};
        const RunDirectory run = home.add(made);
        Shown shown(home);
        TRY_SETTLED(shown);
        QCOMPARE(shown.table()->model()->index(0, RunsModel::State).data().toString(), u"running"_s);
        write_test_steps(run, made, 6, 8, 1000);
        home.add({.name = "another", .created = 5});
        QTRY_COMPARE_WITH_TIMEOUT(shown.names(), QStringList({u"alive"_s, u"another"_s}), 8000);
        QCOMPARE(shown.table()->model()->index(0, RunsModel::Progress).data().toString(), u"8 of 400"_s);
        std::filesystem::remove_all(home.places.runs_dir / "another");
        QTRY_COMPARE_WITH_TIMEOUT(shown.names(), QStringList({u"alive"_s}), 8000);
    }

    void savesNotesAndTagsByItself() {
        TestHome home;
        const RunDirectory run = home.add({.name = "llama"});
        home.add({.name = "other", .created = 1});
        Shown shown(home);
        TRY_SETTLED(shown);
        shown.table()->choose(home.path(u"llama"_s));
        shown.find<QTabWidget>(u"runTabs"_s)->setCurrentIndex(1);
        auto* tags = shown.find<QLineEdit>(u"tagsEdit"_s);
        tags->clear();
        QTest::keyClicks(tags, u"long, baseline"_s);
        QTRY_COMPARE_WITH_TIMEOUT(read_run_notes(run).tags.size(), 2u, 5000);
        auto* text = shown.find<QPlainTextEdit>(u"notesEdit"_s);
        QTest::keyClicks(text, u"better than before"_s);
        shown.table()->choose(home.path(u"other"_s));  // before the pause after which notes are saved
        QCOMPARE(read_run_notes(run).text, "better than before");
        QVERIFY(text->toPlainText().isEmpty());
        QTRY_COMPARE_WITH_TIMEOUT(shown.table()->model()->index(0, RunsModel::Tags).data().toString(),
                                  u"long, baseline"_s, 5000);
    }

    void doesNotOverwriteWhatIsBeingTyped() {
        TestHome home;
        const RunDirectory run = home.add({.name = "llama"});
        NotesEditor editor;
        editor.edit(run, {});
        auto* text = editor.findChild<QPlainTextEdit*>(u"notesEdit"_s);
        QTest::keyClicks(text, u"half a sent"_s);
        editor.edit(run, {});  // the page has read the run again in the meantime
        QCOMPARE(text->toPlainText(), u"half a sent"_s);
    }

    void resumesFromAChosenCheckpoint() {
        TestHome home;
        home.add({.name = "llama", .phase = RunPhase::Stopped, .checkpoints = 3});
        write_text(home.places.runs_dir / "llama/checkpoints/step-00000040/half.safetensors", "x");
        Shown shown(home);
        TRY_SETTLED(shown);
        QSignalSpy resume(&shown.session, &Session::resumeRequested);
        auto* list = shown.find<QTreeWidget>(u"checkpoints"_s);
        QTRY_COMPARE(list->topLevelItemCount(), 3);  // a half-written checkpoint does not count
        shown.find<QPushButton>(u"resumeRun"_s)->click();
        QCOMPARE(resume.count(), 1);
        QVERIFY(!resume[0][1].value<ResumeOptions>().checkpoint);
        shown.find<QTabWidget>(u"runTabs"_s)->setCurrentIndex(2);
        list->setCurrentItem(list->topLevelItem(1));
        shown.find<QPushButton>(u"resumeHere"_s)->click();
        QCOMPARE(resume.count(), 2);
        QCOMPARE(*resume[1][1].value<ResumeOptions>().checkpoint, 20);
    }

    void offersNoResumeWhereThereIsNothingLeftToDo() {
        TestHome home;
        home.add({.name = "llama", .checkpoints = 1});
        Shown shown(home);
        TRY_SETTLED(shown);
        QVERIFY(!shown.find<QPushButton>(u"resumeRun"_s)->isEnabled());
    }

    void duplicatesWithTheFolderThatPathsStartFromAndWhatWasSet() {
        TestHome home;
        const RunDirectory run = home.add({.name = "llama"});
        write_text(run.options(), R"({"config": "/data/exp/long.yaml", "base_dir": "/data/exp",
                                      "set": [["sequence_len", "32768"]]})");
        Shown shown(home);
        TRY_SETTLED(shown);
        QSignalSpy open(&shown.session, &Session::openText);
        shown.find<QPushButton>(u"duplicateRun"_s)->click();
        QCOMPARE(open.count(), 1);
        QVERIFY(open[0][0].toString().contains(u"sequence_len: 32768"_s));
        QVERIFY(open[0][0].toString().contains(u"base_model: meta-llama"_s));
        QCOMPARE(open[0][1].toString(), u"/data/exp"_s);
    }

    void exportsAndBundlesInTheBackground() {
        TestHome home;
        home.add({.name = "llama", .steps = 7});
        Session session(home.places);
        QWidget window;
        RunActions actions(session, &window);
        QSignalSpy done(&actions, &RunActions::done), failed(&actions, &RunActions::failed);
        actions.exportCsv(home.path(u"llama"_s), home.dir.path() + u"/out.csv"_s);
        actions.exportTensorBoard(home.path(u"llama"_s), home.dir.path() + u"/board"_s);
        actions.saveDiagnostics(home.path(u"llama"_s), home.dir.path() + u"/help"_s);
        QVERIFY(actions.isBusy());
        QTRY_COMPARE_WITH_TIMEOUT(done.count(), 3, 30'000);
        QVERIFY(QFileInfo(home.dir.path() + u"/out.csv"_s).size() > 100);
        QVERIFY(QFileInfo::exists(home.dir.path() + u"/help.tar.gz"_s));
        actions.exportCsv(home.path(u"llama"_s), u"/proc/nowhere/out.csv"_s);
        actions.exportCsv(home.path(u"nobody"_s), home.dir.path() + u"/out2.csv"_s);
        QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 2, 30'000);
    }

    void deletesOnlyAfterAskingAndSaysWhatIsLost() {
        TestHome home;
        home.add({.name = "llama", .checkpoints = 2});
        Shown shown(home);
        TRY_SETTLED(shown);
        QString said;
        pressInBox(u"Keep"_s, &said);
        QTest::keyClick(shown.table(), Qt::Key_Delete);
        QVERIFY2(said.contains(u"llama"_s) && said.contains(u"2 checkpoint"_s), qPrintable(said));
        QVERIFY(QFileInfo::exists(home.path(u"llama"_s)));
        pressInBox(u"Delete"_s);
        QTest::keyClick(shown.table(), Qt::Key_Delete);
        QTRY_VERIFY_WITH_TIMEOUT(!QFileInfo::exists(home.path(u"llama"_s)), 8000);
        QTRY_VERIFY_WITH_TIMEOUT(shown.find<QWidget>(u"noRuns"_s)->isVisible(), 8000);
    }

    void refusesToDeleteWhatIsAtWork() {
        TestHome home;
        home.add({.name = "alive", .phase = RunPhase::Running, .live = true});
        Session session(home.places);
        QWidget window;
        RunActions actions(session, &window);
        QSignalSpy failed(&actions, &RunActions::failed);
        actions.removeRuns({home.path(u"alive"_s)});
        QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, 8000);
        QVERIFY(failed[0][0].toString().contains(u"running"_s));
        QVERIFY(QFileInfo::exists(home.path(u"alive"_s)));
    }

    void showsDamagedRunsWithWhatIsWrong() {
        TestHome home;
        home.add({.name = "whole"});
        write_text(home.places.runs_dir / "torn/config.yaml", "a: [\n\x01\xff");
        write_text(home.places.runs_dir / "torn/run.json", "{\"name\": ");
        write_text(home.places.runs_dir / "torn/events/rank-00000.jsonl", std::string(70'000, '{'));
        write_text(home.places.runs_dir / "torn/notes.json", "[]");
        write_text(home.places.runs_dir / "<b>odd<b>\n\t/run.json", "[]");
        Shown shown(home);
        TRY_SETTLED(shown);
        QCOMPARE(shown.names().size(), 3);
        int damaged = 0;
        for (int row = 0; row < 3; ++row) {
            const auto index = shown.table()->model()->index(row, RunsModel::State);
            damaged += index.data().toString() == u"damaged"_s;
            shown.table()->setCurrentIndex(index);
            shown.table()->selectRow(row);
            TRY_SETTLED(shown);
            QVERIFY(shown.page.grab().width() > 0);
            const QString said = shown.page.findChild<DetailsPanel*>()->findChild<Banner*>()->text();
            QVERIFY2(!said.contains(u"exception"_s) && !said.contains(u"parse error"_s), qPrintable(said));
        }
        QCOMPARE(damaged, 2);
        shown.table()->selectAll();
        shown.find<QPushButton>(u"compareButton"_s)->click();
        TRY_SETTLED(shown);
        std::filesystem::remove_all(home.places.runs_dir);  // the run disappears while it is shown
        shown.find<QPushButton>(u"leaveCompare"_s)->click();
        QTRY_VERIFY_WITH_TIMEOUT(shown.find<QWidget>(u"noRuns"_s)->isVisible(), 8000);
    }

    void memoryIsEstimatedAsItIsMeasured() {
        TestHome home;
        const RunDirectory run = home.add({.name = "llama"});
        Shown shown(home);
        TRY_SETTLED(shown);
        int64_t tensors = 0;  // the events measure tensors, without the runtime
        const Plan plan = read_plan(run.plan().string());
        for (const RankMemory& rank : plan.memory->per_rank) {
            QVERIFY(rank.runtime > 0);
            tensors = std::max(tensors, rank.total - rank.runtime);
        }
        QCOMPARE(shown.table()->model()->index(0, RunsModel::Estimate).data().toString(),
                 show::bytes(tensors));
    }

    void describesTheEstimateBesideTheMeasurement() {
        EstimateBars bars;
        bars.show(measured(10, 9, 0.5));
        QVERIFY2(bars.accessibleDescription().contains(u"below the estimate"_s),
                 qPrintable(bars.accessibleDescription()));
        QVERIFY(bars.accessibleDescription().contains(u"not measured yet"_s));
        bars.resize(400, 200);
        QVERIFY(bars.grab().width() > 0);
    }

    void allBarsEndAtTheSamePlace() {
        EstimateBars bars;
        bars.show(measured(33, 35, 26, 27));
        bars.resize(500, bars.sizeHint().height());
        const QImage image = bars.grab().toImage();
        const QColor fill = timeColour(TimePart::Compute, coloursOf(&bars));
        std::set<int> ends;  // right ends of the longest bar of each pair
        for (int y = 0; y < image.height(); ++y) {
            for (int x = image.width() - 1; x > 0; --x) {
                if (image.pixelColor(x, y) != fill) continue;
                ends.insert(x);
                break;
            }
        }
        QVERIFY(!ends.empty());
        QVERIFY2(*ends.rbegin() - *ends.begin() <= 2,
                 qPrintable(u"%1 to %2"_s.arg(*ends.begin()).arg(*ends.rbegin())));
    }

    void saysOfExposedCommunicationOnlyWhatItsFiguresShow() {
        const auto said = [](double estimated, double measured) {
            EstimateBars bars;
            RunRow row;
            row.planned.overhead = estimated;
            row.measured.overhead = measured;
            bars.show(row);
            return bars.accessibleDescription();
        };
        QCOMPARE(said(1e-6, 219e-6), u"Exposed communication: as estimated"_s);  // both are shown as 0.0 %
        QCOMPARE(said(0, 0), u"Exposed communication: as estimated"_s);
        QCOMPARE(said(0, 0.021), u"Exposed communication: 2.1 points above the estimate"_s);
        QCOMPARE(said(0.12, 0.08), u"Exposed communication: 4 points below the estimate"_s);
    }

    void namesEveryControl() {
        TestHome home;
        home.add({.name = "llama", .phase = RunPhase::Stopped, .checkpoints = 1});
        Shown shown(home);
        TRY_SETTLED(shown);
        for (const QWidget* widget : shown.page.findChildren<QWidget*>()) {
            if (!(widget->focusPolicy() & Qt::TabFocus) || !widget->isVisible()) continue;
            const auto* button = qobject_cast<const QAbstractButton*>(widget);
            const bool named = !widget->accessibleName().isEmpty() || (button && !button->text().isEmpty());
            const QString kind = QString::fromLatin1(widget->metaObject()->className());
            if (kind == u"QScrollArea"_s || kind == u"QTabBar"_s || kind == u"QTabWidget"_s) continue;
            QVERIFY2(named, qPrintable(kind + u' ' + widget->objectName()));
        }
    }
};

QTEST_MAIN(RunsTest)
#include "moc_runs_compare_test.cpp"
#include "runs_test.moc"
