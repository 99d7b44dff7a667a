/// Draws a chart's series into a picture with QtCharts. Points are laid out here, in pixels, and the axes of
/// the QChart never change: a new range would make the QChart lay out every series again.
#pragma once

#include <QList>
#include <QPixmap>
#include <QPointF>
#include <QSizeF>
#include <memory>

#include "gui/charts/chart_data.h"

class QPainter;

namespace ringmaster {

/// Maps data to pixels of the plot's area, and back.
struct Mapping {
    Extent x, y;
    bool logY = false;
    QSizeF size;

    double toX(double value) const;
    double toY(double value) const;  ///< on a logarithmic axis, values of 0 or below lie at the bottom
    double fromX(double pixel) const;
};

/// Draws the points whose centres lie in the plot's area, including the part of a point that extends beyond
/// the edge. `origin` is the area's upper left corner.
void drawPoints(QPainter& painter, const QPointF& origin, const ChartData& data, const Mapping& mapping,
                const Colours& colours);

class SeriesCanvas {
  public:
    SeriesCanvas();
    ~SeriesCanvas();

    /// Returns a picture of all series that are not drawn as points, with a transparent background.
    QPixmap draw(const ChartData& data, const Mapping& mapping, const Colours& colours, double pixelRatio);

  private:
    struct Scene;
    std::unique_ptr<Scene> m_scene;
};

}  // namespace ringmaster
