/// From a request to a run directory that is ready to start: plan, model, rows, plan again. Long; call it off
/// the GUI thread.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "engine/error.h"
#include "launcher/progress.h"
#include "launcher/request.h"
#include "launcher/run_directory.h"
#include "launcher/tokenize.h"

namespace ringmaster {

/// A request with what it means here.
struct Proposal {
    Request request;
    ConfigReading reading;
    Plan plan;
};

/// Never throws for what the configuration gets wrong: the plan's diagnostics say it.
Proposal propose(const Request& request, const Machine& machine, const Places& places);

/// The configuration is not one to train with; the diagnostics say why, all at once.
struct PlanRefused : Error {
    explicit PlanRefused(Plan refused);
    Plan plan;
};

/// Throws PlanRefused (Usage where the file is missing or malformed), or Error where it can be planned but
/// not launched.
void require_launchable(const Proposal& proposal);

/// output_dir may be missing, empty, or of an earlier run (it holds ringmaster-run.json). Throws
/// Error(Refused) otherwise, unless `overwrite`.
void check_output_dir(const std::filesystem::path& output_dir, bool overwrite);

struct RunOptions {
    std::string name;                ///< empty: suggested from the file's name and the date
    std::filesystem::path runs_dir;  ///< empty: the user's
    bool overwrite = false;
    std::function<void(const RunDirectory&)>
        made;  ///< called as soon as the run directory is there; may be empty
};

struct PreparedRun {
    RunDirectory run;
    Plan plan;
    TokenizedRows rows;
};

/// Leaves a run directory in state queued, and output_dir claimed for it (engine/events/output_claim.h). What
/// fails after it was made is also its run.json's reason. Throws Error, PlanRefused or Cancelled.
PreparedRun prepare_run(const Proposal& proposal, const RunOptions& options, const Machine& machine,
                        const Places& places, const Progress& progress);

/// If the file adds tokens or renames some, writes its tokenizer and the model's resized embeddings into
/// `folder`, uses them in the configuration, and plans again. Throws Error or Cancelled.
void take_grown_model(Proposal& proposal, const std::filesystem::path& folder, const Machine& machine,
                      const Places& places, const Progress& progress);

/// Tokenizes the proposal's datasets; a stream only as far as max_steps reads it. Throws Error or Cancelled.
TokenizedRows tokenize_proposal(const Proposal& proposal, const std::filesystem::path& request_file,
                                const Places& places, const Progress& progress);

/// Fetches the model where it is a hub id, tokenizes, plans again with the rows: the plan that the engine
/// obeys. The Python step's request stays in the run directory as tokenize.json.
PreparedRun fill_plan(Proposal proposal, const RunDirectory& run, const Machine& machine,
                      const Places& places, const Progress& progress);

}  // namespace ringmaster
