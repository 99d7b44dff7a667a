// Fuzzes the parser of a node's follower output. Input fed whole and byte by byte must give the same frames,
// and each frame of a file must begin where the bytes received so far for that file end.
#include <map>

#include "engine/error.h"
#include "launcher/nodes/from_node.h"
#include "tests/fuzz/input_file.h"

namespace {

using namespace ringmaster;

const std::map<std::string, int64_t> kRecord = {
    {"agent.log", 0}, {"events/rank-00000.jsonl", 5}, {"logs/rank-00000.log", 0}};

/// Returns, as text, the frames before the first invalid one.
std::string frames_of(std::string_view text, size_t piece) {
    FollowFrames frames(kRecord);
    std::map<std::string, int64_t> bytes = kRecord;
    std::string found;
    try {
        for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
            frames.take(text.substr(0, piece));
            while (const auto frame = frames.next()) {
                found +=
                    std::to_string(static_cast<int>(frame->kind)) + frame->file + ":" + frame->bytes + "\n";
                if (frame->kind != FollowFrame::Kind::File) continue;
                fuzz::require(bytes.contains(frame->file) && bytes[frame->file] == frame->offset);
                bytes[frame->file] += static_cast<int64_t>(frame->bytes.size());
            }
        }
    } catch (const Error&) {
        return found + "refused";
    }
    return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text = ringmaster::fuzz::text_of(data, size);
    const std::string whole = frames_of(text, std::max<size_t>(1, size));
    if (size <= 4096) ringmaster::fuzz::require(frames_of(text, 1) == whole);
    return 0;
}
