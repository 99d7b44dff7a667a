#include "gui/data/length_chart.h"

#include <QPainter>
#include <algorithm>

#include "gui/look/look.h"
#include "gui/look/numbers.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

LengthChart::LengthChart(QWidget* parent) : TipWidget(parent) {
    setObjectName(u"lengthChart"_s);
    setAccessibleName(tr("Lengths of the rows"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void LengthChart::setLengths(const std::vector<LengthBin>& bins, int64_t sequence_len) {
    m_bins = bins;
    m_sequence_len = sequence_len;
    QStringList words;
    for (const LengthBin& bin : m_bins)
        if (bin.rows > 0)
            words << tr("%1 rows up to %2 tokens").arg(show::count(bin.rows), show::count(bin.to));
    setAccessibleDescription(show::listed(words));
    update();
}

QSize LengthChart::sizeHint() const {
    return {space(18), space(5.5)};
}

QRectF LengthChart::plot() const {
    const double foot = QFontMetricsF(fontOf(Type::Small)).height() + space(0.2);
    return QRectF(0, space(0.2), width(), height() - foot - space(0.2));
}

void LengthChart::paintEvent(QPaintEvent*) {
    if (m_bins.empty()) return;
    const Colours c = coloursOf(this);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF area = plot();
    int64_t most = 1;
    for (const LengthBin& bin : m_bins) most = std::max(most, bin.rows);
    const double each = area.width() / double(m_bins.size());
    for (size_t at = 0; at < m_bins.size(); ++at) {
        const double height =
            m_bins[at].rows == 0 ? 0 : std::max(2.0, area.height() * double(m_bins[at].rows) / double(most));
        painter.fillRect(
            QRectF(double(at) * each + 0.5, area.bottom() - height, std::max(1.0, each - 1), height),
            timeColour(TimePart::Compute, c));
    }
    painter.setPen(QPen(c.grid, 1));
    painter.drawLine(area.bottomLeft(), area.bottomRight());
    const double last = double(m_bins.back().to),
                 limit = area.width() * double(m_sequence_len) / std::max(1.0, last);
    painter.setPen(QPen(c.text, 1.5, Qt::DashLine));
    painter.drawLine(QPointF(std::min(limit, area.right() - 1), area.top()),
                     QPointF(std::min(limit, area.right() - 1), area.bottom()));
    painter.setFont(fontOf(Type::Small));
    painter.setPen(c.muted);
    const QRectF foot(0, area.bottom(), width(), height() - area.bottom());
    painter.drawText(foot, Qt::AlignLeft | Qt::AlignBottom, tr("1 token"));
    painter.drawText(foot, Qt::AlignRight | Qt::AlignBottom,
                     u"sequence_len "_s + show::count(m_sequence_len));
}

QString LengthChart::tipAt(const QPoint& at) const {
    if (m_bins.empty()) return {};
    const auto found = size_t(std::clamp(double(at.x()) / width(), 0.0, 0.999) * double(m_bins.size()));
    const LengthBin& bin = m_bins[found];
    return tr("%1 rows of %2 to %3 tokens")
        .arg(show::count(bin.rows), show::count(bin.from + 1), show::count(bin.to));
}

}  // namespace ringmaster
