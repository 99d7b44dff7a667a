#include "launcher/nodes/fleet.h"

#include <atomic>
#include <exception>
#include <set>
#include <thread>

namespace ringmaster {

std::vector<SshTarget> parse_targets(const std::vector<std::string>& names) {
    std::vector<SshTarget> targets;
    std::set<std::string> seen;
    for (const std::string& name : names) {
        targets.push_back(parse_target(name));
        if (!seen.insert(targets.back().text()).second)
            throw Error(Failure::Usage, Code("ARGUMENT-CONFLICT"), targets.back().text() + " is named twice",
                        "--node", "each node once; --ranks says how many in total");
    }
    return targets;
}

void for_each_at_once(size_t count, const std::function<void(size_t)>& work) {
    std::vector<std::exception_ptr> problems(count);
    std::atomic<size_t> next = 0;
    std::vector<std::thread> threads;
    for (size_t i = 0; i < std::min(count, size_t{kMachinesAtOnce}); ++i) {
        threads.emplace_back([&] {
            for (size_t index; (index = next++) < count;) {
                try {
                    work(index);
                } catch (...) {
                    problems[index] = std::current_exception();
                }
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& problem : problems) {
        if (problem) std::rethrow_exception(problem);
    }
}

SshPerson one_at_a_time(const SshPerson& person) {
    const auto turn = std::make_shared<std::mutex>();
    SshPerson one;
    one.given_up = person.given_up;
    if (person.ask) {
        one.ask = [ask = person.ask, turn](const LoginPrompt& prompt) {
            const std::lock_guard lock(*turn);
            return ask(prompt);
        };
    }
    if (person.trust_unknown) {
        one.trust_unknown = [trust = person.trust_unknown, turn](const UnknownHostKey& key) {
            const std::lock_guard lock(*turn);
            return trust(key);
        };
    }
    return one;
}

namespace {

/// Reports a machine as unreachable. If the problem is a jump host's, the message names that host.
NodeReport unreachable(const std::string& host, const Error& problem, const NodeFinding& finding) {
    NodeReport report;
    report.host = host;
    const bool is_itself = problem.where == host || problem.where.empty();
    report.message = is_itself ? problem.what() : problem.where + ": " + problem.what();
    report.next = problem.hint;
    report.finding = finding;
    if (!is_itself) report.through = problem.where;
    return report;
}

void check(NodeReport& report, Node& node, const SshPerson& person, const ProgramNeeds& needs,
           const Remedy& remedy) {
    const std::string host = node.name();
    node.settings = ssh_settings(node.target);
    node.session = std::make_unique<SshSession>(node.settings, person);
    node.facts = ask_node(*node.session, needs);
    report = judge_node(host, node.facts, needs);
    if (remedy && lacks_libtorch(report)) {
        remedy(node);
        node.facts = ask_node(*node.session, needs);
        report = judge_node(host, node.facts, needs);
    }
    report.ignored = node.settings.ignored;
}

}  // namespace

NodeReport check_node(const SshTarget& target, const SshPerson& person, const ProgramNeeds& needs, Node* kept,
                      const Remedy& remedy) {
    Node node;
    node.target = target;
    NodeReport report;
    try {
        check(report, node, person, needs, remedy);
        if (kept != nullptr) *kept = std::move(node);
    } catch (const NodeError& problem) {
        report = unreachable(target.text(), problem, problem.finding);
    } catch (const Error& problem) {
        report = unreachable(target.text(), problem, {});
    }
    return report;
}

std::vector<NodeReport> check_nodes(const std::vector<SshTarget>& targets, const SshPerson& person,
                                    const ProgramNeeds& needs, const Remedy& remedy,
                                    std::vector<Node>* kept) {
    std::vector<NodeReport> reports(targets.size());
    const SshPerson one = one_at_a_time(person);
    if (kept != nullptr) kept->resize(targets.size());
    for_each_at_once(targets.size(), [&](size_t i) {
        reports[i] = check_node(targets[i], one, needs, kept == nullptr ? nullptr : &(*kept)[i], remedy);
    });
    return reports;
}

namespace {

std::string problems_of(const std::vector<NodeReport>& reports) {
    std::string problems;
    for (const NodeReport& report : reports)
        problems += (problems.empty() ? "" : "\n") + report.host + ": " + report.message +
                    (report.next.empty() ? "" : "\n  " + report.next);
    return problems;
}

}  // namespace

NodesError::NodesError(std::vector<NodeReport> reports_, const std::string& hint_)
    : Error(Failure::Unreachable, Code("NODE-UNREACHABLE"), problems_of(reports_), {}, hint_),
      reports(std::move(reports_)) {}

std::vector<Node> connect_nodes(const std::vector<SshTarget>& targets, const SshPerson& person,
                                const ProgramNeeds& needs, const Remedy& remedy) {
    std::vector<Node> nodes;
    std::vector<NodeReport> reports = check_nodes(targets, person, needs, remedy, &nodes);
    std::erase_if(reports, [](const NodeReport& report) { return report.can_train(); });
    if (!reports.empty()) throw NodesError(std::move(reports));
    return nodes;
}

}  // namespace ringmaster
