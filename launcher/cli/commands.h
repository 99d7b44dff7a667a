/// The subcommands: each parses its arguments, calls the launcher's library and prints.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launcher/cli/arguments.h"
#include "launcher/cli/terminal.h"
#include "launcher/machine.h"
#include "launcher/nodes/libtorch.h"
#include "launcher/places.h"
#include "launcher/request.h"
#include "launcher/run_directory.h"

namespace ringmaster {

/// What every subcommand needs.
struct Session {
    Places places;
    Terminal out;                              ///< of stdout
    Terminal err;                              ///< of stderr
    bool json = false;                         ///< stdout takes JSON and nothing else
    bool streams = false;                      ///< that JSON is one object a line
    std::filesystem::path* run_dir = nullptr;  ///< where a command notes the run that it is about

    void about(const RunDirectory& run) const {
        if (run_dir != nullptr) *run_dir = run.dir;
    }
};

constexpr int kInterrupted = 130;

struct Command {
    CommandSpec spec;
    std::function<int(const Arguments&, const Session&)> run;  ///< the exit status
    bool streams = false;                                      ///< its --json is one object a line
};

Command plan_command();
Command advise_command();
Command adapt_command();
Command preflight_command();
Command prepare_command();
Command launch_command();
Command watch_command();
Command stop_command();
Command resume_command();
Command runs_command();
Command export_command();
Command fetch_command();
Command merge_command();
Command setup_command();
Command calibrate_command();
Command nodes_command();

/// --ranks, --nodes, --device, --device-memory, --accelerate, --set, --json, and those that are not built
/// yet.
std::vector<OptionSpec> request_options();
/// Throws Error(Usage).
Request request_of(const Arguments& arguments);

OptionSpec json_option();
/// --libtorch, for commands that take --node.
OptionSpec libtorch_option();
std::optional<LibTorchWay> libtorch_of(const Arguments& arguments);  ///< throws Error(Usage)
OptionSpec runs_dir_option();
/// --runs-dir, else the user's.
std::filesystem::path runs_dir_of(const Arguments& arguments, const Session& session);
/// The operand as a run.
RunDirectory run_of(const Arguments& arguments, const Session& session);

OptionSpec run_node_option();  ///< --node of what is done with a run that another machine launched
OptionSpec trust_option();     ///< --trust-on-first-use
/// As run_of; with --node as it is there, and followed here from now on.
RunDirectory run_here_or_there(const Arguments& arguments, const Session& session);

void print(const std::string& text);          ///< to stdout, flushed
void complain(const std::string& text);       ///< to stderr
void print_json(const nlohmann::json& json);  ///< a document
void print_line(const nlohmann::json& json);  ///< on one line

}  // namespace ringmaster
