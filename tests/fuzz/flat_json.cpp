// Fuzzes the reader of a JSON line's members: nlohmann-json must read every accepted line as an object, too.
#include "engine/events/flat_json.h"

#include <nlohmann/json.hpp>

#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace ringmaster;
    const std::string_view line = fuzz::text_of(data, size);
    JsonMembers members(line), before = members;
    bool holds_large_number = false;  // too large for a double: valid JSON, but nlohmann-json refuses it
    for (JsonMember member; members.next(member); before = members) {
        JsonMember again;
        if (before.next_if(member.key, again))
            fuzz::require(again.key == member.key && again.value == member.value);
        const bool is_number = member.value.find_first_of("-0123456789") == 0;
        const bool is_text = member.value.front() == '"';
        const bool is_large = is_number && !double_of(member.value);
        fuzz::require(is_large || nlohmann::json::accept(member.value));
        if (is_number && !is_large)
            fuzz::require(double_of(member.value) == nlohmann::json::parse(member.value).get<double>());
        fuzz::require(text_of(member.value).has_value() == is_text);
        integer_of(member.value);
        holds_large_number = holds_large_number || is_large;
    }
    fuzz::require(!members.is_whole() || holds_large_number ||
                  nlohmann::json::parse(line, nullptr, false).is_object());
    return 0;
}
