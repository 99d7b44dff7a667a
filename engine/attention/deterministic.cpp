#include "engine/attention/deterministic.h"

#include <ATen/Context.h>

#include <mutex>

namespace ringmaster {

namespace {

std::mutex mutex;
int holders = 0;

void set_deterministic(bool on) {
    at::globalContext().setDeterministicFillUninitializedMemory(false);  // saves the time to fill new tensors
    at::globalContext().setDeterministicAlgorithms(on, false);
}

}  // namespace

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
