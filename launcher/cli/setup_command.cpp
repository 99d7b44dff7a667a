#include "launcher/setup.h"

#include <nlohmann/json.hpp>

#include "launcher/cli/commands.h"
#include "launcher/cli/interrupts.h"
#include "launcher/cli/live.h"

namespace ringmaster {

namespace {

int run_setup(const Arguments&, const Session& session) {
    const Interrupts interrupts;
    ProgressPrinter printer(session, interrupts);
    const bool already = is_set_up(session.places);
    set_up(session.places, printer.progress());
    printer.clear();
    const std::string env = session.places.python_env.string();
    if (session.json) {
        print_json({{"ok", true}, {"environment", env}});
    } else {
        print((already ? "everything is installed in " : "installed in ") + env + "\n");
    }
    return 0;
}

}  // namespace

Command setup_command() {
    return {{"setup",
             "",
             false,
             "Makes the Python environment that tokenizing needs; takes a second where it is there.",
             {json_option()},
             "exit status: 3 where a package could not be installed"},
            run_setup};
}

}  // namespace ringmaster
