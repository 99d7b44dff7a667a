/// Holds everything that the Monitor shows about a run at one moment. It is made off the GUI thread and does
/// not use Qt. The charts are reduced to the requested number of pixels.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/plan.h"
#include "launcher/history/curves.h"
#include "launcher/history/diagnosis.h"
#include "launcher/history/history.h"

namespace ringmaster {

enum class ChartKind {
    Loss,
    StepTime,
    Exposed,
    Memory,
    Heat,
    Throughput,
    Overlap,
    GradNorm,
    LearningRate,
    // From here on, the charts show figures that only some runs report (Measure::RouterLoss and those after
    // it).
    Rewards,
    RewardShares,
    CompletionLength,
    Divergence,
    LossParts,
    SamplerGap,
};
constexpr int kChartKinds = 15;
constexpr ChartKind kFirstOptional = ChartKind::Rewards;
constexpr unsigned kAllCharts = (1U << kChartKinds) - 1;
constexpr unsigned bit(ChartKind kind) {
    return 1U << static_cast<unsigned>(kind);
}

/// Maximum number of lines in a chart. For more ranks, the chart shows a band and the ranks farthest from the
/// median.
constexpr size_t kMostLines = 16;

/// Says which charts the page wants, over which steps, and how wide.
struct ChartRequest {
    std::optional<StepRange> range;  ///< steps to show; empty: all
    int64_t tail = 0;                ///< above 0: shows only this many steps, the last ones
    int width = 600;                 ///< width of a chart in pixels
    int heat_columns = 160;
    double smoothing = 0;
    XAxis axis = XAxis::Step;
    int chosen_rank = -1;
    unsigned charts = kAllCharts;

    bool operator==(const ChartRequest&) const = default;
};

/// Holds one measure of all ranks: a curve each, or, for many ranks, their spread and a few curves.
struct RankCurves {
    std::vector<int> ranks;
    std::vector<Curve> curves;
    std::vector<std::vector<float>> smooth;  ///< one per curve; empty without smoothing
    std::optional<Spread> spread;            ///< set if there are more than kMostLines ranks
    std::vector<float> smooth_median;
};

/// Holds a figure that is the same on all ranks and that only some runs have.
struct OptionalCurve {
    Curve curve;
    std::vector<float> smooth;  ///< empty without smoothing
};

/// Describes a moment that all charts mark: a checkpoint, the start of a later attempt, or an alert.
struct ChartMoment {
    double x = 0;  ///< position on the axis that the request names
    int64_t step = 0;
    int attempt = 0;                  ///< attempt that starts here; 0: a checkpoint or an alert
    int ranks = 0, ranks_before = 0;  ///< number of ranks in this attempt and in the previous one
    std::optional<Alert> alert = {};
};

struct RunCharts {
    ChartRequest request;
    StepRange range;
    std::vector<double> x;  ///< one per column, on the axis that the request names
    bool bridge_gaps = false;

    Curve loss, grad_norm, lr;  ///< equal on all ranks
    std::vector<float> loss_smooth, grad_norm_smooth;
    RankCurves rank_loss, exposed, overlap, memory;
    Curve throughput;
    std::vector<float> throughput_smooth;
    std::vector<float> data_s, compute_s, exposed_s, other_s;  ///< chosen rank's values, or medians over all
    std::vector<std::pair<double, double>> evaluations;        ///< pairs of x and loss
    std::vector<double> heat_x;
    std::vector<std::vector<float>> heat;
    std::vector<float> heat_median;
    std::map<Measure, OptionalCurve> optional;  ///< curves of the optional charts that are asked for
    std::vector<std::string> functions;         ///< names of the reward functions
    std::vector<ChartMoment> marks;
};

struct RankRow {
    int rank = 0;
    std::string host, device;
    Mesh mesh;              ///< a mesh of one rank if the plan is not known
    MeshCoordinates place;  ///< coordinates in the mesh
    int zero_stage = 0;
    std::optional<int64_t> step;
    double loss = 0, step_s = 0, wait_s = 0, comm_s = 0, exposed = 0;  ///< NaN: not known
    int64_t peak_bytes = 0, expected_bytes = 0;                        ///< 0: not known
    double last_heard = 0;
};

struct RunPicture {
    RunState state;
    std::string dir;
    ReadProgress reading;
    Diagnosis diagnosis;
    std::optional<int64_t> step, total_steps;
    std::optional<double> eta_s, loss, tokens_per_s, overhead;
    int64_t fullest_bytes = 0, expected_bytes = 0, capacity_bytes = 0;  ///< 0: not known
    int fullest_rank = 0;
    double last_heard = 0;
    std::optional<double> duration_s;  ///< total of all attempts
    std::optional<PhaseEvent> phase;   ///< set while the run is not training
    bool can_resume = false;
    bool goes_on = true;  ///< false: no steps are expected to follow now
    int64_t odd_lines = 0;
    unsigned optional_charts = 0;  ///< bits of the optional charts that have something to show
    std::string plan_problem;      ///< reason why plan.json cannot be read

    std::vector<RankRow> ranks;
    std::optional<Happening> first_error;
    std::vector<Alert> alerts;  ///< by time
    std::shared_ptr<const RunCharts> charts;
};

/// Returns the measures of an optional chart in the order of its lines; empty for the other charts.
std::vector<Measure> optional_measures(ChartKind kind);

StepRange shown_range(const RunHistory& history, const ChartRequest& request);
RunCharts make_charts(const RunHistory& history, const ChartRequest& request);
/// Returns the picture without the charts and the happenings. `plan` may be null.
RunPicture make_picture(const RunHistory& history, const Plan* plan, double now);

/// Returns the bytes that the plan expects a rank's allocator to hand out at the peak: the total minus what
/// lies outside the allocator.
int64_t expected_tensor_bytes(const RankMemory& memory);

}  // namespace ringmaster
