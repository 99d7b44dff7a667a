#include "gui/queue/parallel_plot.h"

#include <QKeyEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/queue/queue_table.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr double kNear = 6;  ///< pixels: reach of the pointer, and minimum length of a drag
constexpr double kLogarithmic = 20;
constexpr size_t kMostTicks = 6;
constexpr double kTickHalf = 0.5, kSideEms = 3.2;
constexpr double kChosenWidth = 3;  ///< width of the chosen run's line

std::optional<double> numberOf(const QString& text) {
    bool is_number = false;
    const double value = text.toDouble(&is_number);
    return is_number && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// Returns a function that maps a number to its place from 0, the smallest of `values`, to 1, the largest.
/// Uses logarithms if the values span a wide range.
auto scaleOf(const std::vector<double>& values) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const bool logarithmic = *low > 0 && *high > kLogarithmic * *low;
    const auto form = [logarithmic](double value) { return logarithmic ? std::log(value) : value; };
    return [form, from = form(*low), to = form(*high)](double value) {
        return to > from ? (form(value) - from) / (to - from) : 0.5;
    };
}

/// Returns each text's place from 0 to 1: by its number if all texts are numbers, otherwise evenly spaced in
/// alphabetical order.
std::map<QString, double> placesOf(const std::vector<QString>& texts) {
    std::map<QString, double> places;
    std::vector<double> numbers;
    for (const QString& text : texts) {
        places[text] = 0;
        if (const auto number = numberOf(text)) numbers.push_back(*number);
    }
    if (numbers.size() == texts.size()) {
        const auto scale = scaleOf(numbers);
        for (auto& [text, place] : places) place = scale(*numberOf(text));
        return places;
    }
    double at = 0;
    const double last = double(places.size()) - 1;
    for (auto& [text, place] : places) place = last > 0 ? at++ / last : 0.5;
    return places;
}

void addAxis(SweepPicture& picture, const QString& name, const std::vector<QString>& values) {
    std::vector<QString> known;
    std::copy_if(values.begin(), values.end(), std::back_inserter(known),
                 [](const QString& value) { return !value.isEmpty(); });
    SweepAxis axis{name, {}};
    const std::map<QString, double> places = known.empty() ? std::map<QString, double>() : placesOf(known);
    for (const auto& [text, place] : places) axis.ticks.emplace_back(place, text);
    std::sort(axis.ticks.begin(), axis.ticks.end());
    for (size_t line = 0; line < values.size(); ++line) {
        const auto found = places.find(values[line]);
        picture.lines[line].places.push_back(found == places.end() ? std::nullopt
                                                                   : std::optional(found->second));
        picture.lines[line].values.push_back(values[line].isEmpty() ? show::unknown() : values[line]);
    }
    picture.axes.push_back(std::move(axis));
}

void addLossAxis(SweepPicture& picture) {
    std::vector<double> losses;
    for (const SweepLine& line : picture.lines) {
        if (line.loss) losses.push_back(*line.loss);
    }
    SweepAxis axis{ParallelPlot::tr("Loss"), {}};
    for (SweepLine& line : picture.lines) {
        line.places.push_back(line.loss ? std::optional(scaleOf(losses)(*line.loss)) : std::nullopt);
        line.values.push_back(line.loss ? show::loss(*line.loss) : show::unknown());
    }
    if (!losses.empty()) {
        const auto [low, high] = std::minmax_element(losses.begin(), losses.end());
        axis.ticks.emplace_back(scaleOf(losses)(*low), show::loss(*low));
        if (*high > *low) axis.ticks.emplace_back(1, show::loss(*high));
    }
    picture.axes.push_back(std::move(axis));
}

}  // namespace

SweepPicture sweep_picture(const std::vector<std::pair<QueuedRun, RunSummary>>& runs,
                           const std::vector<std::string>& keys) {
    SweepPicture picture;
    std::vector<const QueuedRun*> swept;
    for (const auto& [queued, run] : runs) {
        if (queued.set.empty() || keys.empty()) continue;
        swept.push_back(&queued);
        SweepLine line;
        line.dir = QString::fromStdString(run.dir.string());
        line.name = QString::fromStdString(run.name);
        line.is_over = is_over(run.state.state);
        if (run.loss && std::isfinite(*run.loss)) line.loss = run.loss;
        picture.lines.push_back(std::move(line));
    }
    if (picture.lines.size() < 2) return {};
    for (const std::string& key : keys) {
        std::vector<QString> values;
        for (const QueuedRun* queued : swept) {
            const auto value = queued->set.find(key);
            values.push_back(value == queued->set.end() ? QString() : QString::fromStdString(value->second));
        }
        addAxis(picture, QString::fromStdString(key), values);
    }
    addLossAxis(picture);
    return picture;
}

ParallelPlot::ParallelPlot(QWidget* parent) : TipWidget(parent) {
    setObjectName(u"parallelPlot"_s);
    setAccessibleName(tr("Results of the sweep"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void ParallelPlot::setPicture(const SweepPicture& picture) {
    const auto named = [](const SweepPicture& of) {
        QStringList names;
        for (const SweepAxis& axis : of.axes) names << axis.name;
        return names;
    };
    if (named(picture) != named(m_picture)) m_limits.clear();
    m_picture = picture;
    m_axis = std::min(m_axis, m_picture.axes.empty() ? 0 : m_picture.axes.size() - 1);
    describe();
    updateGeometry();
    update();
}

void ParallelPlot::choose(const QString& dir) {
    if (dir == m_chosen) return;
    m_chosen = dir;
    describe();
    update();
}

std::optional<std::pair<double, double>> ParallelPlot::limits(size_t axis) const {
    const auto found = m_limits.find(axis);
    return found == m_limits.end() ? std::nullopt : std::optional(found->second);
}

std::vector<QString> ParallelPlot::shown() const {
    std::vector<QString> dirs;
    for (const SweepLine& line : m_picture.lines) {
        if (passes(line)) dirs.push_back(line.dir);
    }
    return dirs;
}

QSize ParallelPlot::sizeHint() const {
    return {space(8) * int(std::max<size_t>(2, m_picture.axes.size())), space(14) + int(legendHeight())};
}

QRectF ParallelPlot::area() const {
    const QFontMetricsF metrics(fontOf(Type::Small));
    qsizetype lines = 1;
    double side = space(kSideEms);
    for (size_t axis = 0; axis < m_picture.axes.size(); ++axis) {
        const QStringList title = titleOf(axis);
        lines = std::max(lines, title.size());
        if (axis != 0 && axis + 1 != m_picture.axes.size()) continue;
        for (const QString& line : title) side = std::max(side, metrics.horizontalAdvance(line) / 2);
    }
    const double head = double(lines) * metrics.height() + space(0.7);
    return QRectF(side, head, std::max(1.0, width() - 2 * side),
                  std::max(1.0, height() - head - space(0.9) - legendHeight()));
}

/// Returns the lines of an axis's title: two lines if the title is wide.
QStringList ParallelPlot::titleOf(size_t axis) const {
    const QString& name = m_picture.axes[axis].name;
    const bool is_wide = QFontMetricsF(fontOf(Type::Small)).horizontalAdvance(name) > 2 * space(kSideEms);
    return (is_wide ? inTwoLines(name) : name).split(u'\n');
}

double ParallelPlot::legendHeight() const {
    return lineHeight(fontOf(Type::Small)) + space(0.3);
}

double ParallelPlot::xOf(size_t axis) const {
    const QRectF room = area();
    const double gaps = double(std::max<size_t>(2, m_picture.axes.size()) - 1);
    return room.left() + room.width() * double(axis) / gaps;
}

double ParallelPlot::placeAt(double y) const {
    const QRectF room = area();
    return std::clamp((room.bottom() - y) / room.height(), 0.0, 1.0);
}

QPointF ParallelPlot::pointOf(size_t line, size_t axis) const {
    const QRectF room = area();
    return {xOf(axis), room.bottom() - room.height() * m_picture.lines[line].places[axis].value_or(0)};
}

bool ParallelPlot::passes(const SweepLine& line) const {
    return std::all_of(m_limits.begin(), m_limits.end(), [&](const auto& limit) {
        const auto& [axis, range] = limit;
        const auto place = axis < line.places.size() ? line.places[axis] : std::nullopt;
        return place && *place >= range.first - 1e-9 && *place <= range.second + 1e-9;
    });
}

const SweepLine* ParallelPlot::lineOf(const QString& dir) const {
    const auto found = std::find_if(m_picture.lines.begin(), m_picture.lines.end(),
                                    [&](const SweepLine& line) { return line.dir == dir; });
    return found == m_picture.lines.end() ? nullptr : &*found;
}

/// Returns the line nearest to a point, among the lines that pass all limits; null if none is within kNear.
const SweepLine* ParallelPlot::lineAt(const QPointF& at) const {
    const SweepLine* nearest = nullptr;
    double least = kNear;
    for (size_t index = 0; index < m_picture.lines.size(); ++index) {
        const SweepLine& line = m_picture.lines[index];
        if (!passes(line)) continue;
        for (size_t axis = 0; axis + 1 < m_picture.axes.size(); ++axis) {
            if (!line.places[axis] || !line.places[axis + 1]) continue;
            const QPointF a = pointOf(index, axis), b = pointOf(index, axis + 1);
            if (at.x() < a.x() - kNear || at.x() > b.x() + kNear) continue;
            const double share = std::clamp((at.x() - a.x()) / (b.x() - a.x()), 0.0, 1.0);
            const double slope = std::hypot(1.0, (b.y() - a.y()) / (b.x() - a.x()));
            const double away = std::abs(at.y() - (a.y() + share * (b.y() - a.y()))) / slope;
            if (away >= least) continue;
            least = away;
            nearest = &line;
        }
    }
    return nearest;
}

std::optional<size_t> ParallelPlot::axisAt(const QPointF& at) const {
    for (size_t axis = 0; axis < m_picture.axes.size(); ++axis) {
        if (std::abs(at.x() - xOf(axis)) <= kNear) return axis;
    }
    return std::nullopt;
}

std::vector<const SweepLine*> ParallelPlot::byLoss() const {
    std::vector<const SweepLine*> lines;
    for (const SweepLine& line : m_picture.lines) {
        if (passes(line)) lines.push_back(&line);
    }
    std::stable_sort(lines.begin(), lines.end(), [](const SweepLine* a, const SweepLine* b) {
        return a->loss.value_or(HUGE_VAL) < b->loss.value_or(HUGE_VAL);
    });
    return lines;
}

void ParallelPlot::stepThrough(int by) {
    const std::vector<const SweepLine*> lines = byLoss();
    if (lines.empty()) return;
    const auto found = std::find_if(lines.begin(), lines.end(),
                                    [this](const SweepLine* line) { return line->dir == m_chosen; });
    const auto count = int(lines.size());
    const int next = found == lines.end() ? 0 : std::clamp(int(found - lines.begin()) + by, 0, count - 1);
    choose(lines[size_t(next)]->dir);
    Q_EMIT runChosen(m_chosen);
}

/// Limits the chosen axis to the next value, upwards if `by` is 1, downwards if it is -1. After the last
/// value, removes the limit.
void ParallelPlot::stepLimit(int by) {
    std::vector<double> places;
    for (const SweepLine& line : m_picture.lines) {
        if (line.places[m_axis]) places.push_back(*line.places[m_axis]);
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    if (places.empty()) return;
    const auto limit = limits(m_axis);
    const auto at = limit ? std::find(places.begin(), places.end(), limit->first) : places.end();
    const auto count = int(places.size());
    const int next = at == places.end() ? (by > 0 ? 0 : count - 1) : int(at - places.begin()) + by;
    m_limits.erase(m_axis);
    if (next >= 0 && next < count) m_limits[m_axis] = {places[size_t(next)], places[size_t(next)]};
    describe();
    update();
}

QString ParallelPlot::wordsOf(const SweepLine& line) const {
    QStringList words;
    for (size_t axis = 0; axis < m_picture.axes.size(); ++axis)
        words << m_picture.axes[axis].name + u" "_s + line.values[axis];
    if (line.loss && !line.is_over) words << tr("not finished");
    return line.name + u": "_s + show::listed(words);
}

void ParallelPlot::describe() {
    QStringList parts;
    const SweepLine* chosen = lineOf(m_chosen);
    if (chosen != nullptr) parts << wordsOf(*chosen) + u"."_s;
    const std::vector<const SweepLine*> lines = byLoss();
    parts << tr("%n run(s) shown", nullptr, int(lines.size())) + u"."_s;
    if (!lines.empty() && lines.front() != chosen && lines.front()->loss)
        parts << tr("Lowest loss: %1.").arg(wordsOf(*lines.front()));
    for (const auto& [axis, range] : m_limits) {
        if (axis < m_picture.axes.size()) parts << tr("Limited by %1.").arg(m_picture.axes[axis].name);
    }
    setAccessibleDescription(parts.join(u' '));
}

void ParallelPlot::drawLine(QPainter& painter, const SweepLine& line) const {
    if (!line.is_over) {
        QPen pen = painter.pen();
        pen.setDashPattern({5, 4});
        painter.setPen(pen);
    }
    const QRectF room = area();
    QPainterPath path;
    bool open = false;
    for (size_t axis = 0; axis < line.places.size(); ++axis) {
        if (!line.places[axis]) {
            open = false;
            continue;
        }
        const QPointF at(xOf(axis), room.bottom() - room.height() * *line.places[axis]);
        open ? path.lineTo(at) : path.moveTo(at);
        open = true;
    }
    painter.drawPath(path);
}

void ParallelPlot::drawAxis(QPainter& painter, size_t axis) const {
    const Colours c = coloursOf(this);
    const QRectF room = area();
    const double x = xOf(axis);
    const SweepAxis& of = m_picture.axes[axis];
    const bool is_current = hasFocus() && axis == m_axis;
    painter.setPen(QPen(is_current ? c.accent : c.muted, is_current ? 2 : 1));
    painter.drawLine(QPointF(x, room.top()), QPointF(x, room.bottom()));
    if (const auto limit = limits(axis)) {
        const double top = room.bottom() - room.height() * limit->second;
        const double foot = room.bottom() - room.height() * limit->first;
        QColor fill = c.accent;
        fill.setAlphaF(0.25F);
        painter.fillRect(QRectF(x - kNear, top - 2, 2 * kNear, std::max(4.0, foot - top + 4)), fill);
    }
    const QFontMetricsF metrics(fontOf(Type::Small));
    const double gap = room.width() / double(m_picture.axes.size() - 1);
    const bool is_first = axis == 0, is_last = axis + 1 == m_picture.axes.size();
    const double beside = is_first ? room.left() : is_last ? width() - room.right() : gap / 2;
    const double wide = beside + gap / 2 - space(0.5);
    const auto text = [&](double y, const QString& words, const QColor& colour) {
        const QString fitting = metrics.elidedText(words, Qt::ElideMiddle, wide);
        const double half = metrics.horizontalAdvance(fitting) / 2;
        const double left = std::clamp(x - half, 0.0, std::max(0.0, width() - 2 * half));
        const QRectF box(left, y - metrics.height() / 2, 2 * half, metrics.height());
        if (colour == c.text) painter.fillRect(box.adjusted(-2, 0, 2, 0), c.card);
        painter.setPen(colour);
        painter.drawText(box, Qt::AlignCenter, fitting);
    };
    const QStringList title = titleOf(axis);
    double y = room.top() - space(0.7) - (double(title.size()) - kTickHalf) * metrics.height();
    for (const QString& line : title) {
        text(y, line, is_current ? c.accent : c.muted);
        y += metrics.height();
    }
    const size_t each = (of.ticks.size() + kMostTicks - 1) / kMostTicks;
    for (size_t tick = 0; tick < of.ticks.size(); tick += std::max<size_t>(1, each))
        text(room.bottom() - room.height() * of.ticks[tick].first, of.ticks[tick].second, c.text);
}

/// Explains the colours: the scale from the lowest to the highest loss, and the chosen run's colour.
void ParallelPlot::drawLegend(QPainter& painter) const {
    const Colours c = coloursOf(this);
    const QFontMetricsF metrics(fontOf(Type::Small));
    const double middle = height() - legendHeight() / 2, thick = space(0.35);
    double x = 0;
    const auto write = [&](const QString& words, const QColor& colour) {
        const double wide = metrics.horizontalAdvance(words);
        painter.setPen(colour);
        painter.drawText(QRectF(x, height() - legendHeight(), wide + 1, legendHeight()),
                         int(Qt::AlignLeft | Qt::AlignVCenter), words);
        x += wide + space(0.5);
    };
    const auto sample = [&](const QBrush& brush, double wide, double high) {
        painter.fillRect(QRectF(x, middle - high / 2, wide, high), brush);
        x += wide + space(0.5);
    };
    const SweepAxis& loss = m_picture.axes.back();
    if (loss.ticks.size() > 1) {
        write(loss.name, c.muted);
        write(loss.ticks.front().second, c.text);
        QLinearGradient scale(x, 0, x + space(6), 0);
        scale.setColorAt(0, colourOf(0));
        scale.setColorAt(1, colourOf(1));
        sample(scale, space(6), thick);
        write(loss.ticks.back().second, c.text);
        x += space(1);
    }
    if (lineOf(m_chosen) != nullptr) {
        sample(c.warning, space(1.5), kChosenWidth);
        write(tr("chosen run"), c.muted);
        x += space(1);
    }
    if (std::none_of(m_picture.lines.begin(), m_picture.lines.end(),
                     [](const SweepLine& line) { return line.loss && !line.is_over; }))
        return;
    QPen dashes(c.muted, 1.3);
    dashes.setDashPattern({5, 4});
    painter.setPen(dashes);
    painter.drawLine(QPointF(x, middle), QPointF(x + space(1.8), middle));
    x += space(2.3);
    write(tr("not finished"), c.muted);
}

/// Returns a line's colour for its place on the axis of the loss.
QColor ParallelPlot::colourOf(double place) const {
    const Colours c = coloursOf(this);
    return mixed(c.accent, c.muted, place);
}

void ParallelPlot::paintEvent(QPaintEvent*) {
    if (m_picture.axes.empty()) return;
    const Colours c = coloursOf(this);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(fontOf(Type::Small));
    painter.setBrush(Qt::NoBrush);
    for (const SweepLine& line : m_picture.lines) {
        if (line.dir == m_chosen || line.dir == m_hovered) continue;
        painter.setPen(QPen(passes(line) ? colourOf(line.places.back().value_or(1)) : c.grid, 1.3));
        drawLine(painter, line);
    }
    for (const QString& dir : {m_chosen, m_hovered}) {
        const SweepLine* line = lineOf(dir);
        if (line == nullptr) continue;
        painter.setPen(QPen(c.warning, dir == m_chosen ? kChosenWidth : 2));
        drawLine(painter, *line);
    }
    for (size_t axis = 0; axis < m_picture.axes.size(); ++axis) drawAxis(painter, axis);
    drawLegend(painter);
    if (m_brush) {
        painter.setPen(QPen(c.accent, 1));
        painter.drawRect(QRectF(QPointF(xOf(m_brush->axis) - kNear, std::min(m_brush->from, m_brush->to)),
                                QPointF(xOf(m_brush->axis) + kNear, std::max(m_brush->from, m_brush->to))));
    }
    if (!hasFocus()) return;
    painter.setPen(QPen(c.accent, 1));
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
}

void ParallelPlot::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (const auto axis = axisAt(event->position())) {
        m_axis = *axis;
        m_brush = {*axis, event->position().y(), event->position().y()};
    }
}

void ParallelPlot::mouseMoveEvent(QMouseEvent* event) {
    if (m_brush) {
        m_brush->to = event->position().y();
        update();
        return;
    }
    const SweepLine* line = lineAt(event->position());
    const QString hovered = line == nullptr ? QString() : line->dir;
    if (hovered == m_hovered) return;
    m_hovered = hovered;
    update();
}

void ParallelPlot::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    const auto brush = std::exchange(m_brush, std::nullopt);
    if (brush && std::abs(brush->to - brush->from) > kNear) {
        const auto [low, high] = std::minmax({placeAt(brush->from), placeAt(brush->to)});
        m_limits[brush->axis] = {low, high};
    } else if (brush && m_limits.erase(brush->axis) > 0) {  // a click on a limited axis removes its limit
    } else if (const SweepLine* line = lineAt(event->position())) {
        choose(line->dir);
        Q_EMIT runChosen(m_chosen);
    }
    describe();
    update();
}

void ParallelPlot::mouseDoubleClickEvent(QMouseEvent* event) {
    if (const SweepLine* line = lineAt(event->position())) Q_EMIT runOpened(line->dir);
}

void ParallelPlot::keyPressEvent(QKeyEvent* event) {
    const bool limits_axis = event->modifiers().testFlag(Qt::ShiftModifier);
    const size_t last = m_picture.axes.empty() ? 0 : m_picture.axes.size() - 1;
    switch (event->key()) {
        case Qt::Key_Up:
        case Qt::Key_Down: {
            const int by = event->key() == Qt::Key_Up ? 1 : -1;
            // The lowest loss is at the bottom of its axis, so Up moves to higher losses.
            return limits_axis ? stepLimit(by) : stepThrough(by);
        }
        case Qt::Key_Left:
        case Qt::Key_Right:
            m_axis = event->key() == Qt::Key_Left ? m_axis - std::min<size_t>(m_axis, 1)
                                                  : std::min(last, m_axis + 1);
            return update();
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (!m_chosen.isEmpty()) Q_EMIT runOpened(m_chosen);
            return;
        case Qt::Key_Escape:
            if (m_limits.empty()) break;
            m_limits.clear();
            describe();
            return update();
        default:
            break;
    }
    TipWidget::keyPressEvent(event);
}

void ParallelPlot::focusInEvent(QFocusEvent* event) {
    TipWidget::focusInEvent(event);
    update();
}

void ParallelPlot::leaveEvent(QEvent* event) {
    TipWidget::leaveEvent(event);
    m_hovered.clear();
    update();
}

QString ParallelPlot::tipAt(const QPoint& at) const {
    const SweepLine* line = lineAt(at);
    return line == nullptr ? QString() : wordsOf(*line);
}

}  // namespace ringmaster
