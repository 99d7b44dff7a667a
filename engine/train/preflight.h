/// Proves, before a run spends the night, that the mesh computes what one rank would: the run's first rows,
/// cut to what the budget allows, each document alone on one rank and all of them on the mesh. Compared are
/// the loss, every layer's gradient, gradients of queries, keys and values at sampled tokens, and what the
/// ranks' shares add up to; then one document is changed and no other document's outputs may change, not by
/// a bit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/comm/groups.h"
#include "engine/data/tokens.h"
#include "engine/model/lora.h"
#include "engine/plan/plan.h"

namespace ringmaster {

struct PreflightReport {
    struct LayerError {
        std::string layer;          ///< "embedding", "0", …, "head"
        double relative_error = 0;  ///< ‖mesh − reference‖ ÷ ‖reference‖
    };

    std::string proved;  ///< mesh and layout
    int64_t rows = 0;    ///< on so many rows,
    int64_t tokens = 0;  ///< cut to so many tokens
    double loss_reference = 0, loss_mesh = 0;
    std::vector<LayerError> gradients;
    std::vector<LayerError> attention;  ///< dq, dk and dv at sampled tokens of the first and last layer
    bool leak = false;
    double bound = 0;  ///< of every relative error but the loss's, which has a tenth of it
    double seconds = 0;
    std::string failure;  ///< empty: passed

    bool ok() const { return failure.empty(); }
    std::string summary() const;  ///< one line for the log
};

nlohmann::json report_to_json(const PreflightReport& report);

struct PreflightBudget {
    double seconds = 60;
    double share_of_run = 0.05;
};

/// All ranks together; the same report on each. `first_rows` are those of the run's next step, `steps` how
/// many it has. Parameters stay as they are, gradients do not. A small proof comes first; what it leaves of
/// the budget goes into one on longer rows.
PreflightReport preflight(const Plan& plan, Groups& groups, TrainedModel& trained, const TokenFile& tokens,
                          const std::vector<int64_t>& first_rows, int64_t steps,
                          const PreflightBudget& budget = {});

/// preflight.json of a run. `passed_before`: it says that this plan's mesh and layout have passed already.
bool passed_before(const std::filesystem::path& file, const Plan& plan);
void write_report(const std::filesystem::path& file, const PreflightReport& report);

}  // namespace ringmaster
