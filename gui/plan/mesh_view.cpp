#include "gui/plan/mesh_view.h"

#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "gui/look/look.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

MeshView::MeshView(QWidget* parent) : TipWidget(parent) {
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setMinimumWidth(space(8));
    setAccessibleName(tr("Mesh"));
    describe();
}

void MeshView::setMesh(const Mesh& mesh, int nodes) {
    m_mesh = mesh;
    m_nodes = mesh.ranks() % std::max(1, nodes) == 0 ? std::max(1, nodes) : 1;
    describe();
    updateGeometry();
    update();
}

bool MeshView::ringsCrossNodes() const {
    return (m_mesh.ranks() / m_nodes) % m_mesh.context_parallel_size() != 0;
}

void MeshView::describe() {
    const QString groups =
        tr("%n group(s) of ranks that share a sequence", nullptr, m_mesh.data_parallel_size());
    setAccessibleDescription(tr("%1 ranks on %2 nodes: %3, %4 ranks each")
                                 .arg(m_mesh.ranks())
                                 .arg(m_nodes)
                                 .arg(groups)
                                 .arg(m_mesh.context_parallel_size()));
}

QSize MeshView::sizeHint() const {
    const int wide = std::max(space(14), width());
    return {space(14), heightForWidth(wide)};
}

/// Returns the room below a row of ranks for the links that close its rings.
double MeshView::loopOf(const Places& p) const {
    return m_mesh.context_parallel_size() > 2 && p.cell > space(1.2) ? space(0.65) : 0;
}

MeshView::Places MeshView::placesWith(int room, double cell, int ranks_of_cell) const {
    Places p;
    const int of_node = m_mesh.ranks() / m_nodes;
    p.ranks_of_cell = std::min(ranks_of_cell, of_node);
    p.cells_of_node = (of_node + p.ranks_of_cell - 1) / p.ranks_of_cell;
    p.cell = cell;
    p.gap = cell > space(1.2) ? cell * 0.28 : std::max(1.0, cell * 0.14);
    p.node_gap = space(m_nodes > 16 ? 0.4 : 0.9);
    const double step = p.cell + p.gap;
    const int most = std::max(1, int((room + p.gap) / step));
    const int wanted = p.cells_of_node <= 8 ? p.cells_of_node : m_nodes == 1 ? 32 : 8;
    p.columns = std::clamp(wanted, 1, std::min(most, p.cells_of_node));
    const int rows = (p.cells_of_node + p.columns - 1) / p.columns;
    const double loop = loopOf(p), link = loop > 0 ? space(0.45) : 0;
    p.node_width = p.columns * step - p.gap;
    const QFontMetricsF small(fontOf(Type::Small));
    const bool is_named = m_nodes > 1 && small.horizontalAdvance(QString::number(m_nodes - 1)) < p.node_width;
    p.label = is_named ? space(1.05) : 0;
    p.node_height = p.label + rows * (step + loop) - p.gap - loop + link;
    p.nodes_in_row = std::clamp(int((room + p.node_gap) / (p.node_width + p.node_gap)), 1, m_nodes);
    const int node_rows = (m_nodes + p.nodes_in_row - 1) / p.nodes_in_row;
    p.height = int(std::ceil(node_rows * (p.node_height + p.node_gap * 0.7) - p.node_gap * 0.7));
    return p;
}

/// Returns the layout with the largest squares that stays low enough. If even the smallest squares are too
/// many, one square stands for several ranks.
MeshView::Places MeshView::layoutFor(int room) const {
    const int highest = space(10);
    for (double ems : {1.9, 1.6, 1.35, 1.1, 0.85, 0.62, 0.45}) {
        Places p = placesWith(room, space(ems), 1);
        if (p.height <= highest && p.node_width <= room) return p;
    }
    for (int of_cell = 2; of_cell < m_mesh.ranks(); of_cell *= 2) {
        Places p = placesWith(room, space(0.45), of_cell);
        if (p.height <= highest * 1.3) return p;
    }
    return placesWith(room, space(0.45), m_mesh.ranks());
}

QRectF MeshView::nodeBox(const Places& p, int node) const {
    const int row = node / p.nodes_in_row, column = node % p.nodes_in_row;
    return {column * (p.node_width + p.node_gap), row * (p.node_height + p.node_gap * 0.7), p.node_width,
            p.node_height};
}

QRectF MeshView::cellBox(const Places& p, int node, int cell) const {
    const QRectF box = nodeBox(p, node);
    const double loop = loopOf(p);
    const int row = cell / p.columns, column = cell % p.columns;
    return {box.left() + column * (p.cell + p.gap), box.top() + p.label + row * (p.cell + p.gap + loop),
            p.cell, p.cell};
}

/// Returns the group's colour, mixed with more of the card's colour for each later rank of the group.
QColor MeshView::colourOf(int rank) const {
    const Colours c = coloursOf(this);
    const int size = m_mesh.context_parallel_size();
    const double share = size > 1 ? double(m_mesh.context_rank(rank)) / double(size - 1) : 0;
    return mixed(rankColour(m_mesh.data_rank(rank), c), c.card, 0.45 * share);
}

void MeshView::paintLinks(QPainter& painter, const Places& p) const {
    const int size = m_mesh.context_parallel_size();
    if (size == 1 || p.ranks_of_cell > 1 || p.cell <= space(1.2)) return;
    const int of_node = m_mesh.ranks() / m_nodes;
    const auto box_of = [&](int rank) { return cellBox(p, rank / of_node, rank % of_node); };
    const Colours c = coloursOf(this);
    painter.setPen(QPen(c.faint, 1.6));
    painter.setBrush(Qt::NoBrush);
    for (int rank = 0; rank + 1 < m_mesh.ranks(); ++rank) {
        if (m_mesh.data_rank(rank) != m_mesh.data_rank(rank + 1)) continue;
        const QRectF a = box_of(rank), b = box_of(rank + 1);
        if (std::abs(a.top() - b.top()) < 1)
            painter.drawLine(QPointF(a.right(), a.center().y()), QPointF(b.left(), b.center().y()));
    }
    if (size == 2) return;
    for (int first = 0; first < m_mesh.ranks(); first += size) {
        const QRectF a = box_of(first), b = box_of(first + size - 1);
        if (std::abs(a.top() - b.top()) >= 1) continue;  // several rows: the closing link would cross them
        const double below = a.bottom() + space(0.35), turn = space(0.3);
        QPainterPath way(QPointF(a.center().x(), a.bottom()));
        way.lineTo(a.center().x(), below - turn);
        way.quadTo(a.center().x(), below, a.center().x() + turn, below);
        way.lineTo(b.center().x() - turn, below);
        way.quadTo(b.center().x(), below, b.center().x(), below - turn);
        way.lineTo(b.center().x(), b.bottom());
        painter.drawPath(way);
    }
}

void MeshView::paintEvent(QPaintEvent*) {
    const Colours c = coloursOf(this);
    const Places p = layoutFor(width());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    paintLinks(painter, p);
    const int of_node = m_mesh.ranks() / m_nodes;
    QFont numbers = fontOf(Type::Section);
    if (p.cell < space(1.5)) numbers.setPointSizeF(numbers.pointSizeF() * 0.72);
    const bool numbered =
        p.ranks_of_cell == 1 && p.cell >= space(1.05) &&
        QFontMetricsF(numbers).horizontalAdvance(QString::number(m_mesh.ranks() - 1)) < p.cell - space(0.12);
    for (int node = 0; node < m_nodes; ++node) {
        if (p.label > 0) {
            painter.setPen(c.muted);
            painter.setFont(fontOf(Type::Small));
            const QString name = tr("node %1").arg(node);
            const QFontMetricsF metrics(painter.font());
            const bool fits = metrics.horizontalAdvance(name) <= p.node_width;
            painter.drawText(nodeBox(p, node).topLeft() + QPointF(0, metrics.ascent()),
                             fits ? name : QString::number(node));
        }
        for (int cell = 0; cell < p.cells_of_node; ++cell) {
            const int rank = node * of_node + cell * p.ranks_of_cell;
            const QRectF box = cellBox(p, node, cell);
            const QColor fill = colourOf(rank);
            painter.setPen(Qt::NoPen);
            painter.setBrush(fill);
            const double radius = p.cell * 0.16;
            painter.drawRoundedRect(box, radius, radius);
            if (!numbered) continue;
            painter.setFont(numbers);
            painter.setPen(inkOn(fill));
            painter.drawText(box, int(Qt::AlignCenter), QString::number(rank));
        }
    }
}

QString MeshView::tipAt(const QPoint& at) const {
    const Places p = layoutFor(width());
    const int of_node = m_mesh.ranks() / m_nodes;
    for (int node = 0; node < m_nodes; ++node) {
        if (!nodeBox(p, node).contains(at)) continue;
        for (int cell = 0; cell < p.cells_of_node; ++cell) {
            if (!cellBox(p, node, cell).contains(at)) continue;
            const int rank = node * of_node + cell * p.ranks_of_cell;
            const MeshCoordinates place = m_mesh.coordinates(rank);
            const QString who = p.ranks_of_cell == 1
                                    ? tr("rank %1").arg(rank)
                                    : tr("ranks %1 to %2").arg(rank).arg(rank + p.ranks_of_cell - 1);
            return tr("%1 on node %2: dp_replicate %3, dp_shard %4, ring %5, ulysses %6")
                .arg(who)
                .arg(node)
                .arg(place.dp_replicate)
                .arg(place.dp_shard)
                .arg(place.ring)
                .arg(place.ulysses);
        }
    }
    return {};
}

}  // namespace ringmaster
