/// All that the Monitor shows of a run at one moment, made away from the screen: a value without Qt. The
/// charts are reduced to the pixels that were asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/plan.h"
#include "launcher/curves.h"
#include "launcher/diagnosis.h"
#include "launcher/history.h"

namespace ringmaster {

enum class ChartKind { Loss, StepTime, Exposed, Memory, Heat, Throughput, Overlap, GradNorm, LearningRate };
constexpr int kChartKinds = 9;
constexpr unsigned kAllCharts = (1U << kChartKinds) - 1;
constexpr unsigned bit(ChartKind kind) {
    return 1U << static_cast<unsigned>(kind);
}

/// More ranks than this are shown as a band with the ranks that lie farthest from the median.
constexpr size_t kMostLines = 16;

/// What the page asks the charts for.
struct ViewWish {
    std::optional<StepRange> range;  ///< empty: all of it
    int64_t tail = 0;                ///< above 0: the last so many steps
    int width = 600;                 ///< pixels of a chart
    int heat_columns = 160;
    double smoothing = 0;
    XAxis axis = XAxis::Step;
    int chosen_rank = -1;
    unsigned charts = kAllCharts;

    bool operator==(const ViewWish&) const = default;
};

/// One measure of all ranks: each, or (of many) their spread and a few.
struct RankCurves {
    std::vector<int> ranks;
    std::vector<Curve> curves;
    std::vector<std::vector<float>> smooth;  ///< of each; empty without smoothing
    std::optional<Spread> spread;            ///< where there are more than kMostLines
    std::vector<float> smooth_median;
};

struct RunCharts {
    ViewWish wish;
    StepRange range;
    std::vector<double> x;  ///< one a column, on the wish's axis
    bool bridge_gaps = false;

    Curve loss, grad_norm, lr;  ///< equal on all ranks
    std::vector<float> loss_smooth, grad_norm_smooth;
    RankCurves rank_loss, exposed, overlap, memory;
    Curve throughput;
    std::vector<float> throughput_smooth;
    std::vector<float> data_s, compute_s, exposed_s, other_s;  ///< of the chosen rank, or medians
    std::vector<std::pair<double, double>> evaluations;        ///< x, loss
    std::vector<double> heat_x;
    std::vector<std::vector<float>> heat;
    std::vector<float> heat_median;
};

struct RankRow {
    int rank = 0;
    std::string host, device;
    Mesh mesh;              ///< of one rank where the plan is not known
    MeshCoordinates place;  ///< in it
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
    std::optional<PhaseEvent> phase;  ///< where it is not training
    bool can_resume = false;
    int64_t odd_lines = 0;
    std::string plan_problem;  ///< why plan.json cannot be read

    std::vector<RankRow> ranks;
    std::optional<Happening> first_error;
    std::shared_ptr<const RunCharts> charts;
};

StepRange shown_range(const RunHistory& history, const ViewWish& wish);
RunCharts make_charts(const RunHistory& history, const ViewWish& wish);
/// Everything but the charts and the happenings. `plan` may be null.
RunPicture make_picture(const RunHistory& history, const Plan* plan, double now);

/// What the plan expects a rank's allocator to hand out at the peak: the total without what lies outside of
/// it.
int64_t expected_tensor_bytes(const RankMemory& memory);

}  // namespace ringmaster
