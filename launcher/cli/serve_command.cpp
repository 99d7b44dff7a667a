// serve: shows runs in a browser, which can only read them.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "engine/error.h"
#include "launcher/cli/interrupts.h"
#include "launcher/cli/look_commands.h"
#include "launcher/serve/run_hub.h"
#include "launcher/serve/server.h"

namespace ringmaster {

namespace {

constexpr int64_t kLastPort = 65535;

ServeOptions options_of(const Arguments& arguments) {
    ServeOptions options;
    if (arguments.has("--bind")) options.address = arguments.text("--bind");
    const int64_t port = arguments.whole("--port", 0).value_or(0);
    if (port > kLastPort) throw Error(Failure::Usage, Code("ARGUMENT-VALUE"), "ends at 65535", "--port");
    options.port = static_cast<int>(port);
    constexpr std::array<std::string_view, 6> kEverywhere{"", "0", "0.0.0.0", "*", "::", "[::]"};
    if (std::ranges::count(kEverywhere, options.address) > 0)
        throw Error(Failure::Usage, Code("ARGUMENT-VALUE"), "names no single address", "--bind",
                    "give the address that the browser reaches, such as 192.168.1.7");
    return options;
}

std::unique_ptr<RunHub> hub_of(const Arguments& arguments, const CommandContext& session) {
    const bool all = arguments.has("--all");
    if (all != arguments.operand().empty())
        throw Error(Failure::Usage, Code("ARGUMENT-MISSING"), "takes a RUN, or --all", "serve");
    if (all) return std::make_unique<RunHub>(runs_dir_of(arguments, session));
    return std::make_unique<RunHub>(run_of(arguments, session));
}

int run_serve(const Arguments& arguments, const CommandContext& session) {
    const ServeOptions options = options_of(arguments);
    const auto hub = hub_of(arguments, session);
    const Interrupts interrupts;
    const RunServer server(*hub, options);
    if (session.json) {
        print_line({{"type", "serve"}, {"address", server.address()}});
    } else {
        print(server.address() + "\n");
        complain("Whoever has this address can read the runs. Ctrl-C ends the server; the runs go on.\n");
    }
    while (!interrupts.wants_end() && !interrupts.hung_up()) interrupts.wait(kPollMs);
    return 0;
}

}  // namespace

Command serve_command() {
    CommandSpec spec{
        "serve",
        "RUN",
        false,
        "Shows a run in a browser, live and read-only, on this machine's loopback address. The address "
        "holds a token; without it nothing is shown.",
        {runs_dir_option(), json_option()},
        "exit status: 0 ended by Ctrl-C; 2 no such run; 3 the port cannot be used"};
    spec.options.push_back({"--all", "", "show all runs"});
    spec.options.push_back({"--port", "N", "listen on this port (default: a free one)"});
    spec.options.push_back({"--bind", "ADDRESS", "listen on this address of the machine (127.0.0.1)"});
    return {std::move(spec), run_serve, true};
}

}  // namespace ringmaster
