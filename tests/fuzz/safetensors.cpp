// Fuzzes the header of a safetensors file: every accepted tensor lies inside the file.
#include "engine/files/safetensors.h"
#include "engine/error.h"
#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace ringmaster;
    static const fuzz::InputFile file;
    file.hold(data, size);
    try {
        const SafetensorsFile tensors(file.path());
        for (const auto& [name, info] : tensors.tensors()) {
            const auto bytes = tensors.bytes(name);
            fuzz::require(static_cast<int64_t>(bytes.size()) == info.bytes());
            if (bytes.empty()) continue;
            [[maybe_unused]] const volatile std::byte first = bytes.front(), last = bytes.back();
        }
    } catch (const Error&) {
        return 0;
    }
    return 0;
}
