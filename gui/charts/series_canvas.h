/// Draws a chart's series into a picture with QtCharts. Points are laid out here, in pixels, and the axes of
/// the QChart stay as they are: setting a range would make it lay out every series again.
#pragma once

#include <QList>
#include <QPixmap>
#include <QPointF>
#include <QSizeF>
#include <memory>

#include "gui/charts/chart_data.h"

namespace ringmaster {

/// From data to pixels of the plot's area, and back.
struct Mapping {
    Extent x, y;
    bool logY = false;
    QSizeF size;

    double toX(double value) const;
    double toY(double value) const;  ///< a figure that a logarithmic axis cannot show lies at its foot
    double fromX(double pixel) const;
};

class SeriesCanvas {
  public:
    SeriesCanvas();
    ~SeriesCanvas();

    /// Transparent where there is nothing.
    QPixmap draw(const ChartData& data, const Mapping& mapping, const Colours& colours, double pixelRatio);

  private:
    struct Scene;
    std::unique_ptr<Scene> m_scene;
};

}  // namespace ringmaster
