#include "launcher/history/export.h"

#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "launcher/base/format.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/interrupts.h"
#include "launcher/cli/live.h"
#include "launcher/history/run_details.h"
#include "launcher/publish/gguf.h"

namespace ringmaster {

namespace {

namespace fs = std::filesystem;

void write_points(const RunDirectory& run, const std::string& format, const fs::path& to, bool json) {
    const Exported exported = format == "csv" ? export_csv(run, to) : export_tensorboard(run, to);
    if (json) {
        print_json(
            {{"path", exported.path.string()}, {"ranks", exported.ranks}, {"points", exported.points}});
    } else {
        print(format_count(exported.points) + (format == "csv" ? " rows" : " points") + " of " +
              format_count(exported.ranks) + (exported.ranks == 1 ? " rank" : " ranks") + " in " +
              exported.path.string() + "\n");
    }
}

/// Converts a model's folder, or the model that a run has written.
void write_gguf(const Arguments& arguments, const CommandContext& session, const fs::path& to) {
    const fs::path converter = gguf_converter(arguments.text("--converter"));
    fs::path folder = absolute_path(arguments.operand());
    std::error_code none;
    if (!fs::exists(folder / "config.json", none))
        folder = written_model(run_of(arguments, session), "GGUF-CONVERTER");
    const Interrupts interrupts;
    ProgressPrinter printer(session, interrupts);
    export_gguf(folder, to, converter, session.places, printer.progress());
    printer.clear();
    if (session.json)
        print_json({{"path", to.string()}});
    else
        print("the model is in " + to.string() + "\n");
}

int run_export(const Arguments& arguments, const CommandContext& session) {
    const std::string format = arguments.text("--format");
    if (format != "csv" && format != "tensorboard" && format != "gguf") {
        throw Error(Failure::Usage, Code("ARGUMENT-VALUE"),
                    format.empty() ? "is missing" : "'" + format + "' is none of csv, tensorboard and gguf",
                    "--format");
    }
    if (arguments.text("--to").empty())
        throw Error(Failure::Usage, Code("ARGUMENT-MISSING"), "is missing", "--to",
                    format == "tensorboard" ? "--to FOLDER" : "--to run." + format);
    const fs::path to = absolute_path(arguments.text("--to"));
    if (format == "gguf")
        write_gguf(arguments, session, to);
    else
        write_points(run_of(arguments, session), format, to, session.json);
    return 0;
}

}  // namespace

Command export_command() {
    return {{"export",
             "RUN",
             true,
             "Writes every point of a run, or its model, for other programs.",
             {{"--format", "csv|tensorboard|gguf", "the format to write"},
              {"--to", "PATH", "a file (csv, gguf) or a folder (tensorboard)"},
              {"--converter", "PATH",
               "llama.cpp's folder or converter, for gguf; else LLAMA_CPP or the PATH has it"},
              runs_dir_option(),
              json_option()},
             "gguf also takes a model's folder in place of RUN. An adapter has to be merged first."},
            run_export};
}

}  // namespace ringmaster
