/// Names a layer's norms and matrices; a matrix joins the modules that read the same input.
#pragma once

#include <cstddef>

namespace ringmaster {

enum class LoraSite { Qkv, Output, GateUp, Down, DeltaIn, DeltaOutput };
constexpr size_t kLoraSites = 6;

enum class NormSite { Input, Queries, Keys, AttentionOutput, Mlp, MlpOutput };
constexpr size_t kNormSites = 6;

/// Selects the targets [first, first + count) of kLoraTargets.
struct TargetRange {
    size_t first, count;
};

inline TargetRange targets_of(LoraSite site) {
    switch (site) {
        case LoraSite::Qkv:
            return {0, 3};
        case LoraSite::Output:
            return {3, 1};
        case LoraSite::GateUp:
            return {4, 2};
        case LoraSite::Down:
            return {6, 1};
        case LoraSite::DeltaIn:
            return {7, 6};
        case LoraSite::DeltaOutput:
            break;
    }
    return {13, 1};
}

}  // namespace ringmaster
