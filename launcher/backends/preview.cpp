#include "launcher/backends/preview.h"

#include <nlohmann/json.hpp>

namespace ringmaster {

namespace {

std::string nccl_text(const std::vector<NcclSetting>& settings) {
    std::string text;
    for (const NcclSetting& it : settings) text += "  " + to_text(it) + "\n";
    return text;
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

}  // namespace ringmaster
