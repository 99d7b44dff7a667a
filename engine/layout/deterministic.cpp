#include "engine/layout/deterministic.h"

#include <cstdlib>

#include "engine/error.h"

namespace ringmaster {

namespace {

constexpr const char* kSwitch = "RINGMASTER_CUDA_DETERMINISTIC";

}  // namespace

bool deterministic_named(const std::string& value) {
    if (value != "0" && value != "1")
        throw Error(Failure::Usage, Code("ENGINE-SWITCH"), "'" + value + "' is neither 0 nor 1", kSwitch,
                    "0 is the default; 1 is slower, and a repeated run gives the same bits");
    return value == "1";
}

bool cuda_is_deterministic() {
    static const bool deterministic = [] {
        const char* value = std::getenv(kSwitch);
        return value != nullptr && deterministic_named(value);
    }();
    return deterministic;
}

}  // namespace ringmaster
