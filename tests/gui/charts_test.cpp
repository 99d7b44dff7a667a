// Tests the charts: round ticks, no lost points, a logarithmic axis with zeros, and a read-out that follows
// the pointer.
#include <QApplication>
#include <QFile>
#include <QMenu>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <cmath>

#include "engine/error.h"
#include "gui/charts/chart_card.h"
#include "gui/charts/heat_map.h"
#include "gui/charts/ticks.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

namespace {

const float kGap = std::nanf("");

ChartSeries line(const QString& name, std::vector<float> values, int rank = -1) {
    ChartSeries s;
    s.name = name;
    s.value = std::move(values);
    s.rank = rank;
    s.colour = [](const Colours&) { return QColor(Qt::red); };
    return s;
}

ChartData chartOf(std::vector<ChartSeries> series) {
    ChartData chart;
    for (size_t i = 0; i < series.front().value.size(); ++i) chart.x.push_back(double(i + 1));
    chart.series = std::move(series);
    chart.xName = u"step"_s;
    return chart;
}

/// Counts the reddish pixels in a column of the picture.
int reds(const QImage& image, int x) {
    int count = 0;
    for (int y = 0; y < image.height(); ++y) {
        const QColor c = image.pixelColor(x, y);
        if (c.red() > 150 && c.green() < 130 && c.blue() < 130) ++count;
    }
    return count;
}

int reds(const QImage& image) {
    int count = 0;
    for (int x = 0; x < image.width(); ++x) count += reds(image, x);
    return count;
}

QStringList texts(const std::vector<Tick>& found) {
    QStringList all;
    for (const Tick& tick : found)
        all << QString(tick.text).replace(QChar(0x202f), u' ').replace(QChar::Nbsp, u' ');
    return all;
}

}  // namespace

class ChartsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() {
        QLocale::setDefault(QLocale::c());
        applyAppearance(Appearance::Light);
    }

    void ticksAreRoundAndInTheUnitOfTheirAxis() {
        QCOMPARE(texts(ticks(Unit::Count, 0, 400, 5)),
                 (QStringList{u"0"_s, u"100"_s, u"200"_s, u"300"_s, u"400"_s}));
        QCOMPARE(texts(ticks(Unit::Percent, 0, 0.12, 3)), (QStringList{u"0 %"_s, u"5 %"_s, u"10 %"_s}));
        const double gib = 1073741824.0;
        QCOMPARE(texts(ticks(Unit::Bytes, 40 * gib, 84 * gib, 4)),
                 (QStringList{u"40 GiB"_s, u"60 GiB"_s, u"80 GiB"_s}));
        QCOMPARE(texts(ticks(Unit::Seconds, 0, 7200, 4)).mid(1),
                 (QStringList{u"30 min"_s, u"1 h"_s, u"1 h 30 min"_s, u"2 h"_s}));
        QVERIFY(ticks(Unit::Plain, 1, 1, 5).empty());
        QVERIFY(ticks(Unit::Plain, std::nan(""), 1, 5).empty());
        QVERIFY(ticks(Unit::Plain, 1e300, 1e300 + 1, 5).empty());
        for (double high : {1e-12, 3e-5, 0.7, 9.0, 1234.0, 5e7, 3e14})
            QVERIFY2(ticks(Unit::Plain, 0, high, 5).size() <= 7 && ticks(Unit::Plain, 0, high, 5).size() >= 2,
                     qPrintable(QString::number(high)));
    }

    void aLogarithmicAxisHasItsTicksInEveryDecade() {
        QCOMPARE(texts(logTicks(Unit::Plain, 0.5, 2000, 4)),
                 (QStringList{u"1"_s, u"10"_s, u"100"_s, u"1000"_s}));
        QVERIFY(logTicks(Unit::Plain, 0, 10, 4).empty());
    }

    void theAxisHoldsEverySpikeOfThePart() {
        ChartSeries s = line(u"a"_s, {1, 2, 3});
        s.low = {1, -8, 3};
        s.high = {1, 40, 3};
        const ChartData chart = chartOf({s});
        const Extent y = yExtent(chart, xExtent(chart));
        QVERIFY(y.low <= -8 && y.high >= 40);
        QVERIFY((yExtent(chart, {2.5, 4}).high < 40));
    }

    void stackedAreasAddUp() {
        ChartSeries a = line(u"a"_s, {1, 2}), b = line(u"b"_s, {3, 4});
        a.mark = b.mark = Mark::Stacked;
        ChartData chart = chartOf({a, b});
        chart.fromZero = true;
        QVERIFY(yExtent(chart, xExtent(chart)).high >= 6);
        QCOMPARE(yExtent(chart, xExtent(chart)).low, 0.0);
    }

    void aLogarithmicChartSurvivesZerosAndNegativesAndSaysSo() {
        Plot plot;
        plot.resize(400, 250);
        ChartData chart = chartOf({line(u"a"_s, {100, 10, 0, -5, 1, 10})});
        chart.logY = true;
        QVERIFY(hasBelowLog(chart));
        plot.setData(chart);
        const QImage image = plot.grab().toImage();
        QVERIFY(plot.yRange().low > 0);
        QVERIFY2(reds(image) > 200, "the line is drawn");
        ChartData none = chartOf({line(u"a"_s, {0, -1, 0})});
        none.logY = true;
        plot.setData(none);
        QVERIFY(!plot.grab().isNull());
    }

    void gapsAreNotDrawnOver() {
        Plot plot;
        plot.resize(400, 250);
        plot.setData(chartOf({line(u"a"_s, {1, 2, kGap, kGap, kGap, kGap, kGap, kGap, 2, 1})}));
        const QImage image = plot.grab().toImage();
        const QRectF area = plot.plotArea();
        QCOMPARE(reds(image, int(area.center().x())), 0);
        QVERIFY(reds(image, int(area.left() + 10)) > 0);
        ChartData bridged = plot.chart();
        bridged.bridgeGaps = true;
        plot.setData(bridged);
        QVERIFY(reds(plot.grab().toImage(), int(area.center().x())) > 0);
    }

    void oneSpikeInAThousandIsDrawn() {
        std::vector<float> values(1000, 1);
        ChartSeries s = line(u"a"_s, values);
        s.low = values;
        s.high = values;
        s.high[500] = 100;
        Plot plot;
        plot.resize(500, 300);
        plot.setData(chartOf({s}));
        const QImage image = plot.grab().toImage();
        const QRectF area = plot.plotArea();
        int tallest = 0;
        for (int x = int(area.left()); x < int(area.right()); ++x)
            tallest = std::max(tallest, reds(image, x));
        QVERIFY2(tallest > area.height() / 2, qPrintable(QString::number(tallest)));
    }

    void aSteadyRiseIsAStraightLine() {
        ChartSeries s = line(u"learning rate"_s, {});
        for (int column = 0, step = 0; column < 20; ++column) {
            s.low.push_back(float(step + 1));
            step += column % 4 == 0 ? 2 : 1;  // some columns contain two steps
            s.high.push_back(float(step));
            s.value.push_back(float(step));
            s.x.push_back(step);
        }
        ChartData chart = chartOf({s});
        chart.xLow = 1;
        Plot plot;
        plot.resize(400, 250);
        plot.setData(chart);
        const QImage image = plot.grab().toImage();
        const QRectF area = plot.plotArea();
        const Extent y = plot.yRange();
        double worst = 0;
        for (int x = int(area.left()) + 2; x < int(area.right()) - 2; ++x) {
            double sum = 0, weight = 0;
            for (int row = 0; row < image.height(); ++row) {
                const QColor c = image.pixelColor(x, row);
                const double red = std::max(0, c.red() - c.green());
                sum += red * (row + 0.5);
                weight += red;
            }
            const double step = 1 + (x + 0.5 - area.left()) / area.width() * (s.x.back() - 1);
            const double at = area.top() + (y.high - step) / (y.high - y.low) * area.height();
            worst = std::max(worst, weight > 0 ? std::abs(sum / weight - at) : area.height());
        }
        QVERIFY2(worst < 1, qPrintable(QString::number(worst)));
    }

    void aPointOnTheEdgeIsDrawnWhole() {
        ChartSeries points = line(u"evaluation"_s, {kGap, 2, 2});
        points.mark = Mark::Points;
        Plot plot;
        plot.resize(400, 250);
        plot.setData(chartOf({points}));
        const QImage image = plot.grab().toImage();
        const int edge = int(plot.plotArea().right());
        int inside = 0, outside = 0;
        for (int away = 1; away <= space(0.3); ++away) {
            inside += reds(image, edge - away);
            outside += reds(image, edge + away - 1);
        }
        QVERIFY2(inside > 5 && outside * 2 > inside, qPrintable(u"%1, %2"_s.arg(inside).arg(outside)));
        ChartData zoomed = plot.chart();
        zoomed.xHigh = 2.5;
        plot.setData(zoomed);
        QCOMPARE(reds(plot.grab().toImage(), int(plot.plotArea().right()) + 1), 0);
    }

    void theReadOutFollowsPointerAndKeysAndIsShared() {
        Plot a, b;
        a.resize(400, 250);
        b.resize(400, 250);
        a.setData(chartOf({line(u"a"_s, {1, 2, 3, 4, 5})}));
        b.setData(chartOf({line(u"b"_s, {1, 2, 3, 4, 5})}));
        linkCursors({&a, &b});
        a.show();
        b.show();
        QVERIFY(QTest::qWaitForWindowExposed(&a));
        a.grab();
        b.grab();
        const QPointF middle = a.plotArea().center();
        QTest::mouseMove(&a, (middle + QPointF(6, 0)).toPoint());
        QCOMPARE(a.cursorX(), std::optional<double>(3));
        QCOMPARE(b.cursorX(), std::optional<double>(3));
        QTest::keyClick(&a, Qt::Key_Right);
        QCOMPARE(b.cursorX(), std::optional<double>(4));
        QTest::keyClick(&a, Qt::Key_Home);
        QCOMPARE(b.cursorX(), std::optional<double>(1));
        QTest::keyClick(&a, Qt::Key_Escape);
        QVERIFY(!b.cursorX());
    }

    void dragChoosesAndDoubleClickBringsBack() {
        Plot plot;
        plot.resize(400, 250);
        plot.setData(chartOf({line(u"a"_s, std::vector<float>(101, 1))}));
        plot.grab();
        QSignalSpy chosen(&plot, &Plot::rangeChosen), reset(&plot, &Plot::rangeReset);
        const QRectF area = plot.plotArea();
        const auto at = [&](double share) {
            return QPointF(area.left() + share * area.width(), area.center().y()).toPoint();
        };
        QTest::mousePress(&plot, Qt::LeftButton, {}, at(0.25));
        QTest::mouseRelease(&plot, Qt::LeftButton, {}, at(0.75));
        QCOMPARE(chosen.size(), 1);
        QVERIFY(std::abs(chosen[0][0].toDouble() - 26) < 1.5);
        QVERIFY(std::abs(chosen[0][1].toDouble() - 76) < 1.5);
        QTest::keyClick(&plot, Qt::Key_Plus);
        QCOMPARE(chosen.size(), 2);
        QVERIFY(chosen[1][1].toDouble() - chosen[1][0].toDouble() < 60);
        QTest::mouseDClick(&plot, Qt::LeftButton, {}, at(0.5));
        QCOMPARE(reset.size(), 1);
    }

    void aClickOnALineChoosesItsRank() {
        Plot plot;
        plot.resize(400, 250);
        plot.setData(chartOf({line(u"rank 0"_s, {1, 1, 1}, 0), line(u"rank 7"_s, {5, 5, 5}, 7)}));
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot));
        plot.grab();
        QSignalSpy chosen(&plot, &Plot::rankChosen);
        const QRectF area = plot.plotArea();
        const double y =
            area.top() + (plot.yRange().high - 5) / (plot.yRange().high - plot.yRange().low) * area.height();
        const QPoint at(int(area.center().x()), int(y) + 2);
        QTest::mouseMove(&plot, at);
        QTest::mouseClick(&plot, Qt::LeftButton, {}, at);
        QCOMPARE(chosen.size(), 1);
        QCOMPARE(chosen[0][0].toInt(), 7);
    }

    void aScreenReaderHearsTheLastFigureAndTheTrend() {
        std::vector<float> falling;
        for (int i = 0; i < 60; ++i) falling.push_back(float(10 - i * 0.1));
        ChartData chart = chartOf({line(u"loss"_s, falling)});
        chart.yUnit = Unit::Loss;
        QCOMPARE(describe(chart), u"loss: 4.1000, falling."_s);
        QCOMPARE(describe({}), u"No data yet."_s);
    }

    void aCheckpointIsSeenOnAFilledArea() {
        ChartSeries area = line(u"compute"_s, {2, 2, 2});
        area.mark = Mark::Stacked;
        ChartData chart = chartOf({area});
        const auto picture = [&] {
            ChartCard card(u"Step time"_s);
            card.resize(500, 350);
            card.setData(chart);
            return card.picture({500, 350}, 1);
        };
        const int before = reds(picture());
        chart.marks.push_back({2, u"checkpoint of step 2"_s, false});
        const int hidden = before - reds(picture());
        QVERIFY2(hidden > space(0.6) * space(0.45) / 2, qPrintable(QString::number(hidden)));
    }

    void picturesAndFiguresAreSaved() {
        QTemporaryDir dir;
        ChartCard card(u"Loss"_s);
        card.resize(500, 350);
        ChartSeries s = line(u"rank \"0\", own"_s, {1.5F, kGap, 2.5F});
        card.setData(chartOf({s}));
        card.savePicture(dir.filePath(u"a.png"_s));
        QVERIFY(reds(QImage(dir.filePath(u"a.png"_s))) > 4);
        card.saveFigures(dir.filePath(u"a.csv"_s));
        QFile csv(dir.filePath(u"a.csv"_s));
        QVERIFY(csv.open(QIODevice::ReadOnly));
        QCOMPARE(csv.readAll(), QByteArray("step,\"rank \"\"0\"\", own\"\r\n1,1.5\r\n2,\r\n3,2.5\r\n"));
        QVERIFY_EXCEPTION_THROWN(card.saveFigures(dir.filePath(u"a.csv/x.csv"_s)), Error);
        QVERIFY_EXCEPTION_THROWN(card.savePicture(dir.filePath(u"a.csv/x.png"_s)), Error);
    }

    void aSavedPictureNamesItsRunAndItsAxis() {
        ChartCard card(u"Loss"_s);
        card.resize(500, 350);
        ChartData data = chartOf({line(u"rank 0"_s, {1.5F, 2, 2.5F})});
        const auto picture = [&](const QString& run, const QString& axis) {
            card.setRun(run);
            data.xName = axis;
            card.setData(data);
            return card.picture({500, 350}, 1);
        };
        const auto rows_that_differ = [](const QImage& a, const QImage& b) {
            std::vector<int> rows;
            for (int y = 0; y < a.height(); ++y)
                if (a.copy(0, y, a.width(), 1) != b.copy(0, y, b.width(), 1)) rows.push_back(y);
            return rows;
        };
        const QImage plain = picture({}, u"step"_s);
        const std::vector<int> head = rows_that_differ(plain, picture(u"longdocs"_s, u"step"_s)),
                               foot = rows_that_differ(plain, picture({}, u"tokens"_s));
        QVERIFY(!head.empty() && head.back() < 60);
        QVERIFY(!foot.empty() && foot.front() > 300);
    }

    void theHeatMapShowsWhoIsSlow() {
        HeatMap map;
        map.resize(400, 200);
        HeatData heat;
        for (int i = 0; i < 50; ++i) {
            heat.x.push_back(i + 1);
            heat.median.push_back(1);
        }
        for (int rank = 0; rank < 4; ++rank) {
            heat.names.push_back(u"rank %1"_s.arg(rank));
            heat.rows.emplace_back(50, rank == 2 ? 1.4F : 1.0F);
        }
        heat.rows[1][7] = kGap;
        map.setData(heat);
        QVERIFY(map.image().pixelColor(10, 2) != map.image().pixelColor(10, 1));
        QVERIFY(map.image().pixelColor(7, 1) != map.image().pixelColor(8, 1));
        QVERIFY(map.accessibleDescription().contains(u"rank 2 is slower now"_s));
        QVERIFY(map.readOutAt(2, 10).contains(u"slower"_s));
        QVERIFY(map.readOutAt(9, 10).isEmpty());
        QVERIFY(std::isnan(heatOf(1, 0)));
        QCOMPARE(heatOf(2, 1), 1.0F);
        QSignalSpy chosen(&map, &HeatMap::rankChosen);
        QTest::mouseClick(&map, Qt::LeftButton, {}, QPoint(200, 8));
        QCOMPARE(chosen.size(), 1);
        QCOMPARE(chosen[0][0].toInt(), 0);
        map.setChosenRank(0);
        QTest::keyClick(&map, Qt::Key_Down);
        QCOMPARE(chosen[1][0].toInt(), 1);
    }

    void emptyAndTinyChartsDoNotBreak() {
        Plot plot;
        plot.setEmptyText(u"Nothing yet."_s);
        for (const QSize& size : {QSize(1, 1), QSize(30, 20), QSize(600, 10)}) {
            plot.resize(size);
            plot.setData({});
            plot.grab();
            plot.setData(chartOf({line(u"a"_s, {kGap, kGap})}));
            plot.grab();
            plot.setData(chartOf({line(u"a"_s, {3})}));
            plot.grab();
        }
        HeatMap map;
        map.resize(2, 2);
        map.setData({});
        map.grab();
    }
};

QTEST_MAIN(ChartsTest)
#include "charts_test.moc"
