// Fuzzes the list of runs that another machine sends: every program is in that node's data folder, and no
// node has a name to connect to.
#include "launcher/backends/runs_there.h"

#include "engine/error.h"
#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace ringmaster;
    const RunsThere there = parse_runs_there(std::string(fuzz::text_of(data, size)), "gpu1");
    for (const RunThere& run : there.runs) {
        check_run_name(run.id);
        check_run_name(run.run.name);
        if (!run.remote) continue;
        fuzz::require(run.node < run.remote->nodes.size());
        for (const RemoteNode& node : run.remote->nodes) {
            fuzz::require(!node.is_named());
            fuzz::require(node.agent.empty() || node.agent.starts_with(there.data_dir + "/programs/"));
        }
    }
    return 0;
}
