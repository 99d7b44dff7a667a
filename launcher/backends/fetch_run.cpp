#include "launcher/backends/fetch_run.h"

#include <algorithm>

#include "engine/error.h"
#include "engine/events/output_claim.h"
#include "engine/files/checkpoints.h"
#include "engine/plan/resolve/plan_json.h"
#include "launcher/backends/parts.h"
#include "launcher/run/prepare.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

RemoteRun remote_of(const RunDirectory& run) {
    if (!is_remote(run))
        throw Error(
            Failure::Usage, Code("ARGUMENT-CONFLICT"),
            "is on this machine: " + run.checkpoints().string() + " and its output_dir hold what it made",
            run.name());
    RemoteRun remote = read_remote_run(run);
    remote.require_named(0, "fetch", run.name());
    return remote;
}

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
        throw Error(Failure::Usage, Code("RUN-CHECKPOINT"),
                    "there is no complete checkpoint of step " + std::to_string(step), "--checkpoint",
                    steps_text(steps));
    const std::string name = checkpoint_name(step);
    return {remote.nodes[0].run_dir + "/checkpoints/" + name, (to.empty() ? run.checkpoints() : to) / name};
}

Wanted wanted_model(SshSession& first, const RemoteRun& remote, const RunDirectory& run, const fs::path& to) {
    const std::optional<RunState> state = remote_state(first, remote);
    if (!state || state->state != RunPhase::Completed)
        throw Error(
            Failure::Refused, Code("RUN-ACTIVE"),
            "is " + std::string(state ? to_string(state->state) : "not started") + " and has no final model",
            run.name(),
            "--checkpoint STEP brings a checkpoint: " + steps_text(checkpoints_there(first, remote)));
    const fs::path here = to.empty() ? fs::path(read_plan(run.plan().string()).config.output_dir) : to;
    check_output_dir(here, false);
    claim_output(here, run.dir, run.name());
    return {remote.output_dir(), here};
}

}  // namespace

bool makes_results_elsewhere(const RunDirectory& run) {
    return is_remote(run);
}

std::string model_elsewhere(const RunDirectory& run) {
    if (!is_remote(run)) return "";
    const RemoteRun remote = read_remote_run(run);
    const RemoteNode& first = remote.nodes.front();
    return first.is_named() ? first.target + ":" + remote.output_dir() : "";
}

FetchOffer fetch_offer(SshSession& first, const RunDirectory& run) {
    const RemoteRun remote = remote_of(run);
    FetchOffer offer;
    if (const auto state = remote_state(first, remote)) offer.state = state->state;
    offer.has_model = offer.state == RunPhase::Completed;
    offer.checkpoints = checkpoints_there(first, remote);
    return offer;
}

SshSession session_with_first(const RunDirectory& run, const SshPerson& person) {
    return session_with(remote_of(run).nodes.front(), person);
}

FetchedRun fetch_run(SshSession& first, const RunDirectory& run, std::optional<int64_t> step,
                     const fs::path& to, const Progress& progress) {
    const RemoteRun remote = remote_of(run);
    const Wanted wanted =
        step ? wanted_checkpoint(first, remote, run, *step, to) : wanted_model(first, remote, run, to);
    const FetchedRun fetched{wanted.here, fetch_folder(first, wanted.there, wanted.here, progress)};
    if (const std::string damage = step ? damage_of(wanted.here) : ""; !damage.empty())
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "is damaged on the node too: " + damage,
                    wanted.here.string(), steps_text(checkpoints_there(first, remote)));
    return fetched;
}

}  // namespace ringmaster
