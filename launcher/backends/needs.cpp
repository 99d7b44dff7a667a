#include "launcher/backends/needs.h"

#include <map>
#include <memory>
#include <mutex>

#include "launcher/base/engine_files.h"

namespace ringmaster {

Progress summed(const Progress& progress) {
    struct Sum {
        std::mutex turn;
        std::map<std::string, ProgressStep> nodes;
    };
    Progress one = progress;
    if (!progress.step) return one;
    one.step = [sum = std::make_shared<Sum>(), step = progress.step](const ProgressStep& now) {
        const std::lock_guard lock(sum->turn);
        if (now.code != kSending) return step(now);
        sum->nodes[now.with.front()] = now;
        if (sum->nodes.size() == 1) return step(now);
        ProgressStep all{"send-nodes", {std::to_string(sum->nodes.size())}, 0, 0, now.is_bytes};
        for (const auto& [name, node] : sum->nodes) {
            all.done += node.done;
            all.total += node.total;
        }
        step(all);
    };
    return one;
}

Remedy remedy_of(const std::optional<LibTorchWay>& way, const Places& places, const Progress& progress) {
    return way ? libtorch_remedy(*way, program_needs(places), places, summed(progress)) : Remedy();
}

ProgramNeeds program_needs(const Places& places) {
    ProgramNeeds needs = needs_of(engine_file(places).string(), RINGMASTER_TORCH_VERSION);
    needs.torch_here = libtorch_dir(places).string();
    return needs;
}

}  // namespace ringmaster
