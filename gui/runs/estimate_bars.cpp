#include "gui/runs/estimate_bars.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/look/look.h"
#include "gui/look/numbers.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

QString bytesForm(double bytes) {
    return ringmaster::show::bytes(int64_t(std::llround(bytes)));
}

template <class T>
std::optional<double> real(const std::optional<T>& value) {
    return value ? std::optional(double(*value)) : std::nullopt;
}

}  // namespace

EstimateBars::EstimateBars(QWidget* parent) : QWidget(parent) {
    setAccessibleName(tr("Estimate beside measurement"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void EstimateBars::show(const RunRow& row) {
    const auto& plan = row.planned;
    const auto& measured = row.measured;
    m_pairs = {{tr("Tensors of the fullest rank"), real(plan.memory_bytes), real(measured.peak_memory_bytes),
                real(plan.memory_low_bytes), real(plan.memory_high_bytes), bytesForm},
               {tr("Step time"), plan.step_s, measured.step_s, {}, {}, ringmaster::show::duration},
               {tr("Exposed communication"),
                plan.overhead,
                measured.overhead,
                {},
                {},
                ringmaster::show::percent,
                true}};
    std::erase_if(m_pairs, [](const Pair& pair) { return !pair.estimated && !pair.measured; });
    QStringList words;
    for (const Pair& pair : m_pairs) words << pair.title + u": "_s + judgement(pair);
    setAccessibleDescription(words.join(u". "_s));
    setVisible(!m_pairs.empty());
    updateGeometry();
    update();
}

QString EstimateBars::judgement(const Pair& pair) const {
    if (!pair.measured) return tr("not measured yet");
    if (!pair.estimated) return tr("not estimated");
    // If both figures read the same, their difference is too small to report.
    if (pair.form(*pair.measured) == pair.form(*pair.estimated)) return tr("as estimated");
    const double ratio = *pair.measured / *pair.estimated;
    if (pair.is_share && std::isfinite(*pair.measured - *pair.estimated)) {
        const QString off = ringmaster::show::points(*pair.estimated, *pair.measured);
        //: of two shares; %1 is a number of percentage points
        return *pair.measured < *pair.estimated ? tr("%1 points below the estimate").arg(off)
                                                //: of two shares; %1 is a number of percentage points
                                                : tr("%1 points above the estimate").arg(off);
    }
    if (!std::isfinite(ratio)) return {};
    if (ratio >= 3)
        return tr("%1 times the estimate")
            .arg(ratio < 10 ? ringmaster::show::number(ratio, 2)
                            : ringmaster::show::count(std::llround(std::min(ratio, 1e9))));
    if (ratio <= 0.3) return tr("%1 of the estimate").arg(ringmaster::show::percent(ratio));
    //: %1 is a share such as 7 %
    return ratio < 1 ? tr("%1 below the estimate").arg(ringmaster::show::percent(1 - ratio))
                     //: %1 is a share such as 7 %
                     : tr("%1 above the estimate").arg(ringmaster::show::percent(ratio - 1));
}

double EstimateBars::barHeight() {
    return std::max<double>(space(0.85), lineHeight(fontOf(Type::Small)));
}

double EstimateBars::pairHeight() const {
    return lineHeight(font()) + 2 * barHeight() + space(0.7);
}

QSize EstimateBars::sizeHint() const {
    return {space(20), int(std::ceil(double(m_pairs.size()) * pairHeight()))};
}

QSize EstimateBars::minimumSizeHint() const {
    return {space(12), sizeHint().height()};
}

/// Returns the width of the widest figure and a gap before it, so that the full length of a bar is the same
/// in all rows.
double EstimateBars::figureWidth() const {
    const QFontMetricsF metrics(fontOf(Type::Small));
    double widest = metrics.horizontalAdvance(ringmaster::show::unknown());
    for (const Pair& pair : m_pairs) {
        for (const auto& value : pair.values()) {
            if (value) widest = std::max(widest, metrics.horizontalAdvance(pair.form(*value)));
        }
    }
    return widest + space(0.5);
}

double EstimateBars::paintPair(QPainter& painter, const Pair& pair, double top) const {
    const Colours c = coloursOf(this);
    const QFontMetricsF metrics(font());
    painter.setFont(font());
    painter.setPen(c.text);
    const QString verdict = judgement(pair);
    const double verdictWidth = metrics.horizontalAdvance(verdict);
    painter.drawText(QPointF(0, top + metrics.ascent()),
                     metrics.elidedText(pair.title, Qt::ElideRight, width() - verdictWidth - space(0.6)));
    painter.setPen(c.muted);
    painter.drawText(QPointF(width() - verdictWidth, top + metrics.ascent()), verdict);
    top += lineHeight(font()) + space(0.1);

    const QFont small = fontOf(Type::Small);
    const QFontMetricsF smallMetrics(small);
    const QString words[] = {tr("estimated"), tr("measured")};
    const std::optional<double> values[] = {pair.estimated, pair.measured};
    const double caption =
        std::max(smallMetrics.horizontalAdvance(words[0]), smallMetrics.horizontalAdvance(words[1])) +
        space(0.5);
    const double figure = figureWidth();
    double most = 0;
    for (const auto& value : pair.values()) {
        if (value && std::isfinite(*value)) most = std::max(most, *value);
    }
    const double room = std::max(1.0, width() - caption - figure), thick = space(0.5), line = barHeight();
    painter.setFont(small);
    for (int which = 0; which < 2; ++which) {
        const double middle = top + line * (which + 0.5);
        painter.setPen(c.muted);
        painter.drawText(QRectF(0, middle - line / 2, caption, line), Qt::AlignVCenter | Qt::AlignLeft,
                         words[which]);
        const double share = values[which] && most > 0 ? std::clamp(*values[which] / most, 0.0, 1.0) : 0;
        const QRectF bar(caption, middle - thick / 2, room * share, thick);
        painter.setPen(Qt::NoPen);
        painter.setBrush(c.sunken);
        painter.drawRoundedRect(QRectF(caption, middle - thick / 2, room, thick), thick / 4, thick / 4);
        painter.setBrush(which == 0 ? mixed(c.card, c.text, 0.35) : timeColour(TimePart::Compute, c));
        if (share > 0) painter.drawRoundedRect(bar, thick / 4, thick / 4);
        if (which == 0 && pair.low && pair.high && most > 0) {  // draws the estimate's range as a bracket
            painter.setPen(QPen(c.text, 1));
            const double low = caption + room * *pair.low / most, high = caption + room * *pair.high / most;
            painter.drawLine(QPointF(low, middle), QPointF(high, middle));
            for (double x : {low, high})
                painter.drawLine(QPointF(x, middle - thick * 0.35), QPointF(x, middle + thick * 0.35));
        }
        painter.setPen(c.text);
        painter.drawText(QRectF(caption + room, middle - line / 2, figure, line),
                         Qt::AlignVCenter | Qt::AlignRight,
                         values[which] ? pair.form(*values[which]) : ringmaster::show::unknown());
    }
    return top + 2 * line + space(0.6);
}

void EstimateBars::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    double top = 0;
    for (const Pair& pair : m_pairs) top = paintPair(painter, pair, top);
}

}  // namespace ringmaster
