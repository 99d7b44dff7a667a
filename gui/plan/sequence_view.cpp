#include "gui/plan/sequence_view.h"

#include <QLocale>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/error.h"
#include "engine/plan/time/step_time.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr size_t kNamedRanks = 8;     // maximum number of ranks that get their own bar
constexpr int64_t kStripesShown = 4;  // rounds of a striped layout that are drawn; more would blur

}  // namespace

SequenceView::SequenceView(QWidget* parent) : TipWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setMinimumWidth(space(8));
    setAccessibleName(tr("Who holds which tokens"));
    setAccessibleDescription(tr("Nothing is planned yet"));
}

void SequenceView::setPlan(const Plan& plan) {
    m_layout = {};
    m_work.clear();
    m_imbalance = 1;
    m_why_not.clear();
    if (plan.sequence.padded_length <= 0) {
        m_why_not = plan.ok() ? tr("The length of a sequence is not known.")
                              : tr("Not known until the problems above are solved.");
    } else {
        try {
            m_layout = make_layout(plan.context_parallel.layout, plan.sequence.padded_length, plan.mesh.ring,
                                   plan.mesh.ulysses, {}, plan.sequence.chunks);
            const std::vector<int64_t> cells = work_of_ranks(plan);
            const double most = double(std::max<int64_t>(1, *std::max_element(cells.begin(), cells.end())));
            for (const int64_t of_rank : cells) m_work.push_back(double(of_rank) / most);
            m_imbalance = double(m_work.size()) / std::accumulate(m_work.begin(), m_work.end(), 0.0);
        } catch (const Error&) {
            m_why_not = tr("Where the tokens lie depends on the documents of each row.");
        }
    }
    const bool striped =
        !m_layout.ranks.empty() && !m_layout.ranks[0].empty() && m_layout.ranks[0][0].step > 1;
    m_shown =
        striped ? std::min(m_layout.tokens, kStripesShown * int64_t(m_layout.ranks.size())) : m_layout.tokens;
    QStringList words;
    for (size_t rank = 0; rank < std::min(m_work.size(), size_t(16)); ++rank)
        words << tr("rank %1: %2 of the busiest rank's attention work")
                     .arg(rank)
                     .arg(show::number(std::round(m_work[rank] * 100) / 100));
    setAccessibleDescription(m_why_not.isEmpty() ? show::clauses(words) : m_why_not);
    updateGeometry();
    update();
}

double SequenceView::chunksHeight() const {
    return space(1.5);
}

QSize SequenceView::sizeHint() const {
    if (m_layout.ranks.empty()) return {space(12), space(1.6)};
    const size_t ranks = m_layout.ranks.size();
    if (ranks == 1) return {space(12), int(chunksHeight())};
    const double work = ranks <= kNamedRanks ? double(ranks) * space(0.95) : space(3.4);
    return {space(12), int(chunksHeight() + space(1.4) + work)};
}

int SequenceView::rankAt(int64_t position) const {
    for (size_t rank = 0; rank < m_layout.ranks.size(); ++rank) {
        for (const Span& span : m_layout.ranks[rank]) {
            if (position >= span.begin && position < span.end && (position - span.begin) % span.step == 0)
                return int(rank);
        }
    }
    return 0;
}

void SequenceView::paintChunks(QPainter& painter, const QRectF& box) const {
    const Colours c = coloursOf(this);
    QPainterPath shape;
    shape.addRoundedRect(box, space(0.25), space(0.25));
    painter.save();
    painter.setClipPath(shape);
    painter.fillRect(box, c.sunken);
    const double scale = box.width() / double(std::max<int64_t>(1, m_shown));
    QFont numbers = fontOf(Type::Small);
    numbers.setWeight(QFont::DemiBold);
    painter.setFont(numbers);
    const auto piece = [&](int rank, int64_t begin, int64_t end) {
        const QRectF part(box.left() + double(begin) * scale, box.top(), double(end - begin) * scale,
                          box.height());
        const QColor fill = rankColour(rank, c);
        painter.fillRect(part, fill);
        if (part.width() > 3) {
            painter.setPen(QPen(c.card, 1));
            painter.drawLine(part.topLeft(), part.bottomLeft());
        }
        if (part.width() < space(1.2)) return;
        painter.setPen(inkOn(fill));
        const bool alone = m_layout.ranks.size() == 1;
        painter.drawText(part, int(Qt::AlignCenter),
                         alone ? tr("every rank holds whole sequences") : QString::number(rank));
    };
    for (size_t rank = 0; rank < m_layout.ranks.size(); ++rank) {
        for (const Span& span : m_layout.ranks[rank]) {
            if (span.step == 1) {
                piece(int(rank), span.begin, std::min(span.end, m_shown));
            } else {
                for (int64_t at = span.begin; at < std::min(span.end, m_shown); at += span.step)
                    piece(int(rank), at, at + 1);
            }
        }
    }
    painter.restore();
}

void SequenceView::paintWork(QPainter& painter, const QRectF& box) const {
    const Colours c = coloursOf(this);
    const size_t ranks = m_work.size();
    painter.setFont(fontOf(Type::Small));
    const QFontMetricsF metrics(painter.font());
    painter.setPen(c.muted);
    painter.drawText(QPointF(box.left(), box.top() + metrics.ascent()), tr("attention work of each rank"));
    const QRectF inner = box.adjusted(0, space(1.2), 0, 0);
    painter.setPen(Qt::NoPen);
    if (ranks <= kNamedRanks) {
        const double line = space(0.95),
                     name = metrics.horizontalAdvance(tr("rank %1").arg(ranks)) + space(0.5),
                     figure = metrics.horizontalAdvance(u"0.00"_s) + space(0.6);
        for (size_t rank = 0; rank < ranks; ++rank) {
            const double y = inner.top() + double(rank) * line;
            painter.setPen(c.muted);
            painter.drawText(QRectF(inner.left(), y, name, line), int(Qt::AlignLeft | Qt::AlignVCenter),
                             tr("rank %1").arg(rank));
            painter.setPen(c.text);
            painter.drawText(QRectF(inner.right() - figure, y, figure, line),
                             int(Qt::AlignRight | Qt::AlignVCenter),
                             QLocale().toString(m_work[rank], 'f', 2));
            painter.setPen(Qt::NoPen);
            painter.setBrush(rankColour(int(rank), c));
            const QRectF bar(inner.left() + name, y + line * 0.28,
                             (inner.width() - name - figure) * m_work[rank], line * 0.44);
            painter.drawRoundedRect(bar, bar.height() / 2, bar.height() / 2);
        }
        return;
    }
    const double step = inner.width() / double(ranks), gap = step > 5 ? step * 0.2 : 0;
    for (size_t rank = 0; rank < ranks; ++rank) {
        painter.setBrush(rankColour(int(rank), c));
        const double high = inner.height() * m_work[rank];
        painter.drawRect(QRectF(inner.left() + double(rank) * step, inner.bottom() - high, step - gap, high));
    }
}

void SequenceView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (m_layout.ranks.empty()) return;
    const QRectF box(0, 0, width(), chunksHeight());
    paintChunks(painter, box);
    if (m_work.size() > 1) paintWork(painter, QRectF(rect()).adjusted(0, chunksHeight() + space(0.3), 0, 0));
}

QString SequenceView::tipAt(const QPoint& at) const {
    if (m_layout.ranks.empty() || at.y() > chunksHeight()) return {};
    const int64_t position =
        std::clamp<int64_t>(int64_t(double(m_shown) * at.x() / std::max(1, width())), 0, m_shown - 1);
    const int rank = rankAt(position);
    return tr("token %1: rank %2, which holds %3 tokens")
        .arg(show::count(position))
        .arg(rank)
        .arg(show::count(m_layout.tokens_of(rank)));
}

}  // namespace ringmaster
