// card and push: describe a trained model, and upload it to the Hugging Face hub.
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/interrupts.h"
#include "launcher/cli/live.h"
#include "launcher/publish/model_card.h"
#include "launcher/publish/push.h"

namespace ringmaster {

namespace {

namespace fs = std::filesystem;

int run_card(const Arguments& arguments, const CommandContext& session) {
    const ModelCard card = model_card(run_of(arguments, session));
    const std::string to = arguments.text("--to");
    if (!to.empty()) write_card(card, absolute_path(to), arguments.has("--overwrite"));
    if (session.json)
        print_json({{"card", card.text}, {"path", to.empty() ? "" : absolute_path(to).string()}});
    else
        print(to.empty() ? card.text : "the card is in " + (absolute_path(to) / "README.md").string() + "\n");
    return 0;
}

/// Returns the operand if it is the folder of a model. Otherwise the operand names a run: returns the folder
/// of that run's model, and adds a model card if it has none.
fs::path folder_of(const Arguments& arguments, const CommandContext& session) {
    const fs::path folder = absolute_path(arguments.operand());
    std::error_code none;
    if (fs::exists(folder / "config.json", none) || fs::exists(folder / "adapter_config.json", none))
        return folder;
    return model_with_card(run_of(arguments, session), fs::path(arguments.text("--to")).filename().string());
}

int run_push(const Arguments& arguments, const CommandContext& session) {
    if (arguments.text("--to").empty())
        throw Error(Failure::Usage, Code("ARGUMENT-MISSING"), "is missing", "--to", "--to OWNER/NAME");
    const Push push{folder_of(arguments, session), arguments.text("--to"), arguments.has("--private")};
    const Interrupts interrupts;
    ProgressPrinter printer(session, interrupts);
    const std::string url = push_folder(push, session.places, printer.progress());
    printer.clear();
    if (session.json)
        print_json({{"url", url}, {"path", push.folder.string()}});
    else
        print("the model is at " + url + "\n");
    return 0;
}

}  // namespace

Command card_command() {
    return {{"card",
             "RUN",
             true,
             "Writes a card of a trained model: its figures, loss, data, proof and configuration.",
             {{"--to", "DIR",
               "writes README.md and the loss's picture into this folder, instead of printing the card"},
              {"--overwrite", "", "replaces a README.md that is there"},
              runs_dir_option(),
              json_option()},
             ""},
            run_card};
}

Command push_command() {
    return {{"push",
             "RUN|FOLDER",
             true,
             "Uploads a trained model or adapter to the Hugging Face hub.",
             {{"--to", "OWNER/NAME", "the repository, which is made if it does not exist"},
              {"--private", "", "makes a private repository"},
              runs_dir_option(),
              json_option()},
             "Hugging Face Hub's own client uploads it, with the token of `hf auth login` or HF_TOKEN. A "
             "RUN's model "
             "gets a card "
             "first, if its folder has no README.md."},
            run_push};
}

}  // namespace ringmaster
