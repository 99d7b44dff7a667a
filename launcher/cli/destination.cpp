#include "launcher/cli/destination.h"

#include "engine/error.h"
#include "launcher/cli/commands.h"

namespace ringmaster {

std::vector<OptionSpec> destination_options() {
    return {{"--node", "HOST", "[user@]host[:port], a machine for the ranks, reached by SSH", true},
            {"--slurm", "key=value",
             "submit the run to Slurm, here or on the login node --node: partition, account,\ntime, gres, "
             "nodes, "
             "ntasks-per-node, signal, and any other long option of sbatch",
             true},
            {"--trust-on-first-use", "", "accept host keys of --node that are not known yet"},
            libtorch_option()};
}

Destination destination_of(const Arguments& arguments) {
    Destination to = arguments.has("--slurm")
                         ? slurm_destination(arguments.all("--slurm"), arguments.all("--node"))
                         : Destination{arguments.all("--node"), std::nullopt};
    to.libtorch = libtorch_of(arguments);
    return to;
}

void refuse_contradictions(const Arguments& arguments) {
    for (const char* option : {"--trust-on-first-use", "--libtorch"}) {
        if (arguments.has(option) && !arguments.has("--node"))
            throw Error(Failure::Usage, Code("ARGUMENT-CONFLICT"),
                        "is about the nodes of --node, and none is named", option);
    }
    const size_t named = arguments.all("--node").size();
    if (named > 0 && !arguments.has("--slurm") &&
        arguments.whole("--nodes", 1).value_or(static_cast<int64_t>(named)) != static_cast<int64_t>(named))
        throw Error(Failure::Usage, Code("ARGUMENT-CONFLICT"),
                    "is not the number of machines that --node names", "--nodes");
    const bool restarts = arguments.whole("--restarts", 0).value_or(0) > 0;
    if (restarts && arguments.has("--slurm")) {
        throw Error(Failure::Usage, Code("ARGUMENT-CONFLICT"), "is not for jobs of Slurm", "--restarts",
                    "Slurm starts them again by itself where it has warned them; `ringmaster resume RUN` "
                    "continues others");
    }
    if (restarts && named > 1 && arguments.has("--detach")) {
        throw Error(Failure::Usage, Code("ARGUMENT-CONFLICT"),
                    "over several nodes needs this command to stay", "--restarts",
                    "leave --detach away: the run itself goes on without this command, and with its "
                    "terminal closed");
    }
    if (arguments.has("--shrink") && (!restarts || named < 2))
        throw Error(Failure::Usage, Code("ARGUMENT-CONFLICT"), "is about --restarts over several --node",
                    "--shrink");
}

}  // namespace ringmaster
