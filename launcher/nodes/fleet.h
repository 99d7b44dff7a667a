/// Several machines at once: a thread and a session for each.
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

/// A machine of a run. Its session is used by one thread at a time.
struct Node {
    SshTarget target;
    SshSettings settings;
    NodeFacts facts;
    std::unique_ptr<SshSession> session;

    std::string name() const { return target.text(); }
};

/// Throws Error(Usage) for a name that is none, or that stands there twice.
std::vector<SshTarget> parse_targets(const std::vector<std::string>& names);

/// Runs `work` for each index in a thread of its own, at most eight at a time, and waits for all. Throws the
/// first (by index) Error of those that threw.
void for_each_at_once(size_t count, const std::function<void(size_t)>& work);

/// The person's answers, asked for by one thread at a time.
SshPerson one_at_a_time(const SshPerson& person);

/// Brings what a machine lacks: LibTorch. May throw Error and Cancelled.
using Remedy = std::function<void(Node&)>;

/// Connects and asks, and asks again after a remedy was needed and brought; `remedy` may be empty. Never
/// throws for what a machine does; Cancelled.
NodeReport check_node(const SshTarget& target, const SshPerson& person, const ProgramNeeds& needs,
                      Node* kept = nullptr, const Remedy& remedy = {});

/// `kept`: where it is not null, the machines that were reached, each at its report's index.
std::vector<NodeReport> check_nodes(const std::vector<SshTarget>& targets, const SshPerson& person,
                                    const ProgramNeeds& needs, const Remedy& remedy = {},
                                    std::vector<Node>* kept = nullptr);

/// All of them, connected and able to train. Throws Error(Unreachable) naming every one that is not, each
/// with its next step.
std::vector<Node> connect_nodes(const std::vector<SshTarget>& targets, const SshPerson& person,
                                const ProgramNeeds& needs, const Remedy& remedy = {});

}  // namespace ringmaster
