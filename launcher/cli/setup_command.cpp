#include "launcher/base/setup.h"

#include <nlohmann/json.hpp>

#include "launcher/base/example.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/interrupts.h"
#include "launcher/cli/live.h"
#include "launcher/run/local_node.h"

namespace ringmaster {

namespace {

int run_setup(const Arguments&, const CommandContext& session) {
    const Interrupts interrupts;
    ProgressPrinter printer(session, interrupts);
    const bool already = is_set_up(session.places);
    set_up(session.places, printer.progress());
    const std::string example = make_example(session.places, printer.progress()).string();
    printer.clear();
    const std::string env = session.places.python_env.string();
    if (session.json) {
        print_json({{"ok", true}, {"environment", env}, {"example", example}});
    } else {
        print((already ? "everything is installed in " : "installed in ") + env +
              "\nan example to begin with: ringmaster launch " + shell_quoted(example) + "\n");
    }
    return 0;
}

}  // namespace

Command setup_command() {
    return {{"setup",
             "",
             false,
             "Installs LibTorch and the packages for tokenizing (3 GB to download), and makes an example; "
             "takes a second if they exist.",
             {json_option()},
             "exit status: 3 if a package could not be installed"},
            run_setup};
}

}  // namespace ringmaster
