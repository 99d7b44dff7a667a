#include "launcher/run/prepare.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/auth/run_secret.h"
#include "engine/config/paths.h"
#include "engine/events/event_log.h"
#include "engine/events/output_claim.h"
#include "engine/plan/resolve/plan_json.h"
#include "launcher/base/files.h"
#include "launcher/run/prompts.h"
#include "launcher/run/start_record.h"
#include "launcher/run/tracking.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

std::string first_error(const Diagnostics& diagnostics) {
    for (const Diagnostic& problem : diagnostics) {
        if (problem.severity == Severity::Error) return problem.code + ": " + problem.message;
    }
    return "no error";
}

void write_phase(const RunDirectory& run, RunState& state, RunPhase phase) {
    state.state = phase;
    state.updated = unix_now();
    write_run_state(run.dir, state);
}

/// Copies the request into the run directory, so that a later resume can repeat it.
void keep_request(const RunDirectory& run, const Request& request, const std::string& base_dir) {
    restrict_folder(run.dir, request.config);
    copy_text_file(request.config, run.config());
    Request kept = request;
    kept.config = absolute_path(request.config).string();
    kept.base_dir = base_dir;
    if (!request.accelerate_file.empty()) {
        copy_text_file(request.accelerate_file, run.accelerate());
        kept.accelerate_file = absolute_path(request.accelerate_file).string();
    }
    write_file(run.options(), request_to_json(kept).dump(2) + "\n");
}

}  // namespace

PlanRefused::PlanRefused(Plan refused)
    : Error(Failure::Refused, Code("PLAN-REFUSED"), first_error(refused.diagnostics), refused.config.file),
      plan(std::move(refused)) {}

Proposal propose(const Request& request, const Machine& machine, const Places& places) {
    Proposal proposal{request, read_request(request), {}};
    proposal.plan = plan_request(request, proposal.reading, machine, places);
    if (!proposal.reading.readable || machine.host != this_host()) return proposal;
    for (Diagnostic& missing : tracker_findings(request, places))
        proposal.plan.diagnostics.push_back(std::move(missing));
    return proposal;
}

void require_launchable(const Proposal& proposal) {
    if (!proposal.reading.readable) {
        PlanRefused refused(proposal.plan);
        refused.failure = Failure::Usage;
        throw refused;
    }
    if (!proposal.plan.ok()) throw PlanRefused(proposal.plan);
    const Config& config = proposal.reading.config;
    if (config.accelerate_only) {
        throw Error(
            Failure::Usage, Code("ACC-PLAN-ONLY"),
            "is an accelerate file alone: it says how to split, not what to train", config.file,
            "launch an axolotl YAML (base_model, datasets, learning_rate, output_dir) with --accelerate " +
                config.file);
    }
    if (config.model_dir.empty() && looks_like_path(config.base_model))
        throw Error(Failure::Refused, Code("MODEL-MISSING"), "is no folder; `base_model` names it",
                    absolute_path(config.base_dir, config.base_model),
                    "relative paths start from " + config.base_dir);
    if (config.lora.on() && !config.lora.model_dir.empty() && !is_folder(config.lora.model_dir))
        throw Error(Failure::Refused, Code("CFG-LORA"), "is no folder; `lora_model_dir` names it",
                    config.lora.model_dir, "a folder that PEFT or a run has saved an adapter in");
    if (config.output_dir.empty())
        throw Error(Failure::Refused, Code("OUTPUT-MISSING"),
                    "is missing: the trained model has nowhere to go", "output_dir");
}

void check_output_dir(const fs::path& output_dir, bool overwrite) {
    std::error_code problem;
    const fs::file_status status = fs::status(output_dir, problem);
    if (!fs::exists(status)) return;
    if (!fs::is_directory(status))
        throw Error(Failure::Refused, Code("OUTPUT-OCCUPIED"), "output_dir is a file, not a folder",
                    output_dir.string());
    if (overwrite || fs::is_empty(output_dir, problem) || fs::exists(output_dir / kOutputMarker, problem))
        return;
    throw Error(Failure::Refused, Code("OUTPUT-OCCUPIED"),
                "output_dir holds files that no run of Ringmaster put there", output_dir.string(),
                "name another output_dir, or add --overwrite");
}

namespace {

/// Writes the run's copy of the alert settings, if its node 0 sends alerts.
void write_alerts(const RunDirectory& run, const RunOptions& options) {
    const AlertSettings alerts =
        options.alerts ? *options.alerts : read_alert_settings(alert_settings_file());
    if (alerts.is_delivered()) write_alert_settings(alert_settings_file(run.dir), alerts);
}

}  // namespace

PreparedRun prepare_run(const Proposal& proposal, const RunOptions& options, const Machine& machine,
                        const Places& places, const Progress& progress) {
    require_launchable(proposal);
    const Config& config = proposal.reading.config;
    const bool trains = proposal.request.preflight != Preflight::Only;
    check_output_dir(config.output_dir, options.overwrite);
    if (trains) refuse_held_output(config.output_dir, {});
    const std::string name = options.name.empty() ? suggest_run_name(proposal.request.config) : options.name;
    const RunDirectory run =
        create_run_directory(options.runs_dir.empty() ? places.runs_dir : options.runs_dir, name);
    if (options.made) options.made(run);
    keep_request(run, proposal.request, config.base_dir);
    RunState state;
    state.name = run.name();
    state.ranks = proposal.plan.ranks;
    state.created = unix_now();
    state.writer = this_process();
    write_phase(run, state, RunPhase::Preparing);
    PreparedRun prepared;
    record_failed_start(run, [&] {
        if (trains) claim_output(config.output_dir, run.dir, run.name());
        write_plan(run.plan().string(), proposal.plan);
        prepared = fill_plan(proposal, run, machine, places, progress);
        write_plan(run.plan().string(), prepared.plan);
        make_folder(run.events());
        make_folder(run.logs());
        if (trains) write_alerts(run, options);
        run_secret(run.dir);  // made now, because a launcher may copy the folder to nodes that share no disk
        state.ranks = prepared.plan.ranks;
        state.writer = {};
        write_phase(run, state, RunPhase::Queued);
    });
    return prepared;
}

void take_grown_model(Proposal& proposal, const fs::path& folder, const Machine& machine,
                      const Places& places, const Progress& progress) {
    Config& config = proposal.reading.config;
    if (!changes_vocabulary(config)) return;
    const GrownModel grown = grow_model(config, folder, places, progress);
    config.tokenization["tokenizer_name"] = config.tokenizer;
    config.tokenizer = grown.tokenizer;
    if (grown.model_dir.empty()) return;
    config.model_dir = grown.model_dir;
    proposal.plan = plan_request(proposal.request, proposal.reading, machine, places);
}

namespace {

/// Returns how many rows of a stream the run trains on; nullopt for other datasets, which are read
/// completely.
std::optional<int64_t> rows_of_stream(const Config& config, const Plan& plan) {
    const bool streamed = !config.datasets.empty() && config.datasets[0].value("streamed", false);
    if (!streamed || !config.max_steps) return std::nullopt;
    return *config.max_steps * plan.batch.global;
}

bool comes_from_folder(const Config& config) {
    return config.policy && config.policy->folder;
}

/// Describes the rows that the run will take from a folder while it trains. Only their number is set, because
/// no file holds these rows yet.
TokenizedRows rows_to_come(const Plan& plan) {
    TokenizedRows rows;
    rows.data.rows = plan.batch.rows.value_or(0);
    return rows;
}

}  // namespace

TokenizedRows tokenize_proposal(const Proposal& proposal, const fs::path& request_file, const Places& places,
                                const Progress& progress) {
    const Config& config = proposal.reading.config;
    return tokenize(tokenize_request(config, proposal.plan.model, rows_of_stream(config, proposal.plan)),
                    request_file, places, progress);
}

PreparedRun fill_plan(Proposal proposal, const RunDirectory& run, const Machine& machine,
                      const Places& places, const Progress& progress) {
    Config& config = proposal.reading.config;
    if (config.model_dir.empty()) {
        const std::string folder = fetch_model(config, places, progress).string();
        if (config.tokenizer == config.base_model) config.tokenizer = folder;
        config.model_dir = folder;
        proposal.plan = plan_request(proposal.request, proposal.reading, machine, places);
        if (!proposal.plan.ok()) throw PlanRefused(proposal.plan);
    }
    progress.stop_if_cancelled();
    take_grown_model(proposal, run.dir, machine, places, progress);
    if (!proposal.plan.ok()) throw PlanRefused(proposal.plan);
    PreparedRun prepared{run, {}, {}};
    prepared.rows = comes_from_folder(config)
                        ? rows_to_come(proposal.plan)
                        : tokenize_proposal(proposal, run.dir / "tokenize.json", places, progress);
    progress.stop_if_cancelled();
    prepared.plan = plan_request(proposal.request, proposal.reading, machine, places, prepared.rows.data.rows,
                                 prepared.rows.data.eval_rows, prepared.rows.shared_prompts);
    prepared.plan.data = prepared.rows.data;
    if (!prepared.plan.ok()) throw PlanRefused(prepared.plan);
    write_sampling(run, prepared.plan, config, places, progress);
    if (proposal.request.preflight != Preflight::Only) write_tracking(run, proposal.request, config);
    if (proposal.request.preflight != Preflight::Only)
        write_samples(run, proposal.request, config, places, progress);
    return prepared;
}

}  // namespace ringmaster
