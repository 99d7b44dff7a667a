/// Curves of compared runs as a chart takes them: each reduced to about the chart's width in pixels, with the
/// spread of the steps that one point stands for.
#pragma once

#include "gui/charts/chart_data.h"
#include "launcher/compare.h"

namespace ringmaster {

enum class CurveKind { Loss, TokensPerSecond, Overhead, GradNorm };

/// Runs by name; their colours go by their place in the comparison.
ChartData chartOf(const Comparison& comparison, CurveKind kind, Along along, int width, bool logarithmic);

ColourOf colourOfRun(size_t index);

}  // namespace ringmaster
