// A line of JSON cut into its members: accepted where nlohmann-json accepts an object, with the same members.
#include "engine/events/flat_json.h"

#include <nlohmann/json.hpp>

#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace ringmaster;
    const std::string_view line = fuzz::text_of(data, size);
    std::vector<JsonMember> members;
    if (!split_object(line, members)) return 0;
    const auto whole = nlohmann::json::parse(line, nullptr, false);
    fuzz::require(whole.is_object());
    for (const JsonMember& member : members) {
        double_of(member.value);
        integer_of(member.value);
        text_of(member.value);
        fuzz::require(nlohmann::json::accept(member.value));
    }
    return 0;
}
