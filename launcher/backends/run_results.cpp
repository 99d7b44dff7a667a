#include "launcher/backends/run_results.h"

#include <algorithm>

#include "engine/error.h"
#include "engine/events/output_claim.h"
#include "engine/files/checkpoints.h"
#include "engine/plan/resolve/plan_json.h"
#include "launcher/run/prepare.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

std::string steps_text(const std::vector<int64_t>& steps) {
    std::string text;
    for (const int64_t step : steps) text += (text.empty() ? "" : ", ") + std::to_string(step);
    return text.empty() ? "there is none" : "there are complete ones of step " + text;
}

}  // namespace

struct RunResults::Wanted {
    std::string there;
    fs::path here;
};

RunResults::Wanted RunResults::checkpoint(int64_t step, const fs::path& to) {
    const std::vector<int64_t> steps = checkpoints_there(first_, remote_);
    if (std::find(steps.begin(), steps.end(), step) == steps.end())
        throw Error(Failure::Usage, Code("RUN-CHECKPOINT"),
                    "there is no complete checkpoint of step " + std::to_string(step), "--checkpoint",
                    steps_text(steps));
    const std::string name = checkpoint_name(step);
    return {remote_.nodes[0].run_dir + "/checkpoints/" + name, (to.empty() ? run_.checkpoints() : to) / name};
}

RunResults::Wanted RunResults::model(const fs::path& to) {
    const std::optional<RunState> state = remote_state(first_, remote_);
    if (!state || state->state != RunPhase::Completed)
        throw Error(
            Failure::Refused, Code("RUN-ACTIVE"),
            "is " + std::string(state ? to_string(state->state) : "not started") + " and has no final model",
            run_.name(),
            "--checkpoint STEP brings a checkpoint: " + steps_text(checkpoints_there(first_, remote_)));
    const fs::path here = to.empty() ? fs::path(read_plan(run_.plan().string()).config.output_dir) : to;
    check_output_dir(here, false);
    claim_output(here, run_.dir, run_.name());
    return {remote_.output_dir(), here};
}

FetchOffer RunResults::offer() {
    FetchOffer offer;
    if (const auto state = remote_state(first_, remote_)) offer.state = state->state;
    offer.has_model = offer.state == RunPhase::Completed;
    offer.checkpoints = checkpoints_there(first_, remote_);
    return offer;
}

FetchedRun RunResults::fetch(std::optional<int64_t> step, const fs::path& to, const Progress& progress) {
    const Wanted wanted = step ? checkpoint(*step, to) : model(to);
    const FetchedRun fetched{wanted.here, fetch_folder(first_, wanted.there, wanted.here, progress)};
    if (const std::string damage = step ? damage_of(wanted.here) : ""; !damage.empty())
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "is damaged on the node too: " + damage,
                    wanted.here.string(), steps_text(checkpoints_there(first_, remote_)));
    return fetched;
}

}  // namespace ringmaster
