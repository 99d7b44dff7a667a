// nodes: can these machines train, and if not, what is to be done.
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "launcher/anywhere/launch.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/person.h"
#include "launcher/nodes/fleet.h"

namespace ringmaster {

namespace {

std::string report_text(const NodeReport& report, const Terminal& terminal) {
    const Ink& ink = terminal.ink;
    const std::string state = to_string(report.state);
    const std::string mark = report.state == NodeVerdict::Ready     ? ink.green(state)
                             : report.state == NodeVerdict::Warning ? ink.yellow(state)
                                                                    : ink.red(state);
    std::string text =
        ink.bold(printable(report.host)) + "  " + mark + "  " + printable(report.message) + "\n";
    if (!report.next.empty()) text += "  " + printable(report.next) + "\n";
    for (const std::string& directive : report.ignored)
        text += ink.dim("  of ~/.ssh/config without effect here: " + printable(directive)) + "\n";
    if (!report.facts) return text;
    for (const NodeGpu& gpu : report.facts->gpus) {
        text += "  GPU " + std::to_string(gpu.index) + "  " + printable(gpu.name) + "\n";
    }
    return text;
}

int run_nodes(const Arguments& arguments, const Session& session) {
    const std::vector<std::string> names = arguments.all("--node");
    if (names.empty())
        throw Error(Failure::Usage, "no node is named", "--node",
                    "ringmaster nodes --node [user@]host[:port] …");
    const std::vector<SshTarget> targets = parse_targets(names);
    const SshPerson person = person_at_terminal(arguments.has("--trust-on-first-use"));
    const ProgramNeeds needs = program_needs(session.places);
    const std::vector<NodeReport> reports = check_nodes(targets, person, needs);
    nlohmann::json list = nlohmann::json::array();
    bool all_good = true;
    for (const NodeReport& report : reports) {
        all_good = all_good && (report.state == NodeVerdict::Ready || report.state == NodeVerdict::Warning);
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
              json_option()},
             "Nothing secret is stored; hosts, users and keys come from ~/.ssh/config (RINGMASTER_SSH_CONFIG "
             "names another file).\n"
             "exit status: 0 all can train, 3 one cannot"},
            run_nodes};
}

}  // namespace ringmaster
