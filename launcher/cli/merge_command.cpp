// merge: merges an adapter into its base model's weights, with the engine.
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/interrupts.h"
#include "launcher/cli/live.h"
#include "launcher/rows/generate.h"
#include "launcher/rows/merge.h"

namespace ringmaster {

namespace {

namespace fs = std::filesystem;

Config config_of(const Arguments& arguments, const CommandContext& session) {
    const fs::path folder = absolute_path(arguments.operand());
    if (fs::exists(folder / "adapter_config.json"))
        return config_of_adapter(folder, arguments.text("--base"), kMergeCode);
    return config_of_trained_adapter(run_of(arguments, session), kMergeCode);
}

int run_merge(const Arguments& arguments, const CommandContext& session) {
    if (arguments.text("--to").empty())
        throw Error(Failure::Usage, Code("ARGUMENT-MISSING"), "is missing", "--to", "--to FOLDER");
    const std::string to = absolute_path(arguments.text("--to")).string();
    const Config config = config_of(arguments, session);
    const Interrupts interrupts;
    ProgressPrinter printer(session, interrupts);
    merge_adapter(config, to, session.places, printer.progress());
    printer.clear();
    if (session.json)
        print_json({{"path", to}});
    else
        print("the merged model is in " + to + "\n");
    return 0;
}

}  // namespace

Command merge_command() {
    return {{"merge",
             "RUN|ADAPTER",
             true,
             "Adds an adapter to its base model's weights and writes a whole model folder.",
             {{"--to", "DIR", "a new folder"},
              {"--base", "DIR", "the base model's folder, if the adapter names another place"},
              runs_dir_option(),
              json_option()},
             "ADAPTER is a folder that PEFT or a run saved. The adapter of a RUN is added to the weights "
             "with which it was trained: quantized "
             "weights are dequantized."},
            run_merge};
}

}  // namespace ringmaster
