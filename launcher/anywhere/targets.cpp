#include "launcher/anywhere/targets.h"

#include "engine/error.h"
#include "engine/events/event_log.h"
#include "launcher/backends/needs.h"
#include "launcher/backends/parts.h"
#include "launcher/nodes/fleet.h"
#include "launcher/slurm/site.h"

namespace ringmaster {

namespace {

std::string words_of(const SlurmPartition& partition) {
    std::string text = partition.name + " (" + std::to_string(partition.idle) + " of " +
                       std::to_string(partition.nodes) + " nodes idle";
    if (!partition.gres.empty()) text += ", " + partition.gres;
    return text + ", at most " + partition.time_limit + ")";
}

/// Reports which partitions take jobs, or else why Slurm takes none.
void judge_cluster(TargetReport& report) {
    std::string offers;
    for (const SlurmPartition& partition : report.partitions) {
        if (partition.is_up) offers += (offers.empty() ? "" : "; ") + words_of(partition);
    }
    if (!offers.empty())
        report.node.found(NodeVerdict::Ready, {"takes-jobs", {offers}});
    else
        report.node.found(NodeVerdict::Unusable,
                          {report.partitions.empty() ? "no-partition" : "no-partition-up"});
}

TargetReport check_cluster(const Target& target, const Places& places, const SshPerson& person,
                           const Remedy& remedy) {
    TargetReport report;
    std::vector<Node> login;
    if (target.host.empty()) {
        report.node.host = "Slurm";
    } else {
        login.resize(1);
        report.node =
            check_node(parse_target(target.host), person, program_needs(places), &login.front(), remedy);
        if (!report.node.can_train()) return report;
    }
    try {
        report.partitions = partitions_of(*site_at(login, places.runs_dir.string()));
        judge_cluster(report);
    } catch (const Error& problem) {
        report.node.found(NodeVerdict::Unreachable, {});
        report.node.message = problem.what();
        report.node.next = problem.hint;
    }
    return report;
}

}  // namespace

const char* to_string(TargetKind kind) {
    constexpr const char* kWords[] = {"here", "ssh", "slurm"};
    return kWords[static_cast<size_t>(kind)];
}

Target make_target(TargetKind kind, const std::string& host) {
    if (kind == TargetKind::Here || (kind == TargetKind::Slurm && host.empty())) return {kind, ""};
    return {kind, parse_target(host).text()};
}

TargetReport check_target(const Target& target, const Places& places, const SshPerson& person,
                          const Remedy& remedy) {
    TargetReport report;
    if (target.kind == TargetKind::Slurm)
        report = check_cluster(target, places, person, remedy);
    else if (target.kind == TargetKind::Ssh)
        report.node = check_node(parse_target(target.host), person, program_needs(places), nullptr, remedy);
    else
        report.node = check_this_machine(program_needs(places));
    report.checked = unix_now();
    return report;
}

}  // namespace ringmaster
