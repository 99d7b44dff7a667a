#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/plan_text.h"
#include "launcher/prepare.h"

namespace ringmaster {

namespace {

int run_plan(const Arguments& arguments, const Session& session) {
    for (const char* later : {"--measure", "--timeline"}) {
        if (arguments.has(later))
            throw Error(Failure::Usage, std::string(later) + " is not built yet", {},
                        "without it the plan uses assumed device figures");
    }
    const Proposal proposal = propose(request_of(arguments), this_machine(), session.places);
    if (session.json) {
        print_json(plan_to_json(proposal.plan));
    } else if (proposal.reading.readable) {
        print(plan_text(proposal.plan, session.out));
    } else {
        complain(diagnostics_text(proposal.plan.diagnostics, session.err, Severity::Error));
    }
    return !proposal.reading.readable ? 2 : proposal.plan.ok() ? 0 : 1;
}

}  // namespace

Command plan_command() {
    CommandSpec spec{"plan",
                     "CONFIG",
                     true,
                     "What an axolotl (or accelerate) YAML means on a number of ranks: mesh, batch, memory, "
                     "time, and what is wrong with it.",
                     request_options(),
                     "exit status: 0 no error, 1 the plan has an error, 2 missing file or malformed YAML"};
    spec.options.push_back({"--measure", "", "not built yet"});
    spec.options.push_back({"--timeline", "FILE", "not built yet"});
    return {std::move(spec), run_plan};
}

}  // namespace ringmaster
