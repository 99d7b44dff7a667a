/// Declares the subcommands. Each parses its arguments, calls the launcher's library and prints.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/words/arguments.h"
#include "launcher/base/places.h"
#include "launcher/cli/terminal.h"
#include "launcher/machine/machine.h"
#include "launcher/nodes/libtorch.h"
#include "launcher/run/request.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

/// The state that every subcommand gets.
struct CommandContext {
    Places places;
    Terminal out;                              ///< properties of stdout
    Terminal err;                              ///< properties of stderr
    bool json = false;                         ///< true: stdout gets JSON and nothing else
    bool streams = false;                      ///< true: the JSON is one object per line
    std::filesystem::path* run_dir = nullptr;  ///< receives the directory of the command's run

    void about(const RunDirectory& run) const {
        if (run_dir != nullptr) *run_dir = run.dir;
    }
};

constexpr int kInterrupted = 130;

struct Command {
    CommandSpec spec;
    std::function<int(const Arguments&, const CommandContext&)> run;  ///< returns the exit status
    bool streams = false;  ///< true: --json prints one object per line
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
Command card_command();
Command push_command();
Command setup_command();
Command calibrate_command();
Command nodes_command();
std::vector<Command> queue_commands();  ///< `queue` and its subcommands: add, list, remove, move

/// Returns the options that describe a request: --ranks, --nodes, --device, --device-memory, --host-memory,
/// --disk-memory, --accelerate, --set and --json.
std::vector<OptionSpec> request_options();
/// Reads the request from the arguments. Throws Error(Usage).
Request request_of(const Arguments& arguments);

OptionSpec json_option();
/// Returns --libtorch, for commands that take --node.
OptionSpec libtorch_option();
std::optional<LibTorchWay> libtorch_of(const Arguments& arguments);  ///< throws Error(Usage)
OptionSpec runs_dir_option();
/// Returns the folder that --runs-dir names, or else the user's runs folder.
std::filesystem::path runs_dir_of(const Arguments& arguments, const CommandContext& session);
/// Finds the run that the operand names.
RunDirectory run_of(const Arguments& arguments, const CommandContext& session);

OptionSpec run_node_option();  ///< --node, for commands on a run that another machine launched
OptionSpec trust_option();     ///< --trust-on-first-use
/// Finds the run that the operand names. With --node, finds it on that node and follows it here from now on.
RunDirectory run_here_or_there(const Arguments& arguments, const CommandContext& session);

void print(const std::string& text);          ///< writes to stdout and flushes it
void complain(const std::string& text);       ///< writes to stderr
void print_json(const nlohmann::json& json);  ///< prints an indented document
void print_line(const nlohmann::json& json);  ///< prints one line

}  // namespace ringmaster
