// Fuzzes a node's list of a folder to fetch (names have no folder, the sum of the sizes does not overflow),
// its list of checkpoints, and its rendezvous.
#include "engine/error.h"
#include "launcher/nodes/from_node.h"
#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace ringmaster;
    const std::string text(fuzz::text_of(data, size));
    for (const int64_t step : parse_checkpoints(text)) fuzz::require(step >= 0);
    fuzz::require(parse_meeting(text).find_first_of(" \n\x1b") == std::string::npos);
    try {
        const Manifest manifest = parse_manifest(text);
        int64_t bytes = 0;
        for (const auto& [name, file] : manifest.files) {
            fuzz::require(is_result_name(name) && name.find('/') == std::string::npos && name[0] != '.');
            fuzz::require(file.size >= 0 && file.hash.size() == 64);
            bytes += file.size;
        }
        fuzz::require(bytes == manifest.bytes && bytes >= 0);
    } catch (const Error&) {
        return 0;
    }
    return 0;
}
