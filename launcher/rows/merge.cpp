#include "launcher/rows/merge.h"

#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "launcher/base/child.h"
#include "launcher/base/files.h"
#include "launcher/rows/short_lived_folder.h"

namespace ringmaster {

void merge_adapter(const Config& config, const std::filesystem::path& to, const Places& places,
                   const Progress& progress) {
    const ShortLivedFolder folder("merge");
    const std::filesystem::path request = folder.path() / "config.json";
    write_file(request, config_to_json(config).dump());
    const ChildProgram engine{places.engine().string(),
                              {"--merge", request.string(), "--to", to.string()},
                              "ringmaster-engine --merge",
                              "`ringmaster --version` tells whether the engine starts"};
    try {
        run_child(engine, {}, progress);
    } catch (const Error& problem) {
        if (problem.code != "PROGRAM-FAILED") throw;
        // The engine started but failed: the adapter, the base or the disk is at fault.
        throw Error(Failure::Refused, Code(kMergeCode), problem.what());
    }
}

}  // namespace ringmaster
