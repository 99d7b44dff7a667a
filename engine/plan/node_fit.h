/// Says whether a plan does not fit because of its nodes' host memory or disks, rather than its devices.
#pragma once

#include <algorithm>

#include "engine/plan/plan.h"

namespace ringmaster {

/// Returns the finding that a node's host memory or disk is too small; null if there is none.
inline const Diagnostic* node_lacks(const Plan& plan) {
    const auto found =
        std::find_if(plan.diagnostics.begin(), plan.diagnostics.end(), [](const Diagnostic& said) {
            return said.code == "MEM-FIT" && (said.form == "host" || said.form == "disk");
        });
    return found == plan.diagnostics.end() ? nullptr : &*found;
}

}  // namespace ringmaster
