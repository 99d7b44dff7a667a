/// Makes charts of compared runs: reduces each curve to about as many points as the chart has pixels. Each
/// point also has the range of the values that it replaces.
#pragma once

#include "gui/charts/chart_data.h"
#include "launcher/history/compare.h"

namespace ringmaster {

enum class CurveKind { Loss, TokensPerSecond, Overhead, GradNorm, Reward, ClipShare, SamplerGap };

/// Returns the chart. Series are named after runs; colours follow the order of the comparison. All charts
/// mark the alerts of the runs.
ChartData chartOf(const Comparison& comparison, CurveKind kind, Along along, int width, bool logarithmic);

/// Returns true if any of the runs has these figures; only some runs have rewards, clipped ratios, or a
/// server that samples.
bool hasCurve(const Comparison& comparison, CurveKind kind);

ColourOf colourOfRun(size_t index);

}  // namespace ringmaster
