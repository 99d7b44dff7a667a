#include "gui/charts/series_canvas.h"

#include <QAreaSeries>
#include <QChart>
#include <QGraphicsLayout>
#include <QGraphicsScene>
#include <QLegend>
#include <QLineSeries>
#include <QPainter>
#include <QPen>
#include <QValueAxis>
#include <algorithm>
#include <cmath>

namespace ringmaster {

namespace {

constexpr double kThin = 1, kStrong = 1.8;
const double kGap = std::numeric_limits<double>::quiet_NaN();

using Points = QList<QPointF>;

/// Returns the range of entries to draw: those in view and one more on each side.
std::pair<size_t, size_t> visible(const std::vector<double>& x, const Extent& extent, size_t count) {
    count = std::min(count, x.size());
    const auto end = x.begin() + std::ptrdiff_t(count);
    const auto first = std::lower_bound(x.begin(), end, extent.low),
               last = std::upper_bound(first, end, extent.high);
    const auto begin = size_t(first - x.begin());
    return {begin > 0 ? begin - 1 : 0, std::min(count, size_t(last - x.begin()) + 1)};
}

void addGap(Points& points, bool bridge) {
    if (!bridge && !points.isEmpty() && !std::isnan(points.last().y()))
        points << QPointF(points.last().x(), kGap);
}

/// Replaces a point without neighbours by a short stroke, because a line of one point has no length.
Points withLonely(const Points& points) {
    constexpr double kHalf = 2.5;  // pixels
    const auto isGap = [&](qsizetype i) { return i < 0 || i >= points.size() || std::isnan(points[i].y()); };
    Points all;
    for (qsizetype i = 0; i < points.size(); ++i) {
        if (!isGap(i) && isGap(i - 1) && isGap(i + 1)) {
            all << points[i] - QPointF(kHalf, 0) << points[i] + QPointF(kHalf, 0);
        } else {
            all << points[i];
        }
    }
    return all;
}

Points linePoints(const std::vector<double>& x, const std::vector<float>& values, const Mapping& map,
                  bool bridge) {
    Points points;
    const auto [begin, end] = visible(x, map.x, values.size());
    for (size_t i = begin; i < end; ++i) {
        if (std::isnan(values[i])) {
            addGap(points, bridge);
        } else {
            points << QPointF(map.toX(x[i]), map.toY(double(values[i])));
        }
    }
    return withLonely(points);
}

/// Draws a line through the minimum and maximum of each pixel column, so that no spike is lost. The line
/// visits the nearer of the two first. If the nearer one lies on the direct way to the other, it gets no
/// point of its own, so that a monotonic curve stays smooth.
Points spreadPoints(const std::vector<double>& x, const ChartSeries& s, const Mapping& map, bool bridge) {
    Points points;
    const auto [begin, end] = visible(x, map.x, std::min(s.low.size(), s.high.size()));
    const auto isKnown = [&](size_t i) { return i >= begin && i < end && !std::isnan(s.low[i]); };
    for (size_t i = begin; i < end; ++i) {
        if (!isKnown(i)) {
            addGap(points, bridge);
            continue;
        }
        const double at = map.toX(x[i]), low = map.toY(double(s.low[i])), high = map.toY(double(s.high[i]));
        const bool goesOn = !points.isEmpty() && !std::isnan(points.last().y());
        double before = goesOn ? points.last().y() : low, start = at;
        if (!goesOn && isKnown(i + 1)) {  // the column's steps begin where the previous column's steps ended
            if (map.toY(double(s.low[i + 1])) > low) before = high;
            start = map.toX(i > 0 ? x[i - 1] : std::min(map.x.low, x[i]));
        }
        const bool fromHigh = std::abs(before - high) < std::abs(before - low);
        const double first = fromHigh ? high : low, last = fromHigh ? low : high;
        const bool isPassed = goesOn && (before - first) * (first - last) >= 0;
        if (!isPassed && first != last) points << QPointF(start, first);
        points << QPointF(at, last);
    }
    return withLonely(points);
}

struct Drawn {
    Points points;  ///< points of a line, or of an area's upper edge
    Points lower;   ///< lower edge of an area; empty: a line
    QPen pen;
    QColor fill;
};

QColor clear(QColor colour, double share) {
    colour.setAlphaF(float(share));
    return colour;
}

void addBand(std::vector<Drawn>& out, const std::vector<double>& x, const ChartSeries& s, const Mapping& map,
             const QColor& colour) {
    Drawn band;
    const auto [begin, end] = visible(x, map.x, std::min(s.low.size(), s.high.size()));
    for (size_t i = begin; i < end; ++i) {
        if (std::isnan(s.low[i])) continue;
        band.points << QPointF(map.toX(x[i]), map.toY(double(s.high[i])));
        band.lower << QPointF(map.toX(x[i]), map.toY(double(s.low[i])));
    }
    band.pen = QPen(Qt::NoPen);
    band.fill = clear(colour, 0.22);
    if (band.points.size() > 1) out.push_back(std::move(band));
}

void addStacked(std::vector<Drawn>& out, std::vector<double>& stack, const std::vector<double>& x,
                const ChartSeries& s, const Mapping& map, const QColor& colour) {
    Drawn area;
    if (stack.size() < s.value.size()) stack.resize(s.value.size(), 0);
    const auto [begin, end] = visible(x, map.x, s.value.size());
    for (size_t i = begin; i < end; ++i) {
        if (std::isnan(s.value[i])) continue;
        area.lower << QPointF(map.toX(x[i]), map.toY(stack[i]));
        stack[i] += double(s.value[i]);
        area.points << QPointF(map.toX(x[i]), map.toY(stack[i]));
    }
    area.pen = QPen(Qt::NoPen);
    area.fill = colour;
    if (area.points.size() > 1) out.push_back(std::move(area));
}

void addLine(std::vector<Drawn>& out, const ChartData& data, const ChartSeries& s, const Mapping& map,
             const QColor& colour) {
    const std::vector<double>& x = data.xOf(s);
    const bool spread = !s.low.empty() && s.mark == Mark::Line;
    const bool isSmooth = !s.smooth.empty();
    QColor ink = s.faint ? clear(colour, 0.28) : colour;
    QPen pen(ink, s.strong ? kStrong : kThin);
    pen.setJoinStyle(Qt::BevelJoin);
    if (s.mark == Mark::Dashed) pen.setDashPattern({5, 4});
    if (!isSmooth || spread) {
        Drawn raw{
            spread ? spreadPoints(x, s, map, data.bridgeGaps) : linePoints(x, s.value, map, data.bridgeGaps),
            {},
            pen,
            {}};
        if (isSmooth) raw.pen = QPen(clear(ink, s.faint ? 0.08 : 0.25), kThin);
        if (s.strong && spread) raw.pen.setWidthF(isSmooth ? kThin : 1.3);
        out.push_back(std::move(raw));
    }
    if (isSmooth) out.push_back({linePoints(x, s.smooth, map, data.bridgeGaps), {}, pen, {}});
}

/// Lays out the series in the order of drawing: areas, lines, strong lines.
std::vector<Drawn> laidOut(const ChartData& data, const Mapping& map, const Colours& colours) {
    std::vector<Drawn> areas, lines, strong;
    std::vector<double> stack;
    for (const ChartSeries& s : data.series) {
        const QColor colour = s.colour ? s.colour(colours) : colours.text;
        if (s.mark == Mark::Points) continue;
        if (s.mark == Mark::Stacked) {
            addStacked(areas, stack, data.xOf(s), s, map, colour);
            continue;
        }
        if (s.mark == Mark::Band) addBand(areas, data.xOf(s), s, map, colour);
        addLine(s.strong || s.mark != Mark::Line ? strong : lines, data, s, map, colour);
    }
    for (auto* part : {&lines, &strong}) std::move(part->begin(), part->end(), std::back_inserter(areas));
    return areas;
}

}  // namespace

double Mapping::toX(double value) const {
    return (value - x.low) / (x.high - x.low) * size.width();
}

double Mapping::toY(double value) const {
    const double share = logY ? std::log(std::max(value, y.low) / y.low) / std::log(y.high / y.low)
                              : (value - y.low) / (y.high - y.low);
    return (1 - share) * size.height();
}

double Mapping::fromX(double pixel) const {
    return x.low + pixel / std::max(size.width(), 1.0) * (x.high - x.low);
}

struct SeriesCanvas::Scene {
    QGraphicsScene scene;
    QChart* chart = new QChart;
    QValueAxis* x = new QValueAxis;
    QValueAxis* y = new QValueAxis;
    std::vector<bool> areas;  ///< true for each series that is an area

    Scene() {
        scene.addItem(chart);
        chart->legend()->hide();
        chart->setBackgroundVisible(false);
        chart->setPlotAreaBackgroundVisible(false);
        chart->setAnimationOptions(QChart::NoAnimation);
        chart->setDropShadowEnabled(false);
        chart->setMargins({});
        chart->layout()->setContentsMargins(0, 0, 0, 0);
        chart->addAxis(x, Qt::AlignBottom);
        chart->addAxis(y, Qt::AlignLeft);
        x->setVisible(false);
        y->setVisible(false);
    }

    void resize(const QSizeF& size) {
        if (chart->plotArea().size() == size) return;
        chart->setGeometry(QRectF(QPointF(), size));
        chart->setPlotArea(QRectF(QPointF(), size));
        x->setRange(0, size.width());
        y->setRange(0, size.height());
    }

    /// Makes the QChart hold as many series as there are to draw, of the same kinds in the same order.
    void prepare(const std::vector<Drawn>& drawn) {
        std::vector<bool> wanted;
        for (const Drawn& one : drawn) wanted.push_back(!one.lower.isEmpty());
        if (wanted == areas) return;
        chart->removeAllSeries();
        areas = wanted;
        for (bool isArea : areas) {
            QXYSeries* line = new QLineSeries;
            QAbstractSeries* series = line;
            if (isArea) {
                auto* area = new QAreaSeries(qobject_cast<QLineSeries*>(line), nullptr);
                auto* lower = new QLineSeries(area);
                line->setParent(area);
                area->setLowerSeries(lower);
                series = area;
            }
            chart->addSeries(series);
            series->attachAxis(x);
            series->attachAxis(y);
        }
    }

    /// Flips y, because the chart's y grows upwards.
    static void flip(Points& points, double height) {
        for (QPointF& point : points) point.setY(height - point.y());
    }

    void fill(std::vector<Drawn>& drawn, double height) {
        const QList<QAbstractSeries*> all = chart->series();
        for (size_t i = 0; i < drawn.size(); ++i) {
            flip(drawn[i].points, height);
            flip(drawn[i].lower, height);
            if (auto* area = qobject_cast<QAreaSeries*>(all[qsizetype(i)])) {
                area->setPen(drawn[i].pen);
                area->setBrush(drawn[i].fill);
                area->upperSeries()->replace(drawn[i].points);
                area->lowerSeries()->replace(drawn[i].lower);
            } else if (auto* line = qobject_cast<QLineSeries*>(all[qsizetype(i)])) {
                line->setPen(drawn[i].pen);
                line->replace(drawn[i].points);
            }
        }
    }
};

SeriesCanvas::SeriesCanvas() : m_scene(std::make_unique<Scene>()) {}
SeriesCanvas::~SeriesCanvas() = default;

QPixmap SeriesCanvas::draw(const ChartData& data, const Mapping& mapping, const Colours& colours,
                           double pixelRatio) {
    QPixmap picture((mapping.size * pixelRatio).toSize());
    picture.setDevicePixelRatio(pixelRatio);
    picture.fill(Qt::transparent);
    std::vector<Drawn> drawn = laidOut(data, mapping, colours);
    m_scene->resize(mapping.size);
    m_scene->prepare(drawn);
    m_scene->fill(drawn, mapping.size.height());
    QPainter painter(&picture);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF area(QPointF(), mapping.size);
    m_scene->scene.render(&painter, area, area);
    return picture;
}

void drawPoints(QPainter& painter, const QPointF& origin, const ChartData& data, const Mapping& mapping,
                const Colours& colours) {
    const double radius = space(0.2);
    const QRectF area(QPointF(), mapping.size);
    for (const ChartSeries& s : data.series) {
        if (s.mark != Mark::Points) continue;
        painter.setBrush(s.colour ? s.colour(colours) : colours.text);
        painter.setPen(QPen(colours.card, 1));
        const std::vector<double>& x = data.xOf(s);
        for (size_t i = 0; i < std::min(x.size(), s.value.size()); ++i) {
            if (std::isnan(s.value[i])) continue;
            const QPointF at(mapping.toX(x[i]), mapping.toY(double(s.value[i])));
            if (area.contains(at)) painter.drawEllipse(origin + at, radius, radius);
        }
    }
}

}  // namespace ringmaster
