#include "launcher/backends/preview.h"

#include <nlohmann/json.hpp>

#include "engine/translatable.h"

namespace ringmaster {

namespace {

/// Renders a preview in one language.
class Text {
  public:
    Text(const LaunchPreview& preview, const Translate& translate)
        : preview_(preview),
          say_(translate ? translate : [](const char* text) { return std::string(text); }) {}

    std::string of_slurm() const {
        return run_dir(QT_TRANSLATE_NOOP("LaunchPreview", "(made by launch or prepare)")) + "\n" +
               shell_line({{}, preview_.submit}) + "\n\n" + preview_.script +
               (preview_.nccl.empty() ? "" : "\n" + told(preview_.nccl));
    }

    std::string of_this_machine() const {
        const NodeCommands& node = preview_.nodes.front();
        std::string text =
            run_dir(QT_TRANSLATE_NOOP("LaunchPreview", "(made by launch or prepare)")) + "\n" + node.host +
            ":\n  " + shell_line(node.agent) + "\n\n" +
            say_(QT_TRANSLATE_NOOP("LaunchPreview",
                                   "which starts, with MASTER_PORT and the port's open socket added:")) +
            "\n";
        for (const StartCommand& rank : node.ranks) text += "  " + shell_line(rank) + "\n";
        if (!node.nccl.empty()) text += "\n" + told(node.nccl);
        return text + "\n" + say_(QT_TRANSLATE_NOOP("LaunchPreview", "the same, without an agent:")) +
               "\n  " + preview_.torchrun + "\n";
    }

    std::string of_nodes() const {
        std::string text = run_dir(QT_TRANSLATE_NOOP("LaunchPreview", "(mirrors that of the nodes)"));
        for (size_t i = 0; i < preview_.nodes.size(); ++i) {
            const NodeCommands& node = preview_.nodes[i];
            text += "\n" + node.host + ":\n  " + shell_line(node.agent) +
                    (i == 0 ? "" : " --meet ADDRESS:PORT:PORT") + "\n";
            if (!node.nccl.empty()) text += told(node.nccl);
        }
        return text + "\n" + say_(QT_TRANSLATE_NOOP("LaunchPreview", "the same, without an agent:")) +
               "\n  " + preview_.torchrun + "\n" + restarts();
    }

  private:
    std::string run_dir(const char* note) const {
        return say_(QT_TRANSLATE_NOOP("LaunchPreview", "run directory:")) + " " + preview_.run.dir.string() +
               " " + say_(note) + "\n";
    }

    std::string told(const std::vector<NcclSetting>& settings) const {
        std::string text = say_(QT_TRANSLATE_NOOP("LaunchPreview", "whose ranks tell NCCL:")) + "\n";
        for (const NcclSetting& it : settings) text += "  " + to_text(it) + "\n";
        return text;
    }

    std::string restarts() const {
        const RestartLimits& limits = preview_.restarts;
        if (limits.restarts == 0) return "";
        const char* form =
            limits.may_shrink
                ? QT_TRANSLATE_NOOP(
                      "LaunchPreview",
                      "restarts after a failure: up to %1, by the program that launched the run, "
                      "as long as it follows it; nodes that are lost are left out")
                : QT_TRANSLATE_NOOP(
                      "LaunchPreview",
                      "restarts after a failure: up to %1, by the program that launched the run, "
                      "as long as it follows it");
        std::string text = say_(form);
        text.replace(text.find("%1"), 2, std::to_string(limits.restarts));
        return "\n" + text + "\n";
    }

    const LaunchPreview& preview_;
    const Translate say_;
};

}  // namespace

std::string preview_text(const LaunchPreview& preview, const Translate& translate) {
    const Text text(preview, translate);
    if (!preview.submit.empty()) return text.of_slurm();
    return preview.nodes.front().ranks.empty() ? text.of_nodes() : text.of_this_machine();
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
