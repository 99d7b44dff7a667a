/// The Monitor's charts as ChartData: names and colours for what run_picture.h has reduced.
#pragma once

#include <QString>

#include "gui/charts/chart_data.h"
#include "gui/charts/heat_map.h"
#include "gui/monitor/run_picture.h"

namespace ringmaster {

QString chartTitle(ChartKind kind);
QString chartSubtitle(ChartKind kind, const RunPicture& picture);
QString chartName(ChartKind kind);  ///< objectName: "lossChart"

/// Not for ChartKind::Heat.
ChartData chartOf(ChartKind kind, const RunPicture& picture, bool logY);
HeatData heatOf(const RunPicture& picture);

/// What a CSV of the chart holds, every step of every rank.
std::vector<Measure> measuresOf(ChartKind kind);

/// The steps that lie in [low, high] of the axis as it is shown.
StepRange stepsBetween(const RunCharts& charts, double low, double high);

}  // namespace ringmaster
