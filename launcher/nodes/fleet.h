/// Works on several machines at once, with one thread and one session per machine.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/error.h"
#include "launcher/nodes/facts.h"

namespace ringmaster {

/// A machine of a run. Only one thread at a time may use its session.
struct Node {
    SshTarget target;
    SshSettings settings;
    NodeFacts facts;
    std::unique_ptr<SshSession> session;

    std::string name() const { return target.text(); }
};

/// Parses the names. Throws Error(Usage) for an invalid or repeated name.
std::vector<SshTarget> parse_targets(const std::vector<std::string>& names);

/// The number of machines to work on at a time: an sshd, including that of a gateway, accepts ten logins at a
/// time (MaxStartups).
constexpr int kMachinesAtOnce = 8;

/// Runs `work` for each index in threads, at most kMachinesAtOnce at a time, and waits for all. Then rethrows
/// the first (by index) exception, if any.
void for_each_at_once(size_t count, const std::function<void(size_t)>& work);

/// Wraps the user's prompts so that only one thread asks at a time.
SshPerson one_at_a_time(const SshPerson& person);

/// Installs LibTorch on a machine that lacks it. May throw Error and Cancelled.
using Remedy = std::function<void(Node&)>;

/// Connects to a machine and checks it; checks again if a remedy was needed and applied. `remedy` may be
/// empty. Throws only Cancelled; failures of the machine go into the report.
NodeReport check_node(const SshTarget& target, const SshPerson& person, const ProgramNeeds& needs,
                      Node* kept = nullptr, const Remedy& remedy = {});

/// Checks all machines. If `kept` is not null, it receives the reached machines, each at its report's index.
std::vector<NodeReport> check_nodes(const std::vector<SshTarget>& targets, const SshPerson& person,
                                    const ProgramNeeds& needs, const Remedy& remedy = {},
                                    std::vector<Node>* kept = nullptr);

/// Thrown if machines cannot be used: names each machine and what to do about it.
struct NodesError : Error {
    explicit NodesError(std::vector<NodeReport> reports_, const std::string& hint_ = {});
    std::vector<NodeReport> reports;  ///< reports of the machines that cannot train
};

/// Connects to all machines. Throws NodesError unless all can train.
std::vector<Node> connect_nodes(const std::vector<SshTarget>& targets, const SshPerson& person,
                                const ProgramNeeds& needs, const Remedy& remedy = {});

}  // namespace ringmaster
