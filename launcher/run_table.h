/// All runs with what mattered about each: for a table of runs. Cheap: of long event files only parts are
/// read, and what has not changed is not read again.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/events/run_state.h"
#include "engine/plan/mesh.h"
#include "launcher/run_directory.h"
#include "launcher/run_notes.h"

namespace ringmaster {

/// What the plan said. Only what could be read is there.
struct PlannedFigures {
    std::string model;  ///< the folder's or the hub id's last part
    std::string config_file;
    std::string base_dir;
    std::string output_dir;
    std::string layout;
    std::string device;
    int ranks = 0, nodes = 0;
    std::optional<Mesh> mesh;
    std::optional<int64_t> sequence_len, global_batch, total_steps;
    std::optional<int64_t> memory_bytes, memory_low_bytes, memory_high_bytes;
    ///< Tensors of the worst rank, as the events measure them: without the runtime.
    std::optional<int64_t> device_bytes;
    std::optional<double> step_s, tokens_per_s, overhead;
};

/// What the events said.
struct MeasuredFigures {
    std::optional<int64_t> step;  ///< rank 0's last
    std::optional<double> last_loss;
    std::optional<double> best_loss;  ///< the lowest; of a long run the lowest among the steps that were read
    bool best_is_sampled = false;
    std::vector<float> curve_step, curve_loss;   ///< a few hundred of the steps that were read, by step
    std::optional<double> step_s, tokens_per_s;  ///< means over the steps that were read
    std::optional<double> overhead;              ///< exposed communication ÷ step time, mean over ranks
    std::optional<int64_t> peak_memory_bytes;    ///< of the worst rank
    double ran_before_s = 0;                     ///< Seconds that the attempts before the last one ran.
};

struct RunRow {
    std::string name;
    std::filesystem::path dir;
    RunState state;
    std::string problem;  ///< what is damaged or missing; empty for a whole run
    PlannedFigures planned;
    MeasuredFigures measured;
    RunNotes notes;

    bool is_live() const { return problem.empty() && !is_over(state.state) && state.writer.pid != 0; }
    /// Seconds that its attempts ran, the last one until its end or until `now`; empty if it never started.
    std::optional<double> duration_s(double now) const;
};

PlannedFigures read_planned(const RunDirectory& run);  ///< throws Error where there is no readable plan.json
MeasuredFigures read_measured(const RunDirectory& run, int ranks);

/// One run, never throwing for what is wrong with it.
RunRow read_row(const RunDirectory& run);

/// Keeps what it read; one thread at a time.
class RunTable {
  public:
    RunTable();
    ~RunTable();

    /// Newest first. A folder that looks like a run but is none is a row with its problem; other folders are
    /// skipped. A runs_dir that is not there has no runs.
    std::vector<RunRow> read(const std::filesystem::path& runs_dir);

  private:
    struct Kept;
    std::map<std::string, Kept> kept_;
};

}  // namespace ringmaster
