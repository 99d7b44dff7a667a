/// Reads all runs with the main facts about each, for a table of runs. This is cheap: it reads only parts of
/// long event files, and does not read unchanged runs again.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/events/run_state.h"
#include "engine/layout/mesh.h"
#include "launcher/history/run_notes.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

/// Figures from the plan. Only those that could be read are set.
struct PlannedFigures {
    std::string model;  ///< last part of the folder or the hub id
    std::string config_file;
    std::string base_dir;
    std::string output_dir;
    std::string layout;
    std::string device;
    int ranks = 0, nodes = 0, zero_stage = 0;
    std::optional<Mesh> mesh;
    std::optional<int64_t> sequence_len, global_batch, total_steps;
    std::optional<int64_t> memory_bytes, memory_low_bytes, memory_high_bytes;
    /// Bytes of the fullest rank's tensors, without the runtime, as the events measure memory.
    std::optional<int64_t> device_bytes;
    std::optional<double> step_s, tokens_per_s, overhead;
};

/// Figures from the events.
struct MeasuredFigures {
    std::optional<int64_t> step;  ///< last step of rank 0
    bool is_done = false;         ///< rank 0's last event says that it completed the run
    std::optional<double> last_loss;
    std::optional<double> best_loss;  ///< lowest loss; for a long run, among the steps that were read
    bool best_is_sampled = false;
    std::vector<float> curve_step, curve_loss;   ///< a few hundred of the steps that were read, by step
    std::optional<double> step_s, tokens_per_s;  ///< means over the steps that were read
    std::optional<double> overhead;              ///< exposed communication ÷ step time, mean over ranks
    /// Highest peak among the steps that were read, on ranks 0 to 63.
    std::optional<int64_t> peak_memory_bytes;
    bool peak_is_sampled = false;  ///< true if some steps were not read
    double ran_before_s = 0;       ///< seconds that the attempts before the last one ran
};

struct RunRow {
    std::string name;
    std::filesystem::path dir;
    RunState state;
    std::string problem;       ///< damaged or missing file; empty if there is none
    std::string problem_code;  ///< the Error's code
    PlannedFigures planned;
    MeasuredFigures measured;
    RunNotes notes;
    double read_at = 0;  ///< Unix time at which the row was read

    bool is_live() const { return problem.empty() && !is_over(state.state) && state.writer.pid != 0; }
    bool is_cut_short() const;
    /// Returns the seconds that all attempts ran, the last one until its end or `now`; nullopt if the run
    /// never started.
    std::optional<double> duration_s(double now) const;
};

PlannedFigures read_planned(const RunDirectory& run);  ///< throws Error if plan.json is missing or damaged
MeasuredFigures read_measured(const RunDirectory& run, int ranks);

/// Reads one run. Never throws for a problem of the run.
RunRow read_row(const RunDirectory& run);

/// Reads runs and remembers them between calls. Use it from one thread at a time.
class RunTable {
  public:
    RunTable();
    ~RunTable();

    /// Returns the runs, newest first. A folder that looks like a run but is not one becomes a row with a
    /// problem; other folders are skipped. If runs_dir does not exist, there are no runs.
    std::vector<RunRow> read(const std::filesystem::path& runs_dir);

  private:
    struct Kept;
    std::map<std::string, Kept> kept_;
};

}  // namespace ringmaster
