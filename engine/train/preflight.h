/// Proves, before a run spends the night, that the mesh trains what one rank would: on some of the run's next
/// rows, cut to what the budget allows, the trainer's own step beside the plain model (plain_model.h), which
/// shares no kernel, layout, chunk or tile with it. Compared are the loss, the gradient norm, every tensor's
/// gradient, gradients of queries, keys and values at sampled tokens, the weights that each rank computes
/// with, and what the ranks' shares add up to. Then one document is changed and no other document's outputs
/// may change, not by a bit.
///
/// Training in bfloat16 is proved twice: in float32 on the same mesh, where a small fault stands out, and as
/// it trains.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/comm/groups.h"
#include "engine/data/tokens.h"
#include "engine/model/lora.h"
#include "engine/plan/plan.h"
#include "engine/train/optimizer.h"

namespace ringmaster {

struct PreflightReport {
    struct LayerError {
        std::string layer;          ///< "embedding", "0", …, "head"
        double relative_error = 0;  ///< ‖mesh − reference‖ ÷ ‖reference‖ of its worst tensor
        std::string tensor;         ///< that tensor's name
    };
    /// The proof in float32 of a run in bfloat16.
    struct Float32Proof {
        double loss_mesh = 0;
        double worst = 0;  ///< relative error of any gradient
        double bound = 0;
    };

    std::string proved;  ///< mesh and layout
    std::string of;      ///< all that the proof holds for: configuration, mesh, model and engine
    int64_t rows = 0;    ///< on so many rows,
    int64_t tokens = 0;  ///< cut to so many tokens
    double loss_reference = 0, loss_mesh = 0;
    double norm_reference = 0, norm_mesh = 0;
    std::vector<LayerError> gradients;
    std::vector<LayerError> attention;  ///< dq, dk and dv at sampled tokens of the first and last layer
    std::optional<Float32Proof> float32;
    std::string float32_left_out;  ///< why a run in bfloat16 has no proof in float32
    bool leak = false;
    double bound = 0;  ///< of every relative error but the loss's, which has a tenth of it
    double seconds = 0;
    std::string failure;   ///< what is off; such a run must not start
    std::string unproved;  ///< why nothing could be proved

    bool ok() const { return failure.empty() && unproved.empty(); }
    std::string summary() const;  ///< one line for the log
};

nlohmann::json report_to_json(const PreflightReport& report);

struct PreflightBudget {
    double seconds = 60;
    double share_of_run = 0.05;
    double at_least = 5;  ///< whatever the share
};

/// What is proved: a run's model and optimizer, and the rows that come next.
struct PreflightSubject {
    TrainedModel& trained;
    Optimizer& optimizer;
    const TokenFile& tokens;
    std::vector<int64_t> next_rows;
    int64_t completed_steps = 0;
    int64_t steps_left = 0;
};

/// All ranks together; the same report on each. Weights and optimizer stay as they are, except under
/// Preflight::Only, where one update is made and proved too; gradients do not. A small proof comes first;
/// what it leaves of the budget goes into one on longer rows.
PreflightReport preflight(const Plan& plan, Groups& groups, const PreflightSubject& subject,
                          const PreflightBudget& budget = {});

/// All that a proof depends on, as text: a run that differs in any of it is proved again. Data, learning
/// rate, and when to save, log and evaluate are left out.
std::string proof_identity(const Plan& plan);

/// preflight.json of a run. `passed_before`: it holds a proof with this plan's identity.
bool passed_before(const std::filesystem::path& file, const Plan& plan);
void write_report(const std::filesystem::path& file, const PreflightReport& report);

}  // namespace ringmaster
