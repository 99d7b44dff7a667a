// fetch: copies the results of a run on other machines to this machine.
#include <nlohmann/json.hpp>

#include "launcher/backends/backend.h"
#include "launcher/backends/run_results.h"
#include "launcher/base/format.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/interrupts.h"
#include "launcher/cli/live.h"
#include "launcher/cli/person.h"

namespace ringmaster {

namespace {

int run_fetch(const Arguments& arguments, const CommandContext& session) {
    const RunDirectory run = run_here_or_there(arguments, session);
    const std::string asked = arguments.text("--to");
    const std::filesystem::path to = asked.empty() ? std::filesystem::path() : absolute_path(asked);
    const Interrupts interrupts;
    const std::atomic<bool> placing = false;
    ProgressPrinter printer(session, interrupts);
    const SshPerson person = person_at_terminal(arguments.has("--trust-on-first-use"), interrupts, placing);
    const auto [path, fetched] = unless_interrupted(interrupts, [&] {
        const std::unique_ptr<RunResults> results = backend_of(run)->results(run, person);
        return results->fetch(arguments.whole("--checkpoint", 0), to, printer.progress());
    });
    printer.clear();
    if (session.json) {
        print_json({{"path", path.string()},
                    {"files", fetched.files},
                    {"bytes", fetched.bytes},
                    {"received_bytes", fetched.received},
                    {"left_out", fetched.left_out}});
    } else {
        print(format_count(fetched.files) + (fetched.files == 1 ? " file, " : " files, ") +
              format_bytes(fetched.bytes) + " (" + format_bytes(fetched.received) +
              " of it came now), each verified by its hash, in " + printable(path.string()) + "\n");
        for (const std::string& name : fetched.left_out)
            complain("left out, no part of a model or checkpoint: " + printable(name) + "\n");
    }
    return 0;
}

}  // namespace

Command fetch_command() {
    return {{"fetch",
             "RUN",
             true,
             "Fetches the final model, or a checkpoint, of a run on other machines.",
             {{"--checkpoint", "STEP", "fetch this step's checkpoint instead"},
              {"--to", "DIR", "folder to write to; default: output_dir, or a checkpoint's run directory"},
              run_node_option(),
              trust_option(),
              runs_dir_option(),
              json_option()},
             "Files that are here already are not sent; an interrupted transfer continues where it ended."},
            run_fetch};
}

}  // namespace ringmaster
