// Tests sweeps on the Queue page: how one is added, the columns of its keys, and the plot of its results.
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPointer>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include "gui/look/card.h"
#include "gui/look/look.h"
#include "gui/queue/parallel_plot.h"
#include "gui/queue/queue_dialog.h"
#include "gui/queue/queue_page.h"
#include "gui/queue/queue_table.h"
#include "tests/gui/queue_fixture.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

class QueueSweepTest : public QObject, private QueueFixture {
    Q_OBJECT

  private Q_SLOTS:
    void init() { open(); }
    void cleanup() { close(); }

    void aSweepIsAddedAndItsKeysHaveColumns() {
        m_page->offer(writeTiny());
        show();
        QTest::mouseClick(button("firstQueueButton"), Qt::LeftButton);
        auto* dialog = m_page->findChild<QueueDialog*>();
        QTRY_VERIFY(dialog && dialog->isVisible());
        auto* sweep = dialog->findChild<QPlainTextEdit*>(u"queueSweep"_s);
        auto* add = dialog->findChild<QPushButton*>(u"queueAddButton"_s);
        QTest::mouseClick(sweep->viewport(), Qt::LeftButton);
        QTest::keyClicks(sweep, u"learning_rate"_s);
        QTest::mouseClick(add, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!dialog->isBusy(), kPatienceMs);
        const QPointer problem = dialog->findChild<Banner*>(u"queueProblem"_s);  // deleted with the dialog
        QVERIFY(problem->isVisible());                                           // a sweep needs values
        QVERIFY2(problem->text().contains(u"“learning_rate” of the sweep cannot be used"_s),
                 qPrintable(problem->text()));
        QTRY_COMPARE(QApplication::focusWidget(), sweep);
        QVERIFY(sweep->geometry().bottom() < dialog->findChild<QLineEdit*>(u"queueName"_s)->y());
        QTest::keyClicks(sweep, u"=[0.001, 0.002]"_s);
        QTest::mouseClick(add, Qt::LeftButton);
        QVERIFY(dialog->isBusy());
        const auto refused = [&problem] { return problem && problem->isVisible(); };
        QTRY_VERIFY_WITH_TIMEOUT(names().size() == 2 || refused(), kPatienceMs);
        QVERIFY2(!refused(), qPrintable(problem ? problem->text() : QString()));
        QTRY_COMPARE_WITH_TIMEOUT(table()->rowCount(), 2, kPatienceMs);
        QCOMPARE(m_page->focusWidget(), table());
        QCOMPARE(table()->horizontalHeaderItem(QueueTable::FixedColumns)->text(), u"learning_rate"_s);
        QCOMPARE(table()->item(1, QueueTable::FixedColumns)->text(), u"0.002"_s);
        QVERIFY(names().back().endsWith(u"-2"_s));
    }

    void aKeysTitleIsReadWhole() {
        QueueTable shown;
        shown.resize(space(46), space(20));
        const std::vector<std::string> keys{"gradient_accumulation_steps", "learning_rate"};
        std::vector<std::pair<QueuedRun, RunSummary>> runs(2);
        for (auto& [queued, run] : runs) {
            queued.set = {{keys[0], "1"}, {keys[1], "1e-5"}};
            run.name = "longdocs-128k-evaluation-7";
            run.step = 40;
            run.total_steps = 1000;
            run.loss = 2.3918;
        }
        shown.setRuns(runs, {{}, {}}, keys);
        shown.show();
        QVERIFY(QTest::qWaitForWindowExposed(&shown));
        const auto* header = shown.horizontalHeader();
        const QString title = shown.horizontalHeaderItem(QueueTable::FixedColumns)->text();
        QCOMPARE(title, u"gradient_\naccumulation_steps"_s);
        QVERIFY(header->sectionSize(QueueTable::FixedColumns) >=
                header->fontMetrics().size(0, title).width());
        QVERIFY(header->height() >= 2 * header->fontMetrics().height());
        QCOMPARE(shown.horizontalScrollBar()->maximum(), 0);
        shown.resize(space(90), space(20));
        QTRY_COMPARE(shown.horizontalHeaderItem(QueueTable::FixedColumns)->text(),
                     QString::fromStdString(keys[0]));
        QCOMPARE(header->length(), shown.viewport()->width());
    }

    void theColoursOfASweepAreExplained() {
        sweep();
        show();
        auto* plot = m_page->findChild<ParallelPlot*>(u"parallelPlot"_s);
        QTRY_VERIFY_WITH_TIMEOUT(plot->isVisible(), kPatienceMs);
        const Colours c = coloursOf(plot);
        const QImage foot =
            plot->grab().toImage().copy(0, plot->height() - space(1.2), plot->width(), space(1.2));
        const auto holds = [&foot](const QColor& colour) {
            for (int x = 0; x < foot.width(); ++x) {
                const QColor there = foot.pixelColor(x, foot.height() / 2);
                const int off = std::abs(there.red() - colour.red()) + std::abs(there.blue() - colour.blue());
                if (off < 12) return true;
            }
            return false;
        };
        QVERIFY(holds(c.accent) && holds(mixed(c.accent, c.muted, 0.5)) && holds(c.warning));
    }

    void theLossOfARunningRunIsSaidNotToBeFinal() {
        std::vector<std::pair<QueuedRun, RunSummary>> runs(2);
        for (auto& [queued, run] : runs) {
            queued.set = {{"learning_rate", "1e-5"}};
            run.dir = &run == &runs[0].second ? "/runs/a" : "/runs/b";
            run.loss = 2.5;
            run.state.state = RunPhase::Completed;
        }
        runs[1].second.state.state = RunPhase::Running;
        ParallelPlot plot;
        plot.setPicture(sweep_picture(runs, {"learning_rate"}));
        plot.choose(u"/runs/a"_s);
        QVERIFY(!plot.accessibleDescription().contains(u"not finished"_s));
        plot.choose(u"/runs/b"_s);
        QVERIFY(plot.accessibleDescription().contains(u"not finished"_s));
    }

    void theResultsOfASweepAreALineForEachRun() {
        sweep();
        show();
        auto* plot = m_page->findChild<ParallelPlot*>(u"parallelPlot"_s);
        QTRY_VERIFY_WITH_TIMEOUT(plot->isVisible(), kPatienceMs);
        QCOMPARE(plot->shown().size(), size_t(4));
        QCOMPARE(plot->chosen(), table()->chosenDir());
        // A click on a line chooses its run in the table, too.
        QTest::mouseClick(plot, Qt::LeftButton, {}, between(plot, 3));
        QCOMPARE(QFileInfo(table()->chosenDir()).fileName(), u"d"_s);
        QCOMPARE(plot->chosen(), table()->chosenDir());
        // A drag along the second axis keeps the two runs whose rank is 16.
        const QPoint top = plot->pointOf(2, 1).toPoint(), foot = plot->pointOf(0, 1).toPoint();
        QCOMPARE(plot->pointOf(3, 1).toPoint(), top);
        QTest::mousePress(plot, Qt::LeftButton, {}, top - QPoint(0, 4));
        QTest::mouseMove(plot, (top + foot) / 2);
        QTest::mouseRelease(plot, Qt::LeftButton, {}, (top + foot) / 2);
        QCOMPARE(plot->shown(), (std::vector<QString>{path("c"), path("d")}));
        QVERIFY(plot->accessibleDescription().contains(u"2 run(s) shown"_s));
        QVERIFY(plot->accessibleDescription().contains(u"Limited by lora_r."_s));
        QTest::keyClick(plot, Qt::Key_Escape);
        QCOMPARE(plot->shown().size(), size_t(4));
    }

    void theResultsOfASweepAreReadByKeyboard() {
        sweep();
        show();
        auto* plot = m_page->findChild<ParallelPlot*>(u"parallelPlot"_s);
        QTRY_VERIFY_WITH_TIMEOUT(plot->isVisible(), kPatienceMs);
        table()->setFocus();
        for (int tabs = 0; tabs < 20 && !plot->hasFocus(); ++tabs)
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
        QVERIFY(plot->hasFocus());
        QCOMPARE(plot->chosen(),
                 // The order is that of the table. d has the lowest loss, then c, b and a.
                 path("a"));
        for (int down = 0; down < 4; ++down) QTest::keyClick(plot, Qt::Key_Down);
        QCOMPARE(plot->chosen(), path("d"));
        QTest::keyClick(plot, Qt::Key_Up);
        QCOMPARE(plot->chosen(), path("c"));
        QCOMPARE(table()->chosenDir(), path("c"));
        QVERIFY2(plot->accessibleDescription().startsWith(u"c: learning_rate 0.0004, lora_r 16, Loss "_s),
                 qPrintable(plot->accessibleDescription()));
        QTest::keyClick(plot, Qt::Key_Right);
        QTest::keyClick(plot, Qt::Key_Up, Qt::ShiftModifier);
        QCOMPARE(plot->shown(), (std::vector<QString>{path("a"), path("b")}));
        QTest::keyClick(plot, Qt::Key_Up, Qt::ShiftModifier);
        QCOMPARE(plot->shown(), (std::vector<QString>{path("c"), path("d")}));
        QSignalSpy opened(m_session.get(), &Session::openRun);
        QTest::keyClick(plot, Qt::Key_Return);
        QCOMPARE(opened.size(), 1);
        QCOMPARE(opened[0][0].toString(), path("c"));
    }

    void aQueueWithoutASweepHasNoResults() {
        queue({"a", "b"});
        show();
        QVERIFY(!m_page->findChild<ParallelPlot*>(u"parallelPlot"_s)->isVisible());
    }

    void placesAreByNumberOrByName() {
        const auto runs = [](const std::vector<std::string>& values) {
            std::vector<std::pair<QueuedRun, RunSummary>> made;
            for (const std::string& value : values) {
                made.emplace_back();
                made.back().first.set["key"] = value;
                made.back().second.loss = double(made.size());
            }
            return sweep_picture(made, {"key"});
        };
        const auto place = [](const SweepPicture& picture, size_t line) {
            return picture.lines[line].places[0];
        };
        const SweepPicture linear = runs({"1", "2", "5"}), logarithmic = runs({"1e-5", "1e-4", "0.001"}),
                           names = runs({"cosine", "linear", "constant"});
        QCOMPARE(place(linear, 1), std::optional(0.25));
        QVERIFY(std::abs(*place(logarithmic, 1) - 0.5) < 1e-9);
        QCOMPARE(place(names, 2), std::optional(0.0));
        QCOMPARE(place(names, 0), std::optional(0.5));
        QVERIFY(runs({"1"}).axes.empty());
        QCOMPARE(linear.axes.size(), size_t(2));
        QCOMPARE(linear.lines[2].places[1], std::optional(1.0));
    }

  private:
    /// Queues four completed runs, "a" to "d", over two learning rates and two ranks of LoRA.
    void sweep() const {
        const std::vector<std::tuple<std::string, double, std::string>> runs = {
            {"a", 1e-4, "8"}, {"b", 2e-4, "8"}, {"c", 4e-4, "16"}, {"d", 8e-4, "16"}};
        for (const auto& [name, rate, rank] : runs) {
            TestRun run{name};
            run.learning_rate = rate;
            m_home->add(run);
        }
        change_queue(folder(), [&](Queue& queue) {
            for (const auto& [name, rate, rank] : runs) {
                const std::string text = QByteArray::number(rate, 'g', 3).toStdString();
                queue.runs.push_back(
                    {{m_home->places.runs_dir / name}, 0, {{"learning_rate", text}, {"lora_r", rank}}});
            }
        });
    }

    /// Returns a point on a run's line that is far from the other lines.
    static QPoint between(const ParallelPlot* plot, size_t line) {
        return (plot->pointOf(line, 0) * 0.9 + plot->pointOf(line, 1) * 0.1).toPoint();
    }
};

QTEST_MAIN(QueueSweepTest)
#include "queue_sweep_test.moc"
