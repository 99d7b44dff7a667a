// Fuzzes the facts that a machine reports about itself: numbers are not negative, paths are empty or valid on
// a node, and lists stay below their limits.
#include "engine/error.h"
#include "launcher/nodes/facts.h"
#include "launcher/nodes/from_node.h"
#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace ringmaster;
    const NodeFacts facts = parse_facts(std::string(fuzz::text_of(data, size)));
    fuzz::require(facts.cores >= 0 && facts.memory_bytes >= 0 && facts.available_bytes >= 0);
    fuzz::require(facts.disk_free_bytes >= 0 && facts.gpus.size() <= 1024 && facts.infiniband.size() <= 64);
    for (const std::string& path : {facts.data_dir, facts.home, facts.libtorch})
        fuzz::require(path.empty() || is_node_path(path));
    for (const NodeGpu& gpu : facts.gpus) fuzz::require(gpu.memory_bytes >= 0 && gpu.users.size() <= 64);
    judge_node("gpu1", facts, {"x86_64", "2.36", "2.11.0", ""});
    return 0;
}
