#include "engine/config/config.h"

namespace ringmaster {

const char* to_string(Precision precision) {
    switch (precision) {
        case Precision::Bf16Mixed: return "bf16";
        case Precision::Bf16Full: return "bf16_full";
        case Precision::Float32: break;
    }
    return "fp32";
}

}  // namespace ringmaster
