/// What a measured run says about a plan: the very same run replaces the estimate, one of the same model and
/// options at another length or mesh recalibrates it.
///
/// Memory: weights, gradients and optimizer are exact; what is beyond them is scaled by measured ÷ predicted
/// of the measured run. Time: computation is scaled by measured ÷ assumed seconds of the measured run, that
/// is by its time per operation; links keep their figures.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "engine/plan/plan.h"

namespace ringmaster {

struct Recalibration {
    const Measurement* from = nullptr;  ///< of the request
    bool is_same_run = false;

    double memory_ratio() const;   ///< measured ÷ predicted of what is beyond the states
    double compute_ratio() const;  ///< measured ÷ assumed seconds
};

/// The same run, else the nearest in length of the same family; nullopt where nothing fits, or where the plan
/// is for several nodes: they were not measured.
std::optional<Recalibration> recalibration_of(const PlanRequest& request, const Plan& plan);

/// A measurement's keys for this plan; the rest is 0. Needs the plan's model.
Measurement measurement_for(const Plan& plan);

nlohmann::json measurement_to_json(const Measurement& measurement);
Measurement measurement_from_json(const nlohmann::json& json);  ///< throws Error(Refused)

/// "2026-11-21 20:15", in this machine's time.
std::string date_text(double unix_seconds);

}  // namespace ringmaster
