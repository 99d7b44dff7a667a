/// Turns a request into a run directory that is ready to start: plan, model, rows, then a second plan. This
/// takes long; call it off the GUI thread.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "engine/error.h"
#include "launcher/alerts/settings.h"
#include "launcher/base/progress.h"
#include "launcher/run/request.h"
#include "launcher/run/run_directory.h"
#include "launcher/run/tokenize.h"

namespace ringmaster {

/// A request, the configuration that was read for it, and its plan.
struct Proposal {
    Request request;
    ConfigReading reading;
    Plan plan;
};

/// Plans a request. Never throws for mistakes in the configuration: the plan's diagnostics report them.
Proposal propose(const Request& request, const Machine& machine, const Places& places);

/// Thrown if a run cannot train with the configuration; the plan's diagnostics list all reasons.
struct PlanRefused : Error {
    explicit PlanRefused(Plan refused);
    Plan plan;
};

/// Throws PlanRefused (with Failure::Usage if the file is missing or malformed), or another Error if the
/// configuration can be planned but not launched.
void require_launchable(const Proposal& proposal);

/// Throws Error(Refused) unless output_dir is missing, empty, or the output of an earlier run (it holds
/// ringmaster-run.json), or `overwrite` is set.
void check_output_dir(const std::filesystem::path& output_dir, bool overwrite);

struct RunOptions {
    std::string name;                ///< empty: made from the file's name and the date
    std::filesystem::path runs_dir;  ///< empty: the user's runs folder
    bool overwrite = false;
    std::optional<AlertSettings> alerts;  ///< nullopt: this user's settings
    /// Called as soon as the run directory exists; may be empty.
    std::function<void(const RunDirectory&)> made;
};

struct PreparedRun {
    RunDirectory run;
    Plan plan;
    TokenizedRows rows;
};

/// Makes a run directory in state queued and claims output_dir for it (engine/events/output_claim.h). A
/// failure after the directory was made is also recorded in run.json. Throws Error, PlanRefused or Cancelled.
PreparedRun prepare_run(const Proposal& proposal, const RunOptions& options, const Machine& machine,
                        const Places& places, const Progress& progress);

/// If the file adds tokens or renames some, writes its tokenizer and the model's resized embeddings into
/// `folder`, uses them in the configuration, and plans again. Throws Error or Cancelled.
void take_grown_model(Proposal& proposal, const std::filesystem::path& folder, const Machine& machine,
                      const Places& places, const Progress& progress);

/// Tokenizes the proposal's datasets; a stream only as far as max_steps reads it. Throws Error or Cancelled.
TokenizedRows tokenize_proposal(const Proposal& proposal, const std::filesystem::path& request_file,
                                const Places& places, const Progress& progress);

/// Fetches the model if it is a hub id, tokenizes, and plans again with the rows: the engine follows that
/// plan. The Python step's request stays in the run directory as tokenize.json.
PreparedRun fill_plan(Proposal proposal, const RunDirectory& run, const Machine& machine,
                      const Places& places, const Progress& progress);

}  // namespace ringmaster
