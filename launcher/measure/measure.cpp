#include "launcher/measure/measure.h"

#include <QTemporaryDir>
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/plan/measured.h"
#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/make_plan.h"
#include "engine/plan/resolve/plan_json.h"
#include "engine/plan/speeds.h"
#include "engine/plan/time/step_time.h"
#include "launcher/base/files.h"
#include "launcher/history/history.h"
#include "launcher/measure/measured_rows.h"
#include "launcher/run/local_node.h"
#include "launcher/run/resume.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr auto kPoll = std::chrono::milliseconds(50);

double unix_seconds() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Returns the configuration without the parts that take time outside the steps or touch the user's files.
ConfigReading to_measure(ConfigReading reading, const fs::path& folder) {
    Config& config = reading.config;
    config.reinit_weights = true;
    config.output_dir = (folder / "output").string();
    config.max_steps = kMeasuredSteps + 10;  // this process stops the run earlier
    config.save_steps = config.saves_per_epoch = config.eval_steps = config.evals_per_epoch = std::nullopt;
    config.save_strategy = config.eval_strategy = "no";
    config.val_set_size = 0;
    config.sampling = std::nullopt;  // the plan predicts the update alone
    if (config.policy) config.policy->folder = std::nullopt;
    return reading;
}

RunDirectory make_run(const Proposal& proposal, Plan& plan, const fs::path& folder) {
    const RunDirectory run = create_run_directory(folder, "measure");
    plan.data.tokens = (run.dir / "tokens.safetensors").string();
    plan.data.rows = plan.batch.global;
    write_measured_rows(plan.data.tokens, plan);
    restrict_folder(run.dir, proposal.request.config);
    copy_text_file(proposal.request.config, run.config());
    write_file(run.options(), request_to_json(proposal.request).dump(2) + "\n");
    write_plan(run.plan().string(), plan);
    make_folder(run.events());
    make_folder(run.logs());
    RunState state;
    state.name = run.name();
    state.ranks = plan.ranks;
    state.created = state.updated = unix_seconds();
    write_run_state(run.dir, state);
    return run;
}

/// Stops the run when the object is destroyed, and waits until the run's process has ended.
class Running {
  public:
    explicit Running(const RunDirectory& run) : run_(run) {}
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() {
        try {
            request_stop(run_, StopHow::Now);
            while (living_process(read_run_state(run_.dir))) std::this_thread::sleep_for(kPoll);
        } catch (const std::exception&) {
            return;  // there is nothing to stop
        }
    }

  private:
    const RunDirectory& run_;
};

int64_t steps_of_all(const RunHistory& history, int ranks) {
    if (static_cast<int>(history.ranks().size()) < ranks) return 0;
    int64_t steps = kMeasuredSteps;
    for (const RankHistory& rank : history.ranks()) steps = std::min(steps, rank.steps.count());
    return steps;
}

void follow(RunHistory& history, int ranks, const Progress& progress) {
    ProgressStep step{"measure", {"steps"}, 0, kMeasuredSteps};
    progress.report(step);
    while (true) {
        progress.stop_if_cancelled();
        const bool came = !history.poll().empty();
        const int64_t steps = steps_of_all(history, ranks);
        if (steps != step.done) {
            step.done = steps;
            progress.report(step);
        }
        if (steps >= kMeasuredSteps) return;
        if (!came && is_over(history.state().state))
            throw Error(Failure::Refused, Code("RUN-FAILED"),
                        "the measuring run ended: " + history.state().reason);
        if (!came) std::this_thread::sleep_for(kPoll);
    }
}

/// Takes the means over the steps after the first, which serves as a warm-up.
void take_times(const RankHistory& rank, Measurement& measurement) {
    double step_s = 0, compute_s = 0, comm_s = 0, exposed_s = 0;
    constexpr double kCounted = kMeasuredSteps - 1;
    for (int step = 2; step <= kMeasuredSteps; ++step) {
        const StepEvent event = rank.steps.event(step);
        step_s += event.step_s / kCounted;
        compute_s += event.compute_s / kCounted;
        comm_s += event.comm_s / kCounted;
        exposed_s += event.exposed_comm_s / kCounted;
    }
    if (compute_s <= measurement.compute_s) return;
    measurement.step_s = step_s;
    measurement.compute_s = compute_s;
    measurement.comm_s = comm_s;
    measurement.exposed_comm_s = exposed_s;
}

/// Fills in what the plan predicts without any measurements.
void take_predictions(const Proposal& proposal, const Machine& machine, const Places& places,
                      Measurement& measurement) {
    PlanRequest request = plan_request_of(proposal.request, machine, places);
    request.measurements.clear();
    request.calibrations.clear();
    const Plan plan = make_plan(proposal.reading, request);
    for (const RankMemory& rank : plan.memory->per_rank) {
        const auto tensors = double(rank.total - rank.runtime);
        if (tensors <= measurement.predicted_bytes) continue;
        measurement.predicted_bytes = tensors;
        measurement.states_bytes = double(rank.weights + rank.gradients + rank.optimizer);
    }
    measurement.assumed_compute_s = step_time(plan, speeds_of(request, plan).speeds).compute_s;
}

void require_measurable(const Plan& plan) {
    if (!plan.ok()) throw PlanRefused(plan);
    if (!plan.model || !plan.memory || !plan.time || !plan.model->trainable()) {
        throw Error(Failure::Refused, Code("ENGINE-MODEL"),
                    "this model cannot be trained here, and so not measured", "base_model",
                    "`ringmaster plan` says what of its config.json is not computed here");
    }
    if (plan.verdict == Verdict::WillNotFit) {
        throw Error(Failure::Refused, Code("MEM-FIT"),
                    "the plan will not fit, and running it would end in no memory left", "--measure",
                    "measure a shorter one (--set sequence_len=…): what it takes corrects the estimate of "
                    "this one");
    }
}

}  // namespace

Measurement measure_plan(const Proposal& proposal, const Machine& machine, const Places& places,
                         const Progress& progress) {
    const QTemporaryDir temporary;
    if (!temporary.isValid())
        throw Error(Failure::Refused, Code("FILE-WRITE"), temporary.errorString().toStdString(),
                    "the folder for temporary files");
    const fs::path folder = temporary.path().toStdString();
    Request request = proposal.request;
    request.preflight = Preflight::None;
    request.restarts = 0;
    const Proposal measured{request, to_measure(proposal.reading, folder), {}};
    Plan plan = plan_request(request, measured.reading, machine, places);
    require_measurable(plan);
    require_startable(plan, machine, places);
    const RunDirectory run = make_run(measured, plan, folder);
    progress.stop_if_cancelled();
    start_run(run, plan, machine, places);
    const Running running(run);
    RunHistory history(run);
    follow(history, plan.ranks, progress);

    Measurement measurement = measurement_for(proposal.plan);
    measurement.measured_at = unix_seconds();
    for (const RankHistory& rank : history.ranks()) {
        measurement.peak_bytes = std::max(measurement.peak_bytes, double(rank.peak_bytes));
        take_times(rank, measurement);
    }
    take_predictions(measured, machine, places, measurement);
    return measurement;
}

}  // namespace ringmaster
