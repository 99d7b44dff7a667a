/// Draws the mesh: nodes, the ranks in them coloured by the group that shares a sequence, and links between
/// neighbours in a ring.
#pragma once

#include "engine/layout/mesh.h"
#include "gui/look/tip_widget.h"

namespace ringmaster {

class MeshView : public TipWidget {
    Q_OBJECT

  public:
    explicit MeshView(QWidget* parent = nullptr);

    void setMesh(const Mesh& mesh, int nodes);
    bool ringsCrossNodes() const;
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override { return layoutFor(width).height; }
    QSize sizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;
    QString tipAt(const QPoint& at) const override;

  private:
    /// Gives sizes in pixels; a cell stands for `ranks_of_cell` ranks if there are too many to draw.
    struct Places {
        int ranks_of_cell = 1;
        int cells_of_node = 1;
        int columns = 1;  ///< cells side by side in a node
        int nodes_in_row = 1;
        double cell = 0, gap = 0;
        double node_width = 0, node_height = 0, label = 0, node_gap = 0;
        int height = 0;
    };
    Places layoutFor(int width) const;
    Places placesWith(int width, double cell, int ranks_of_cell) const;
    double loopOf(const Places& places) const;
    QRectF nodeBox(const Places& places, int node) const;
    QRectF cellBox(const Places& places, int node, int cell) const;
    QColor colourOf(int rank) const;
    void paintLinks(QPainter& painter, const Places& places) const;
    void describe();

    Mesh m_mesh;
    int m_nodes = 1;
};

}  // namespace ringmaster
