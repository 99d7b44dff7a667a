#include "engine/plan/plan.h"

namespace ringmaster {

const char* to_string(Verdict verdict) {
    constexpr const char* kWords[] = {"fits", "tight", "will_not_fit", "invalid", "unknown"};
    return kWords[static_cast<size_t>(verdict)];
}

const char* to_string(Preflight preflight) {
    return preflight == Preflight::None ? "none" : preflight == Preflight::Only ? "only" : "before";
}

const char* to_string(MemoryBasis basis) {
    return basis == MemoryBasis::Measured       ? "measured"
           : basis == MemoryBasis::Recalibrated ? "recalibrated"
                                                : "formula";
}

}  // namespace ringmaster
