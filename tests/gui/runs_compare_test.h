/// Tests comparisons of runs; runs_test.cpp adds the cases about the table and one run in detail.
#pragma once

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QHeaderView>
#include <QPushButton>
#include <QScrollBar>
#include <QTest>

#include "gui/charts/chart_card.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/runs/compare_curves.h"
#include "gui/runs/compare_tables.h"
#include "gui/runs/compare_view.h"
#include "gui/runs/runs_model.h"
#include "gui/runs/runs_page.h"
#include "gui/runs/runs_table.h"
#include "tests/gui/test_runs.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

/// Holds a page that has read its runs.
struct Shown {
    Session session;
    RunsPage page;
    explicit Shown(const TestHome& home, QSize size = {860, 700}) : session(home.places), page(session) {
        page.resize(size);
        page.show();
    }
    RunsTable* table() { return page.findChild<RunsTable*>(u"runsTable"_s); }
    template <class W>
    W* find(const QString& name) {
        return page.findChild<W*>(name);
    }
    QStringList names() {
        QStringList names;
        for (int row = 0; row < table()->model()->rowCount(); ++row)
            names << table()->model()->index(row, RunsModel::Name).data().toString();
        return names;
    }
};

#define TRY_SETTLED(shown) QTRY_VERIFY_WITH_TIMEOUT((shown).page.settled(), 20'000)

class RunsCompareTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void comparesTheChosenRuns() {
        TestHome home;
        home.add({.name = "slow", .learning_rate = 1e-4});
        home.add({.name = "fast", .learning_rate = 3e-4, .created = 1, .step_s = 0.25});
        Shown shown(home);
        TRY_SETTLED(shown);
        auto* compare = shown.find<QPushButton>(u"compareButton"_s);
        QVERIFY(!compare->isEnabled());
        shown.table()->selectAll();
        QVERIFY(compare->isEnabled());
        compare->click();
        TRY_SETTLED(shown);
        auto* view = shown.find<CompareView>(u"compareView"_s);
        QVERIFY(view->isVisible());
        QCOMPARE(view->comparison().runs.size(), 2u);
        auto* lines = shown.find<QTableView>(u"compareLines"_s)->model();
        QCOMPARE(lines->rowCount(), 1);
        QCOMPARE(lines->index(0, 0).data().toString(), u"learning_rate"_s);
        auto* figures = shown.find<QTableView>(u"compareFigures"_s)->model();
        QStringList words;
        for (int row = 0; row < figures->rowCount(); ++row)
            words << figures->index(row, 0).data().toString() + u": "_s +
                         figures->index(row, 2).data(FiguresModel::ChangeTextRole).toString();
        QVERIFY2(words.join(u'|').contains(u"Tokens/s: better by"_s), qPrintable(words.join(u'|')));
        auto* table = shown.find<QTableView>(u"compareFigures"_s);
        const auto leftmost_ink = [](QWidget* part) {
            const QImage image = part->grab().toImage();
            for (int x = 0; x < image.width(); ++x) {
                for (int y = 0; y < image.height() - 4; ++y)  // without the line under the header
                    if (image.pixelColor(x, y).lightness() < 160) return x;
            }
            return -1;
        };
        const int header = leftmost_ink(table->horizontalHeader()->viewport()),
                  cells = leftmost_ink(table->viewport());
        QVERIFY2(std::abs(header - cells) <= 1, qPrintable(u"%1, %2"_s.arg(header).arg(cells)));
        auto* chart = view->findChild<ChartCard*>(u"compareChart0"_s);
        QCOMPARE(chart->plot()->chart().series.size(), 2u);
        QCOMPARE(chart->plot()->chart().series[0].x.back(), 40.0);
        view->findChild<QAbstractButton*>(u"along2"_s)->click();
        QVERIFY(std::abs(chart->plot()->chart().series[0].x.back() - 20) < 0.5);  // 40 steps of half a second
        view->findChild<QAbstractButton*>(u"along1"_s)->click();
        QCOMPARE(chart->plot()->chart().series[0].x.back(), 40 * 8192.0);
        shown.find<QPushButton>(u"leaveCompare"_s)->click();
        QVERIFY(!view->isVisible());
    }

    void callsTheSameOnlyWhatIsShownTheSame() {
        const auto said = [](double first, double other) {
            const auto figure = ComparedFigure::MemoryOverEstimate;
            const Change change = change_of(figure, first, other);
            return changeText({figure, {first, other}, {Change::Unknown, change}, {false, false}}, 1);
        };
        QCOMPARE(said(1.1510, 1.1512), u"the same"_s);
        QCOMPARE(said(1.1540, 1.1560), u"about the same"_s);  // shown as 115 % and 116 %
        QCOMPARE(said(1.15, 1.30), u"15 points more"_s);
        QCOMPARE(change_of(ComparedFigure::Overhead, 0.064, 0.065), Change::Same);  // a tenth of a point
        QCOMPARE(change_of(ComparedFigure::Overhead, 0.064, 0.074), Change::Worse);
    }

    void aSampledPeakIsMarked() {
        Comparison comparison;
        comparison.runs.resize(2);
        comparison.figures = {
            {ComparedFigure::PeakMemory, {2e9, 2e9}, {Change::Unknown, Change::Same}, {true, false}}};
        FiguresModel model;
        model.show(comparison);
        QCOMPARE(model.index(0, 1).data().toString(), u"\u2248 "_s + show::bytes(2'000'000'000));
        QVERIFY(!model.index(0, 2).data().toString().contains(u'\u2248'));
    }

    void comparedRunsFitANarrowPage() {
        TestHome home;
        for (const char* name :
             {"longdocs-with-a-long-name-1", "longdocs-with-a-long-name-2", "longdocs-with-a-long-name-3"})
            home.add({.name = name});
        Shown shown(home, {620, 700});
        TRY_SETTLED(shown);
        shown.table()->selectAll();
        shown.find<QPushButton>(u"compareButton"_s)->click();
        TRY_SETTLED(shown);
        for (const QString& name : {u"compareFigures"_s, u"compareLines"_s}) {
            auto* table = shown.find<QTableView>(name);
            QHeaderView* header = table->horizontalHeader();
            QVERIFY2(header->length() <= table->viewport()->width(), qPrintable(name));
            const QImage image = header->viewport()->grab().toImage();
            const auto end_of_name = [&](int section) {
                const int wide = header->sectionSize(section) / 2;
                return image.copy(header->sectionViewportPosition(section) + wide, 0, wide - 1,
                                  image.height());
            };
            QVERIFY2(end_of_name(1) != end_of_name(2), "the ends of the names differ");
        }
    }

    void comparedChartsMarkAlertsAndShowOnlyWhatTheRunsHave() {
        TestHome home;
        home.add({.name = "even"});
        const RunDirectory odd = home.add({.name = "odd"});
        StepEvent broken;
        broken.step = 41;
        broken.loss = std::nan("");
        broken.tokens = 8192;
        broken.step_s = 0.5;
        broken.preference.sampler_gap = 0.25;
        EventWriter(odd.events(), 0).write(broken);
        Shown shown(home);
        TRY_SETTLED(shown);
        shown.page.compare({home.path(u"even"_s), home.path(u"odd"_s)});
        TRY_SETTLED(shown);
        auto* view = shown.find<CompareView>(u"compareView"_s);
        const auto card = [&](int kind) {
            return view->findChild<ChartCard*>(u"compareChart%1"_s.arg(kind));
        };
        for (int kind : {0, 1, 6}) {
            const std::vector<ChartMark>& marks = card(kind)->plot()->chart().marks;
            QCOMPARE(marks.size(), size_t(1));
            QCOMPARE(marks[0].text, u"odd: The loss is not a number at step 41"_s);
            QCOMPARE(marks[0].x, 41.0);
        }
        QVERIFY(!card(6)->isHidden());  // shows the gap to the sampling server
        QVERIFY(card(5)->isHidden() && card(4)->isHidden());
        QCOMPARE(double(card(6)->plot()->chart().series[1].value.back()), 0.25);
        view->findChild<QAbstractButton*>(u"along1"_s)->click();
        QCOMPARE(card(0)->plot()->chart().marks[0].x, 41 * 8192.0);
    }

    void comparisonModelsKeepTheRulesOfModels() {
        TestHome home;
        const auto runs = std::vector{home.add({.name = "a"}), home.add({.name = "b", .ranks = 4})};
        FiguresModel figures;
        LinesModel lines;
        QAbstractItemModelTester one(&figures, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QAbstractItemModelTester two(&lines, QAbstractItemModelTester::FailureReportingMode::QtTest);
        figures.show(compare_runs(runs));
        lines.show(compare_runs(runs));
        QVERIFY(figures.rowCount() > 5);
        QVERIFY(lines.rowCount() > 0);
    }

    void saysWhatCannotBeCompared() {
        TestHome home;
        home.add({.name = "whole"});
        home.add({.name = "empty", .steps = 0});
        Shown shown(home);
        shown.page.compare({home.path(u"whole"_s), home.path(u"empty"_s), home.path(u"gone"_s)});
        TRY_SETTLED(shown);
        const auto labels = shown.find<CompareView>(u"compareView"_s)->findChildren<QLabel*>();
        QString all;
        for (const QLabel* label : labels) all += label->text();
        QVERIFY(all.contains(u"empty has no steps yet"_s) && all.contains(u"gone: "_s));
        shown.page.compare({home.path(u"whole"_s)});
        TRY_SETTLED(shown);
        QVERIFY(shown.page.grab().width() > 0);
    }

    void reducesLongCurvesToTheChartsWidth() {
        Comparison comparison;
        comparison.runs.resize(1);
        RunCurves& curves = comparison.runs[0].curves;
        for (int step = 1; step <= 100'000; ++step) {
            curves.step.push_back(step);
            curves.loss.push_back(step == 777 ? 99 : 2);
        }
        const ChartData data = chartOf(comparison, CurveKind::Loss, Along::Step, 800, false);
        QVERIFY(data.series[0].x.size() <= 800);
        QCOMPARE(data.series[0].x.back(), 100'000.0);
        QCOMPARE(*std::max_element(data.series[0].high.begin(), data.series[0].high.end()), 99.0F);
    }
};

}  // namespace ringmaster
