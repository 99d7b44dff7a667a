#include "launcher/export.h"

#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "launcher/cli/commands.h"
#include "launcher/format.h"

namespace ringmaster {

namespace {

int run_export(const Arguments& arguments, const Session& session) {
    const std::string format = arguments.text("--format");
    if (format != "csv" && format != "tensorboard") {
        throw Error(Failure::Usage, Code("ARGUMENT-VALUE"),
                    format.empty() ? "is missing" : "'" + format + "' is neither csv nor tensorboard",
                    "--format");
    }
    if (arguments.text("--to").empty())
        throw Error(Failure::Usage, Code("ARGUMENT-MISSING"), "is missing", "--to",
                    format == "csv" ? "--to run.csv" : "--to FOLDER");
    const std::filesystem::path to = absolute_path(arguments.text("--to"));
    const RunDirectory run = run_of(arguments, session);
    const Exported exported = format == "csv" ? export_csv(run, to) : export_tensorboard(run, to);
    if (session.json) {
        print_json(
            {{"path", exported.path.string()}, {"ranks", exported.ranks}, {"points", exported.points}});
    } else {
        print(format_count(exported.points) + (format == "csv" ? " rows" : " points") + " of " +
              format_count(exported.ranks) + (exported.ranks == 1 ? " rank" : " ranks") + " in " +
              exported.path.string() + "\n");
    }
    return 0;
}

}  // namespace

Command export_command() {
    return {{"export",
             "RUN",
             true,
             "Writes every point of a run for other programs.",
             {{"--format", "csv|tensorboard", "the format to write"},
              {"--to", "PATH", "a file (csv) or a folder (tensorboard)"},
              runs_dir_option(),
              json_option()},
             ""},
            run_export};
}

}  // namespace ringmaster
