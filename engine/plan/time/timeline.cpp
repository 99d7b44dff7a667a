#include "engine/plan/time/timeline.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "engine/plan/findings.h"
#include "engine/plan/plan_request.h"
#include "engine/plan/time/simulate.h"

namespace ringmaster {

namespace {

using nlohmann::json;

constexpr int kMostRanks = 64;
constexpr std::array kLaneNames = {"compute", "keys link", "states link", "host link"};

/// Returns the ring ranks that step_costs picks.
std::vector<int> shown_ring_ranks(const Plan& plan) {
    const int count = columns_of(plan.mesh.ring);
    std::vector<int> columns;
    for (int c = 0; c < count; ++c)
        columns.push_back(count == plan.mesh.ring ? c : int(int64_t{c} * (plan.mesh.ring - 1) / (count - 1)));
    return columns;
}

int row_of(int rank, Lane lane) {
    return rank * static_cast<int>(kLaneNames.size()) + static_cast<int>(lane);
}

/// Writes events as one array, each on a separate line.
class Events {
  public:
    explicit Events(std::ostream& out) : out_(out) {}

    void name(const char* what, int node, int row, const std::string& name) {
        next() << json({{"ph", "M"}, {"name", what}, {"pid", node}, {"tid", row}, {"args", {{"name", name}}}})
                      .dump();
    }
    void order(int node, int row) {
        next() << json({{"ph", "M"},
                        {"name", "thread_sort_index"},
                        {"pid", node},
                        {"tid", row},
                        {"args", {{"sort_index", row}}}})
                      .dump();
    }
    void span(int node, int row, const TimelineSpan& span) {
        char times[96];
        std::snprintf(times, sizeof times, "\"ts\":%.3f,\"dur\":%.3f", 1e6 * span.begin_s,
                      1e6 * (span.end_s - span.begin_s));
        next() << "{\"ph\":\"X\",\"name\":\"" << span.name << "\",\"cat\":\""
               << kLaneNames[static_cast<size_t>(span.lane)] << "\",\"pid\":" << node << ",\"tid\":" << row
               << "," << times << "}";
    }

  private:
    std::ostream& next() { return out_ << (std::exchange(first_, false) ? "\n" : ",\n"); }

    std::ostream& out_;
    bool first_ = true;
};

json to_json(const RankTime& time, int rank) {
    return {{"rank", rank},
            {"compute_s", time.compute_s},
            {"comm_s", time.comm_s},
            {"exposed_comm_s", time.exposed_s}};
}

}  // namespace

std::vector<int> timeline_ranks(const Plan& plan) {
    std::vector<int> ranks;
    if (plan.ranks <= kMostRanks) {
        for (int rank = 0; rank < plan.ranks; ++rank) ranks.push_back(rank);
        return ranks;
    }
    for (const int ring_rank : shown_ring_ranks(plan))
        ranks.push_back(plan.mesh.rank_of({0, 0, ring_rank, 0}));
    return ranks;
}

std::string timeline_selection(const Plan& plan) {
    const auto shown = int64_t(timeline_ranks(plan).size());
    if (shown == plan.ranks) return plan.ranks == 1 ? "the one rank" : "all " + counted(shown, "rank");
    const bool all_of_ring = shown == plan.mesh.ring;
    return grouped(shown) + " of " + counted(plan.ranks, "rank") + ": " +
           (all_of_ring ? "every ring rank" : "ring ranks evenly spaced") +
           " of the first sequence; the others do the same at the same times as one of these, or lie between";
}

void write_timeline(std::ostream& out, const PlanRequest& request, const Plan& plan) {
    const SpeedsOfPlan speeds = speeds_of(request, plan);
    const StepCosts costs = step_costs(plan, speeds.speeds);
    std::vector<std::vector<TimelineSpan>> spans(costs.columns.size());
    const SimulatedStep step = simulate_step(costs, [&](int column, const TimelineSpan& span) {
        spans[static_cast<size_t>(column)].push_back(span);
    });
    std::map<int, size_t> column_of;
    for (size_t c = 0; c < step.ranks.size(); ++c) column_of[step.ranks[c].ring_rank] = c;

    const size_t lanes =
        // The last lane, the host's, is shown only if checkpoints are copied to the host.
        kLaneNames.size() - (costs.checkpoint_copy_s > 0 ? 0 : 1);
    const int of_node = plan.ranks / plan.nodes;
    json ranks = json::array();
    out << "{\"displayTimeUnit\":\"ms\",\n\"traceEvents\":[";
    Events events(out);
    for (const int rank : timeline_ranks(plan)) {
        const size_t column = column_of.at(plan.mesh.coordinates(rank).ring);
        const int node = rank / of_node;
        if (rank % of_node == 0 || ranks.empty())
            events.name("process_name", node, 0, "node " + std::to_string(node));
        for (size_t lane = 0; lane < lanes; ++lane) {
            const int row = row_of(rank, static_cast<Lane>(lane));
            events.name("thread_name", node, row, "rank " + std::to_string(rank) + " " + kLaneNames[lane]);
            events.order(node, row);
        }
        for (const TimelineSpan& span : spans[column]) events.span(node, row_of(rank, span.lane), span);
        ranks.push_back(to_json(step.ranks[column], rank));
    }
    const json about = {{"basis", speeds.measured ? "measured" : "assumed"},
                        {"shown", timeline_selection(plan)},
                        {"micro_batches", plan.batch.accumulation},
                        {"step_s", step.time.step_s},
                        {"ranks", std::move(ranks)}};
    out << "\n],\n\"otherData\":" << about.dump() << "}\n";
}

}  // namespace ringmaster
