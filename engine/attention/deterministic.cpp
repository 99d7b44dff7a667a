#include "engine/attention/deterministic.h"

#include <ATen/Context.h>

#include <cstdlib>
#include <mutex>

#include "engine/error.h"

namespace ringmaster {

namespace {

constexpr const char* kSwitch = "RINGMASTER_CUDA_DETERMINISTIC";

std::mutex mutex;
int holders = 0;

void set_deterministic(bool on) {
    at::globalContext().setDeterministicFillUninitializedMemory(false);  // else every new tensor is filled
    at::globalContext().setDeterministicAlgorithms(on, false);
}

}  // namespace

bool deterministic_named(const std::string& value) {
    if (value != "0" && value != "1")
        throw Error(Failure::Usage, Code("ENGINE-SWITCH"), "'" + value + "' is neither 0 nor 1", kSwitch,
                    "1 is the default; 0 is faster, and no two runs are alike");
    return value == "1";
}

bool cuda_is_deterministic() {
    static const bool deterministic = [] {
        const char* value = std::getenv(kSwitch);
        return value == nullptr || deterministic_named(value);
    }();
    return deterministic;
}

Deterministic::Deterministic(bool wanted) : wanted_(wanted) {
    if (!wanted_) return;
    const std::lock_guard lock(mutex);
    if (holders++ == 0) set_deterministic(true);
}

Deterministic::~Deterministic() {
    if (!wanted_) return;
    const std::lock_guard lock(mutex);
    if (--holders == 0) set_deterministic(false);
}

}  // namespace ringmaster
