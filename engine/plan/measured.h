/// Applies a measured run to a plan: an identical run replaces the estimate; a run of the same model and
/// options with another length or mesh recalibrates it.
///
/// Memory: weights, gradients and optimizer are exact; the rest is scaled by the measured run's measured ÷
/// predicted bytes. Time: computation is scaled by measured ÷ assumed seconds of the measured run, that is by
/// its time per operation. Link speeds do not change.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "engine/plan/plan.h"
#include "engine/plan/plan_request.h"

namespace ringmaster {

struct Recalibration {
    const Measurement* from = nullptr;  ///< points into the request
    bool is_same_run = false;

    double memory_ratio() const;   ///< measured ÷ predicted memory besides the states
    double compute_ratio() const;  ///< measured ÷ assumed seconds of computation
};

/// Returns the identical run, else the run of the same family with the nearest length. Returns nullopt if
/// none matches or if the plan is for several nodes, which were not measured.
std::optional<Recalibration> recalibration_of(const PlanRequest& request, const Plan& plan);

/// Returns a measurement with the keys that identify this plan and figures of 0. Needs the plan's model.
Measurement measurement_for(const Plan& plan);

nlohmann::json measurement_to_json(const Measurement& measurement);
Measurement measurement_from_json(const nlohmann::json& json);  ///< throws Error(Refused)

/// Returns a date such as "2026-11-21 20:15" in this machine's time zone.
std::string date_text(double unix_seconds);

}  // namespace ringmaster
