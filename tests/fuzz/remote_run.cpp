// Fuzzes remote.json of a run directory or a node: the record holds two files per rank, one file per node,
// and the file of samples.
#include "launcher/nodes/remote_run.h"
#include "engine/error.h"
#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace ringmaster;
    try {
        const RemoteRun remote = parse_remote_run(std::string(fuzz::text_of(data, size)), "remote.json");
        size_t record = 0;
        for (size_t i = 0; i < remote.nodes.size(); ++i) record += record_files(remote.nodes[i], i).size();
        fuzz::require(record == remote.nodes.size() + 2 * static_cast<size_t>(remote.ranks) +
                                    1);  // + 1: the file of samples
    } catch (const Error&) {
        return 0;
    }
    return 0;
}
