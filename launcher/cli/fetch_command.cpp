// fetch: what a run on other machines has made, brought here.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/events/output_claim.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/interrupts.h"
#include "launcher/cli/live.h"
#include "launcher/cli/person.h"
#include "launcher/format.h"
#include "launcher/nodes/fetch.h"
#include "launcher/prepare.h"

namespace ringmaster {

namespace {

namespace fs = std::filesystem;

std::string steps_text(const std::vector<int64_t>& steps) {
    std::string text;
    for (const int64_t step : steps) text += (text.empty() ? "" : ", ") + std::to_string(step);
    return text.empty() ? "there is none" : "there are complete ones of step " + text;
}

struct Wanted {
    std::string there;
    fs::path here;
};

Wanted wanted_checkpoint(SshSession& first, const RemoteRun& remote, const RunDirectory& run, int64_t step,
                         const fs::path& to) {
    const std::vector<int64_t> steps = checkpoints_there(first, remote);
    if (std::find(steps.begin(), steps.end(), step) == steps.end())
        throw Error(Failure::Usage, "there is no complete checkpoint of step " + std::to_string(step),
                    "--checkpoint", steps_text(steps));
    const std::string name = checkpoint_name(step);
    return {remote.nodes[0].run_dir + "/checkpoints/" + name, (to.empty() ? run.checkpoints() : to) / name};
}

Wanted wanted_model(SshSession& first, const RemoteRun& remote, const RunDirectory& run, const fs::path& to) {
    const std::optional<RunState> state = remote_state(first, remote);
    if (!state || state->state != RunPhase::Completed)
        throw Error(
            Failure::Refused,
            "is " + std::string(state ? to_string(state->state) : "not started") + " and has no final model",
            run.name(),
            "--checkpoint STEP brings a checkpoint: " + steps_text(checkpoints_there(first, remote)));
    const fs::path here = to.empty() ? fs::path(read_plan(run.plan().string()).config.output_dir) : to;
    check_output_dir(here, false);
    claim_output(here, run.dir, run.name());
    return {remote.output_dir(), here};
}

int run_fetch(const Arguments& arguments, const Session& session) {
    const SshPerson person = person_at_terminal(arguments.has("--trust-on-first-use"));
    const RunDirectory run = run_here_or_there(arguments, session);
    if (!is_remote(run))
        throw Error(
            Failure::Usage,
            "is on this machine: " + run.checkpoints().string() + " and its output_dir hold what it made",
            run.name());
    const std::string asked = arguments.text("--to");
    const fs::path to = asked.empty() ? fs::path() : absolute_path(asked);
    const Interrupts interrupts;
    ProgressPrinter printer(session, interrupts);
    const RemoteRun remote = read_remote_run(run);
    SshSession first(ssh_settings(parse_target(remote.nodes[0].target)), person);
    const auto step = arguments.whole("--checkpoint", 0);
    const Wanted wanted =
        step ? wanted_checkpoint(first, remote, run, *step, to) : wanted_model(first, remote, run, to);
    const Fetched fetched = fetch_folder(first, wanted.there, wanted.here, printer.progress());
    printer.clear();
    if (session.json) {
        print_json({{"path", wanted.here.string()},
                    {"files", fetched.files},
                    {"bytes", fetched.bytes},
                    {"received_bytes", fetched.received}});
    } else {
        print(format_count(fetched.files) + (fetched.files == 1 ? " file, " : " files, ") +
              format_bytes(fetched.bytes) + " (" + format_bytes(fetched.received) +
              " of it came now), each verified by its hash, in " + printable(wanted.here.string()) + "\n");
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
