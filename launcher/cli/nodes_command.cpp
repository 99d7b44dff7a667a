// nodes: checks if machines can train, and says what to do if not.
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "launcher/backends/needs.h"
#include "launcher/base/format.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/interrupts.h"
#include "launcher/cli/live.h"
#include "launcher/cli/person.h"
#include "launcher/nodes/deep.h"

namespace ringmaster {

namespace {

/// Returns "12.3 GB/s" or "11.6 MB/s".
std::string rate_text(double bytes_per_s) {
    return bytes_per_s >= 1e9 ? format_number(bytes_per_s / 1e9, 3) + " GB/s"
                              : format_number(bytes_per_s / 1e6, 3) + " MB/s";
}

std::string deep_text(const DeepReport& deep) {
    std::string passed;
    for (const std::string& part : deep.passed) passed += (passed.empty() ? "" : ", ") + part;
    std::string text = "  self-test passed in " + format_duration(deep.seconds) + " with LibTorch " +
                       printable(deep.libtorch) + ": " + printable(passed) + "\n  " +
                       printable(deep.interface) + " (" + printable(deep.address) +
                       ") leads to rank 0's node, " + printable(deep.towards) + "\n";
    for (const NodeLink& link : deep.links) {
        text += "  link with " + printable(link.to) + "  " +
                (link.problem.empty() ? rate_text(link.bytes_per_s) + " each way at once, " +
                                            format_number(1e6 * link.latency_s, 3) + " µs"
                                      : "none: " + printable(link.problem)) +
                "\n";
    }
    return text;
}

std::string report_text(const NodeReport& report, const Terminal& terminal) {
    const TextStyle& ink = terminal.ink;
    const std::string state = to_string(report.state);
    const std::string mark = report.state == NodeVerdict::Ready     ? ink.green(state)
                             : report.state == NodeVerdict::Warning ? ink.yellow(state)
                                                                    : ink.red(state);
    std::string text =
        ink.bold(printable(report.host)) + "  " + mark + "  " + printable(report.message) + "\n";
    if (!report.next.empty()) text += "  " + printable(report.next) + "\n";
    for (const std::string& directive : report.ignored)
        text += ink.dim("  of ~/.ssh/config without effect here: " + printable(directive)) + "\n";
    if (report.facts) {
        for (const NodeGpu& gpu : report.facts->gpus)
            text += "  GPU " + std::to_string(gpu.index) + "  " + printable(gpu.name) + "\n";
    }
    return report.deep ? text + deep_text(*report.deep) : text;
}

std::vector<NodeReport> check(const Arguments& arguments, const CommandContext& session) {
    const std::vector<SshTarget> targets = parse_targets(arguments.all("--node"));
    const std::optional<LibTorchWay> libtorch = libtorch_of(arguments);
    const Interrupts interrupts;
    ProgressPrinter printer(session, interrupts);
    SshPerson person = person_at_terminal(arguments.has("--trust-on-first-use"));
    person.given_up = [&interrupts] { return interrupts.wants_end(); };
    const Progress progress = printer.progress();
    const ProgramNeeds needs = program_needs(session.places);
    const Remedy remedy = remedy_of(libtorch, session.places, progress);
    std::vector<NodeReport> reports =
        arguments.has("--deep") ? try_nodes(targets, person, needs, remedy, session.places, progress)
                                : check_nodes(targets, person, needs, remedy);
    progress.stop_if_cancelled();
    return reports;
}

int run_nodes(const Arguments& arguments, const CommandContext& session) {
    const std::vector<std::string> names = arguments.all("--node");
    if (names.empty())
        throw Error(Failure::Usage, Code("ARGUMENT-MISSING"), "no node is named", "--node",
                    "ringmaster nodes --node [user@]host[:port] …");
    const std::vector<NodeReport> reports = check(arguments, session);
    nlohmann::json list = nlohmann::json::array();
    bool all_good = true;
    for (const NodeReport& report : reports) {
        all_good = all_good && report.can_train();
        if (session.json) {
            list.push_back(report_to_json(report));
        } else {
            print(report_text(report, session.out));
        }
    }
    if (session.json) print_json(list);
    return all_good ? 0 : static_cast<int>(Failure::Unreachable);
}

}  // namespace

Command nodes_command() {
    return {{"nodes",
             "",
             false,
             "Checks machines that are reached by SSH: key, login, system, GPUs, disk, LibTorch.",
             {{"--node", "HOST", "[user@]host[:port], an alias of ~/.ssh/config or an address", true},
              {"--trust-on-first-use", "", "accept host keys that are not known yet, and remember them"},
              {"--deep", "",
               "try them out: send the engine there, run its self-test, name the interface that leads\nto "
               "rank 0's node (the first), and measure the link of each pair (about 10 s for two)"},
              libtorch_option(),
              json_option()},
             "Nothing secret is stored; hosts, users and keys come from ~/.ssh/config (RINGMASTER_SSH_CONFIG "
             "names another file).\n"
             "--deep leaves the engine on the nodes for later launches, but no running process.\n"
             "exit status: 0 all machines can train, 3 one cannot, 130 interrupted"},
            run_nodes};
}

}  // namespace ringmaster
