/// Turns run_picture.h's reduced curves into the Monitor's ChartData, with names and colours.
#pragma once

#include <QString>

#include "gui/charts/chart_data.h"
#include "gui/charts/heat_map.h"
#include "gui/monitor/run_picture.h"

namespace ringmaster {

QString chartTitle(ChartKind kind);
QString chartSubtitle(ChartKind kind, const RunPicture& picture);
QString chartName(ChartKind kind);  ///< name of the chart's widget, such as "lossChart"

/// Returns the data of any chart except ChartKind::Heat.
ChartData chartOf(ChartKind kind, const RunPicture& picture, bool logY);
HeatData heatOf(const RunPicture& picture);

/// Returns the measures in a chart's CSV file, which has every step of every rank.
std::vector<Measure> measuresOf(ChartKind kind);

/// Returns the steps whose x lies in [low, high] on the axis that the charts show.
StepRange stepsBetween(const RunCharts& charts, double low, double high);

}  // namespace ringmaster
