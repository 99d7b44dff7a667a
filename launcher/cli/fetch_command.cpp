// fetch: brings the results of a run on other machines here.
#include <nlohmann/json.hpp>

#include "launcher/anywhere/fetch_run.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/interrupts.h"
#include "launcher/cli/live.h"
#include "launcher/cli/person.h"
#include "launcher/format.h"

namespace ringmaster {

namespace {

int run_fetch(const Arguments& arguments, const Session& session) {
    const RunDirectory run = run_here_or_there(arguments, session);
    const std::string asked = arguments.text("--to");
    const std::filesystem::path to = asked.empty() ? std::filesystem::path() : absolute_path(asked);
    const Interrupts interrupts;
    const std::atomic<bool> placing = false;
    ProgressPrinter printer(session, interrupts);
    const SshPerson person = person_at_terminal(arguments.has("--trust-on-first-use"), interrupts, placing);
    const auto [path, fetched] = unless_interrupted(interrupts, [&] {
        SshSession first = session_with_first(run, person);
        return fetch_run(first, run, arguments.whole("--checkpoint", 0), to, printer.progress());
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
             "Brings the final model of a run on other machines here, or a checkpoint.",
             {{"--checkpoint", "STEP", "the checkpoint of this step instead"},
              {"--to", "DIR", "else output_dir; of checkpoints the run directory"},
              run_node_option(),
              trust_option(),
              runs_dir_option(),
              json_option()},
             "What is here already is not sent; what was cut goes on where it ended."},
            run_fetch};
}

}  // namespace ringmaster
