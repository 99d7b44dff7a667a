#include "launcher/agent/options.h"

#include <unistd.h>

#include "engine/error.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

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

const CommandSpec& agent_command() {
    static const CommandSpec spec = {
        "",
        "",
        false,
        "Starts the ranks of a run on this machine, supervises them and writes run.json. It continues in\n"
        "its own session, with messages in DIR/agent.log, unless --foreground is given. SIGTERM finishes\n"
        "the step, saves and stops; SIGUSR1 (or a second SIGTERM) stops now.",
        {{"--run", "DIR", "run directory that `ringmaster prepare` made"},
         {"--ranks", "N", "ranks of this machine"},
         {"--attempt", "N", "number of the attempt (default: one more than the last)"},
         {"--resume", "WHICH", "checkpoint to resume from: auto, latest, none or its step"},
         {"--engine", "PATH", "the engine (default: ringmaster-engine beside this program)"},
         {"--restarts", "N", "most restarts after failures"},
         {"--foreground", "", "stay in this session"},
         {"--nodes", "N", "machines of the run"},
         {"--node", "K", "number of this machine, from 0"},
         {"--first-rank", "N", "first rank of this machine"},
         {"--world-size", "N", "ranks of all machines"},
         {"--listen", "ADDRESS", "address at which machine 0 waits for the others"},
         {"--meet", "ADDRESS:PORT:PORT", "what machine 0 printed, for the others"},
         {"--follow", "DIR", "write what a run's files hold, and what is added, to stdout"},
         {"--have", "FILE=BYTES", "bytes of a file that --follow leaves out", true},
         {"--stop", "DIR", "ask the run's agent to save and stop"},
         {"--now", "", "with --stop: stop without saving"},
         {"--track", "DIR", "send a run's steps to its trackers"},
         {"--sender", "WHO", "send only to the trackers of node, launcher or any (default)"},
         {"--with", "PID", "end when that process does"},
         {"--trackers", "FILE", "show which trackers of the file this machine can reach"},
         {"--alerts", "DIR", "deliver a run's alerts"},
         {"--towards", "ADDRESS", "show the network interface that leads to an address"},
         {"--version", "", "show the version"},
         {"--help", "", "show this help"}},
        "Exit status: 0 completed or stopped, 1 failed or refused, 2 unusable arguments, 3 could not start.",
        "ringmaster-agent",
        {"--run DIR --ranks N [--attempt N] [--resume WHICH] [--engine PATH] [--restarts N] [--foreground]",
         "--run DIR --ranks N … --nodes N --node K --first-rank N --world-size N (--listen … | --meet …)",
         "--follow DIR --node K --first-rank N --ranks N [--have FILE=BYTES]…", "--stop DIR [--now]",
         "--track DIR [--sender WHO] [--with PID]", "--trackers FILE", "--alerts DIR [--ranks N]",
         "--towards ADDRESS", "--version | --help"}};
    return spec;
}

AgentOptions agent_options(const Arguments& given) {
    constexpr int kMaxAttempts = 1'000'000'000;
    const auto number = [&](const char* option, int least, int most, int otherwise) {
        return static_cast<int>(given.whole(option, least, most).value_or(otherwise));
    };
    AgentOptions options;
    options.run_dir = given.text("--run");
    options.ranks = number("--ranks", 1, kMaxRanks, 0);
    if (given.has("--attempt")) options.attempt = number("--attempt", 1, kMaxAttempts, 1);
    if (given.has("--resume")) options.resume = given.text("--resume");
    options.engine = given.text("--engine");
    options.restarts = number("--restarts", 0, kMaxAttempts, 0);
    options.foreground = given.has("--foreground");
    options.node = number("--node", 0, kMaxNodes - 1, 0);
    options.nodes = number("--nodes", 1, kMaxNodes, 1);
    options.first_rank = number("--first-rank", 0, kMaxNodes * kMaxRanks, 0);
    options.world_size = number("--world-size", 1, kMaxNodes * kMaxRanks, 0);
    options.listen = given.text("--listen");
    options.meet = given.text("--meet");
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
    // a path that ends in a slash has no file name
    if (!options.run_dir.has_filename()) options.run_dir = options.run_dir.parent_path();
    options.engine = fs::absolute(options.engine);
    check_usable(options);
    return options;
}

}  // namespace ringmaster
