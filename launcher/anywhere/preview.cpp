#include "launcher/anywhere/preview.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace ringmaster {

namespace {

/// Returns the NCCL settings of ranks on this machine, which inherit this program's environment.
std::vector<NcclSetting> nccl_here(const Plan& plan) {
    std::vector<NcclSetting> settings = planned_nccl_settings(plan);
    for (NcclSetting& it : settings) {
        if (const char* given = std::getenv(it.name.c_str())) it = {it.name, given, "as given"};
    }
    return settings;
}

/// Returns a node's NCCL settings: its ranks use the interface by which the node was reached.
std::vector<NcclSetting> nccl_on(const Node& node, const Plan& plan, size_t nodes) {
    if (nodes == 1) return planned_nccl_settings(plan);
    return shown_nccl_settings(plan, {false, node.facts.interface, node.facts.infiniband});
}

std::string nccl_text(const std::vector<NcclSetting>& settings) {
    std::string text;
    for (const NcclSetting& it : settings) text += "  " + to_text(it) + "\n";
    return text;
}

std::string torchrun_on_nodes(const RemoteRun& remote, const Plan& plan) {
    return "torchrun --no-python --nnodes " + std::to_string(remote.nodes.size()) + " --nproc-per-node " +
           std::to_string(plan.ranks / static_cast<int>(remote.nodes.size())) +
           " --node-rank N --master-addr " + remote.nodes[0].address + " -- ringmaster-engine --run DIR";
}

void preview_here(LaunchPreview& preview, const Proposal& proposal, const Machine& machine,
                  const Places& places) {
    const int ranks = proposal.plan.ranks;
    preview.nodes = {
        local_commands(preview.run, {ranks, 1, "none", proposal.request.restarts}, places, machine.cores)};
    preview.nodes.front().nccl = nccl_here(proposal.plan);
    preview.torchrun = torchrun_command(preview.run, ranks, places);
}

void preview_on_nodes(LaunchPreview& preview, const std::vector<Node>& nodes, const Proposal& proposal,
                      const Places& places) {
    const Plan& plan = proposal.plan;
    const RemoteRun remote = lay_out(nodes, preview.run, plan, places);
    const std::vector<StartCommand> commands = agent_commands(remote, 1, "none", proposal.request.restarts);
    for (size_t i = 0; i < commands.size(); ++i)
        preview.nodes.push_back(
            {remote.nodes[i].target, commands[i], {}, nccl_on(nodes[i], plan, remote.nodes.size())});
    preview.torchrun = torchrun_on_nodes(remote, plan);
    if (remote.nodes.size() > 1) preview.restarts = {proposal.request.restarts, proposal.request.shrink};
}

void preview_on_slurm(LaunchPreview& preview, const Reached& at, const Plan& plan, const Places& places) {
    const RemoteRun remote =
        at.nodes.empty() ? RemoteRun() : lay_out_at_login(at.nodes[0], preview.run, plan.ranks, places);
    const SlurmSubmission job =
        submission_of(preview.run, at.nodes.empty() ? nullptr : &remote, plan, *at.to.slurm, places);
    preview.script = submit_script(job);
    preview.run_dir_there = job.run_dir;
    preview.nccl = planned_nccl_settings(plan);
    preview.submit = {"sbatch", "--parsable", job.run_dir + "/" + kSubmitScript};
}

std::string commands_here_text(const LaunchPreview& preview) {
    const NodeCommands& node = preview.nodes.front();
    std::string text = "run directory: " + preview.run.dir.string() + " (made by launch or prepare)\n\n" +
                       node.host + ":\n  " + shell_line(node.agent) +
                       "\n\nwhich starts, with MASTER_PORT and the port's open socket added:\n";
    for (const StartCommand& rank : node.ranks) text += "  " + shell_line(rank) + "\n";
    if (!node.nccl.empty()) text += "\nwhich tell NCCL:\n" + nccl_text(node.nccl);
    return text + "\nthe same, without an agent:\n  " + preview.torchrun + "\n";
}

std::string restarts_text(const RestartWish& wish) {
    if (wish.restarts == 0) return "";
    return "\nafter a failure: up to " + std::to_string(wish.restarts) +
           (wish.restarts == 1 ? " restart" : " restarts") +
           " by the program that launched the run, as long as it follows it" +
           (wish.may_shrink ? "; nodes that are lost are left out\n" : "\n");
}

std::string commands_of_nodes_text(const LaunchPreview& preview) {
    std::string text = "run directory: " + preview.run.dir.string() + " (mirrors that of the nodes)\n";
    for (size_t i = 0; i < preview.nodes.size(); ++i) {
        const NodeCommands& node = preview.nodes[i];
        text += "\n" + node.host + ":\n  " + shell_line(node.agent) +
                (i == 0 ? "" : " --meet ADDRESS:PORT:PORT") + "\n";
        if (!node.nccl.empty()) text += "whose ranks tell NCCL:\n" + nccl_text(node.nccl);
    }
    return text + "\nthe same, without agents:\n  " + preview.torchrun + "\n" +
           restarts_text(preview.restarts);
}

}  // namespace

LaunchPreview preview_launch(const Reached& at, const Proposal& proposal, const RunOptions& options,
                             const Places& places) {
    const std::string name = options.name.empty() ? suggest_run_name(proposal.request.config) : options.name;
    LaunchPreview preview;
    preview.run.dir = next_run_directory(options.runs_dir.empty() ? places.runs_dir : options.runs_dir, name);
    if (at.to.is_here())
        preview_here(preview, proposal, at.machine, places);
    else if (at.to.slurm)
        preview_on_slurm(preview, at, proposal.plan, places);
    else
        preview_on_nodes(preview, at.nodes, proposal, places);
    return preview;
}

std::string preview_text(const LaunchPreview& preview) {
    if (!preview.submit.empty()) {
        return "run directory: " + preview.run.dir.string() + " (made by launch or prepare)\n\n" +
               shell_line({{}, preview.submit}) + "\n\n" + preview.script +
               (preview.nccl.empty() ? "" : "\nwhose ranks tell NCCL:\n" + nccl_text(preview.nccl));
    }
    return preview.nodes.front().ranks.empty() ? commands_of_nodes_text(preview)
                                               : commands_here_text(preview);
}

nlohmann::json preview_to_json(const LaunchPreview& preview) {
    nlohmann::json nodes = nlohmann::json::array();
    for (const NodeCommands& node : preview.nodes) nodes.push_back(commands_to_json(node));
    nlohmann::json json = {{"dir", preview.run.dir.string()}, {"nodes", std::move(nodes)}};
    if (preview.submit.empty()) {
        json["torchrun"] = preview.torchrun;
    } else {
        json["script"] = preview.script;
        json["submit"] = preview.submit;
        json["nccl"] = nccl_settings_to_json(preview.nccl);
    }
    return json;
}

void try_launch(Reached& at, const LaunchPreview& preview) {
    if (at.to.slurm) try_submission(*site_at(at, preview.run_dir_there), preview.script);
}

}  // namespace ringmaster
