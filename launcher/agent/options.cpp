#include "launcher/agent/options.h"

#include <unistd.h>

#include <charconv>

#include "engine/error.h"

namespace ringmaster {

namespace fs = std::filesystem;

const char* const kAgentUsage =
    "usage: ringmaster-agent --run DIR --ranks N [--attempt N] [--resume auto|latest|none|STEP] [--engine "
    "PATH]\n"
    "                        [--restarts N] [--foreground]\n"
    "                        [--nodes N --node K --first-rank N --world-size N --listen ADDRESS | --meet "
    "ADDRESS:PORT:PORT]\n"
    "       ringmaster-agent --follow DIR --node K --first-rank N --ranks N [--have FILE=BYTES]... | --stop "
    "DIR "
    "[--now]\n"
    "       ringmaster-agent --track DIR [--sender node|launcher|any] [--with PID] | --trackers FILE\n"
    "       ringmaster-agent --alerts DIR [--ranks N]\n"
    "       ringmaster-agent --towards ADDRESS | --version | --help\n"
    "\n"
    "Starts the ranks of a run on this machine, supervises them and writes run.json. It continues in its own "
    "session,\n"
    "with messages in DIR/agent.log, unless --foreground is given. SIGTERM finishes the step, saves and "
    "stops; SIGUSR1\n"
    "(or a second SIGTERM) stops now. Exit status: 0 completed or stopped, 1 failed or refused, 2 unusable "
    "arguments,\n"
    "3 could not start.\n";

namespace {

int whole_number(const std::string& option, const std::string& text, int low, int high) {
    int value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size() || value < low || value > high) {
        throw Error(Failure::Usage, Code("ARGUMENT-VALUE"),
                    "\"" + text + "\" is not a whole number from " + std::to_string(low) + " to " +
                        std::to_string(high),
                    option);
    }
    return value;
}

void take(AgentOptions& options, const std::string& option, const std::string& value) {
    constexpr int kMaxAttempts = 1'000'000'000;
    if (option == "--run") options.run_dir = value;
    if (option == "--ranks") options.ranks = whole_number(option, value, 1, kMaxRanks);
    if (option == "--attempt") options.attempt = whole_number(option, value, 1, kMaxAttempts);
    if (option == "--resume") options.resume = value;
    if (option == "--engine") options.engine = value;
    if (option == "--restarts") options.restarts = whole_number(option, value, 0, kMaxAttempts);
    if (option == "--node") options.node = whole_number(option, value, 0, kMaxNodes - 1);
    if (option == "--nodes") options.nodes = whole_number(option, value, 1, kMaxNodes);
    if (option == "--first-rank") options.first_rank = whole_number(option, value, 0, kMaxNodes * kMaxRanks);
    if (option == "--world-size") options.world_size = whole_number(option, value, 1, kMaxNodes * kMaxRanks);
    if (option == "--listen") options.listen = value;
    if (option == "--meet") options.meet = value;
}

bool takes_value(const std::string& option) {
    for (const char* known : {"--run", "--ranks", "--attempt", "--resume", "--engine", "--node", "--nodes",
                              "--first-rank", "--world-size", "--listen", "--meet", "--restarts"}) {
        if (option == known) return true;
    }
    return false;
}

fs::path in_program_folder(const char* name) {
    std::error_code unknown;
    return fs::read_symlink("/proc/self/exe", unknown).parent_path() / name;
}

void check_usable(const AgentOptions& options) {
    std::error_code unknown;
    if (!fs::is_directory(options.run_dir, unknown)) {
        throw Error(Failure::Unreachable, Code("RUN-MISSING"), "is not a run directory",
                    options.run_dir.string(), "`ringmaster prepare CONFIG` makes one");
    }
    if (!fs::is_regular_file(options.engine, unknown)) {
        throw Error(Failure::Unreachable, Code("PROGRAM-MISSING"), "there is no engine here",
                    options.engine.string(), "--engine PATH names another");
    }
    if (::access(options.engine.c_str(), X_OK) != 0) {
        throw Error(Failure::Unreachable, Code("PROGRAM-MISSING"), "is not executable",
                    options.engine.string());
    }
}

}  // namespace

AgentOptions parse_agent_options(std::span<char* const> arguments) {
    AgentOptions options;
    for (size_t i = 0; i < arguments.size(); ++i) {
        const std::string option = arguments[i];
        if (option == "--foreground") {
            options.foreground = true;
            continue;
        }
        if (!takes_value(option))
            throw Error(Failure::Usage, Code("ARGUMENT-UNKNOWN"), "unknown argument \"" + option + "\"");
        if (i + 1 == arguments.size() || *arguments[i + 1] == '\0')
            throw Error(Failure::Usage, Code("ARGUMENT-MISSING"), "needs a value", option);
        take(options, option, arguments[++i]);
    }
    if (options.run_dir.empty()) throw Error(Failure::Usage, Code("ARGUMENT-MISSING"), "is missing", "--run");
    if (options.ranks == 0) throw Error(Failure::Usage, Code("ARGUMENT-MISSING"), "is missing", "--ranks");
    if (options.has_others() && (options.node == 0 ? options.listen : options.meet).empty())
        throw Error(Failure::Usage, Code("ARGUMENT-MISSING"), "is missing",
                    options.node == 0 ? "--listen" : "--meet");
    if (options.has_others() && options.restarts > 0)
        throw Error(Failure::Usage, Code("ARGUMENT-CONFLICT"), "is for the ranks of one machine",
                    "--restarts");
    if (options.engine.empty()) options.engine = in_program_folder("ringmaster-engine");
    options.run_dir = fs::absolute(options.run_dir).lexically_normal();
    if (!options.run_dir.has_filename()) options.run_dir = options.run_dir.parent_path();  // ends in a slash
    options.engine = fs::absolute(options.engine);
    check_usable(options);
    return options;
}

}  // namespace ringmaster
