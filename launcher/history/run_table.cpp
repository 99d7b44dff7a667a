#include "launcher/history/run_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/events/bounded_json.h"
#include "engine/events/event_log.h"
#include "launcher/base/bounded_file.h"
#include "launcher/history/figures.h"
#include "launcher/run/recorded_run.h"

namespace ringmaster {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr int64_t kMostPlanBytes = 64 << 20;
constexpr JsonLimits kPlanLimits{kMostPlanBytes, 64, 1 << 20};
constexpr int64_t kLongestReadWhole = 1 << 20;  ///< rank 0's events up to this size are read completely
constexpr int64_t kTailBytes = 64 << 10;        ///< bytes read at the end of a longer file
constexpr int64_t kHeadBytes = 64 << 10;
constexpr int64_t kPieceBytes = 8 << 10;
constexpr int kPieces = 24;
constexpr int64_t kOtherRankBytes = 4 << 10;  ///< read from the end of every other rank's events
constexpr int64_t kLastBytes = 4096;          ///< bytes read for the last event
constexpr int kOtherRanks = 63;
constexpr size_t kCurvePoints = 300;

// ------------------------------------------------------------------------------------------- planned figures

/// Returns the member at a path of keys; null if there is none.
const json& at(const json& from, std::initializer_list<const char*> keys) {
    static const json nothing;
    const json* here = &from;
    for (const char* key : keys) {
        if (!here->is_object()) return nothing;
        const auto found = here->find(key);
        if (found == here->end()) return nothing;
        here = &*found;
    }
    return *here;
}

std::optional<int64_t> whole(const json& value) {
    return value.is_number_integer() ? std::optional(value.get<int64_t>()) : std::nullopt;
}
std::optional<double> real(const json& value) {
    if (!value.is_number() || !std::isfinite(value.get<double>())) return std::nullopt;
    return value.get<double>();
}
std::string text(const json& value) {
    return value.is_string() ? value.get<std::string>() : std::string();
}
int small(const json& value, int otherwise) {
    const auto number = whole(value);
    return number && *number > 0 && *number <= (1 << 24) ? static_cast<int>(*number) : otherwise;
}

/// "meta-llama/Llama-3.1-8B" -> "Llama-3.1-8B", "/models/tiny/" -> "tiny".
std::string last_part(std::string model) {
    while (model.size() > 1 && model.back() == '/') model.pop_back();
    const size_t slash = model.rfind('/');
    return slash == std::string::npos ? model : model.substr(slash + 1);
}

void take_memory(const json& plan, PlannedFigures& figures) {
    figures.device_bytes = whole(at(plan, {"memory", "device_bytes"}));
    const json& ranks = at(plan, {"memory", "per_rank"});
    if (!ranks.is_array()) return;
    for (const json& rank : ranks) {
        const int64_t runtime = whole(at(rank, {"runtime"})).value_or(0);
        const auto tensors = [&](const char* key) -> std::optional<int64_t> {
            const auto bytes = whole(at(rank, {key}));
            return bytes && *bytes > runtime ? std::optional(*bytes - runtime) : std::nullopt;
        };
        const auto total = tensors("total");
        if (!total || *total <= figures.memory_bytes.value_or(0)) continue;
        figures.memory_bytes = total;
        figures.memory_low_bytes = tensors("total_low");
        figures.memory_high_bytes = tensors("total_high");
    }
}

void take_time(const json& plan, PlannedFigures& figures) {
    const auto step_s = real(at(plan, {"time", "step_s"}));
    const auto exposed_s = real(at(plan, {"time", "exposed_comm_s"}));
    const auto tokens = whole(at(plan, {"batch", "tokens_per_step"}));
    if (!step_s || *step_s <= 0) return;
    figures.step_s = step_s;
    if (exposed_s) figures.overhead = *exposed_s / *step_s;
    if (tokens) figures.tokens_per_s = static_cast<double>(*tokens) / *step_s;
}

// ------------------------------------------------------------------------------------------ measured figures

std::vector<StepEvent> steps_of_first(const fs::path& file, int64_t bytes) {
    if (bytes <= kLongestReadWhole) return steps_in(file, 0, bytes);
    std::vector<StepEvent> steps = steps_in(file, 0, kHeadBytes);
    const auto add = [&](const std::vector<StepEvent>& more) {
        steps.insert(steps.end(), more.begin(), more.end());
    };
    const int64_t middle = bytes - kTailBytes - kHeadBytes;
    for (int piece = 0; piece < kPieces; ++piece)
        add(steps_in(file, kHeadBytes + middle * piece / kPieces, kPieceBytes));
    add(steps_in(file, bytes - kTailBytes, kTailBytes));
    return steps;
}

/// Keeps about kCurvePoints losses, evenly spaced; a repeated step counts once. Always keeps both ends.
void keep_curve(const std::vector<StepEvent>& steps, MeasuredFigures& figures) {
    std::map<int64_t, double> losses;
    for (const StepEvent& step : steps) losses[step.step] = step.loss;
    const size_t every = std::max<size_t>(1, losses.size() / kCurvePoints);
    size_t index = 0;
    for (const auto& [step, loss] : losses) {
        const bool is_last = index + 1 == losses.size();
        if (index++ % every != 0 && !is_last) continue;
        figures.curve_step.push_back(static_cast<float>(step));
        figures.curve_loss.push_back(static_cast<float>(loss));
    }
}

}  // namespace

PlannedFigures read_planned(const RunDirectory& run) {
    const json plan = try_bounded_json(read_bounded(run.plan(), kMostPlanBytes), kPlanLimits);
    if (!plan.is_object())
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "is damaged: not a JSON object",
                    run.plan().string());
    PlannedFigures figures;
    figures.model = last_part(text(at(plan, {"config", "base_model"})));
    figures.config_file = text(at(plan, {"config", "file"}));
    figures.base_dir = text(at(plan, {"config", "base_dir"}));
    figures.output_dir = text(at(plan, {"config", "output_dir"}));
    figures.layout = text(at(plan, {"context_parallel", "layout"}));
    figures.device = text(at(plan, {"device"}));
    figures.ranks = small(at(plan, {"ranks"}), 0);
    figures.nodes = small(at(plan, {"nodes"}), 0);
    figures.zero_stage = small(at(plan, {"zero_stage"}), 0);
    const json& mesh = at(plan, {"mesh"});
    if (mesh.is_object())
        figures.mesh = Mesh{small(at(mesh, {"dp_replicate"}), 1), small(at(mesh, {"dp_shard"}), 1),
                            small(at(mesh, {"ring"}), 1), small(at(mesh, {"ulysses"}), 1),
                            small(at(mesh, {"expert"}), 1)};
    figures.sequence_len = whole(at(plan, {"sequence", "length"}));
    figures.global_batch = whole(at(plan, {"batch", "global"}));
    figures.total_steps = whole(at(plan, {"batch", "total_steps"}));
    take_memory(plan, figures);
    take_time(plan, figures);
    return figures;
}

MeasuredFigures read_measured(const RunDirectory& run, int ranks) {
    MeasuredFigures figures;
    const fs::path first = run.events() / event_file_name(0);
    const int64_t bytes = stamp_of(first).bytes;
    const std::vector<EventLine> last = last_events(run, 0, kLastBytes);
    figures.is_done = !last.empty() && completes_run(last.back().event);
    const std::vector<StepEvent> steps = steps_of_first(first, bytes);
    if (steps.empty()) return figures;
    StepSums sums;
    int64_t peak_bytes = 0;
    const auto take = [&](const StepEvent& step, StepSums& into) {
        into.add(step);
        peak_bytes = std::max(peak_bytes, step.peak_memory_bytes);
    };
    for (const StepEvent& step : steps) {
        take(step, sums);
        if (std::isfinite(step.loss) && (!figures.best_loss || step.loss < *figures.best_loss))
            figures.best_loss = step.loss;
    }
    keep_curve(steps, figures);
    figures.step = steps.back().step;
    figures.last_loss = steps.back().loss;
    figures.best_is_sampled = bytes > kLongestReadWhole;
    figures.peak_is_sampled = bytes > (ranks > 1 ? kOtherRankBytes : kLongestReadWhole);
    figures.step_s = sums.seconds();
    figures.tokens_per_s = sums.tokens_per_s();
    std::vector<StepSums> all{sums};
    for (int rank = 1; rank < ranks && rank <= kOtherRanks; ++rank) {
        StepSums& of_rank = all.emplace_back();
        for (const StepEvent& step : last_steps(run, rank, kOtherRankBytes)) take(step, of_rank);
    }
    figures.overhead = mean_overhead(all);
    if (peak_bytes > 0) figures.peak_memory_bytes = peak_bytes;
    return figures;
}

bool RunRow::is_cut_short() const {
    return ringmaster::is_cut_short(state.state, measured.is_done, measured.step, planned.total_steps);
}

std::optional<double> RunRow::duration_s(double now) const {
    return ringmaster::duration_s(state, measured.ran_before_s, now);
}

// ------------------------------------------------------------------------------------------------------ rows

namespace {

void note_problem(RunRow& row, const Error& problem) {
    if (!row.problem.empty()) return;
    row.problem = problem.text();
    row.problem_code = problem.code;
}

void read_state(const RunDirectory& run, RunRow& row) {
    try {
        row.state = read_run_state(run.dir);
    } catch (const Error& problem) {
        row.state = {};
        row.state.state = RunPhase::Failed;
        row.state.reason = problem.text();
        row.state.code = problem.code;
        note_problem(row, problem);
    }
    std::error_code unknown;
    if (!fs::is_regular_file(run.config(), unknown))
        note_problem(row, Error(Failure::Usage, Code("FILE-MISSING"), "is missing", run.config().string()));
}

/// Reads the plan's figures, unless the run is still being prepared and has no plan yet.
void read_plan_figures(const RunDirectory& run, RunRow& row) {
    std::error_code unknown;
    if (!fs::exists(run.plan(), unknown) && row.state.started == 0) return;
    try {
        row.planned = read_planned(run);
    } catch (const Error& problem) {
        note_problem(row, problem);
    }
}

void read_notes(const RunDirectory& run, RunRow& row) {
    try {
        row.notes = read_run_notes(run);
    } catch (const Error& problem) {
        note_problem(row, problem);
    }
}

/// Returns true if the folder holds any file of a run directory.
bool looks_like_run(const fs::path& dir) {
    std::error_code problem;
    for (const char* file : {"run.json", "config.yaml", "plan.json", "options.json"}) {
        if (fs::exists(dir / file, problem)) return true;
    }
    return false;
}

}  // namespace

RunRow read_row(const RunDirectory& run) {
    RunRow row;
    row.name = run.name();
    row.dir = run.dir;
    read_state(run, row);
    read_plan_figures(run, row);
    row.measured = read_measured(run, std::max(row.state.ranks, row.planned.ranks));
    row.measured.ran_before_s = ran_before_s(run, row.state);
    read_notes(run, row);
    row.read_at = unix_now();
    return row;
}

struct RunTable::Kept {
    std::array<FileStamp, 5> stamps;
    RunRow row;
};

RunTable::RunTable() = default;
RunTable::~RunTable() = default;

std::vector<RunRow> RunTable::read(const fs::path& runs_dir) {
    std::vector<RunRow> rows;
    std::map<std::string, Kept> kept;
    std::error_code none;
    for (fs::directory_iterator entry(runs_dir, none), end; !none && entry != end; entry.increment(none)) {
        const RunDirectory run{entry->path()};
        if (run.name().starts_with(".") || !looks_like_run(run.dir)) continue;
        const std::array stamps{stamp_of(run.state()), stamp_of(run.config()), stamp_of(run.plan()),
                                stamp_of(run.events() / event_file_name(0)),
                                stamp_of(run.dir / "notes.json")};
        const auto before = kept_.find(run.name());
        RunRow row;
        if (before == kept_.end() || before->second.stamps != stamps) {
            row = read_row(run);
        } else {
            row = before->second.row;
            row.read_at = unix_now();
            if (row.is_live()) read_state(run, row);  // a writer that was killed changes no file
        }
        kept[run.name()] = {stamps, row};
        rows.push_back(std::move(row));
    }
    kept_ = std::move(kept);
    std::sort(rows.begin(), rows.end(), [](const RunRow& a, const RunRow& b) {
        return std::pair(b.state.created, a.name) < std::pair(a.state.created, b.name);
    });
    return rows;
}

}  // namespace ringmaster
