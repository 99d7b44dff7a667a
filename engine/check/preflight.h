/// Proves, before a long run starts, that the mesh trains as one rank would. Preflight takes some of the
/// run's next rows, shortened to fit the budget, and compares the trainer's step with the plain model
/// (plain_model.h). The plain model shares no kernel, layout, chunk or tile with the mesh. The comparison
/// covers the loss, the gradient norm, every tensor's gradient, and gradients of queries, keys and values at
/// sampled tokens. It also covers the weights that each rank computes with and the sums of the ranks' shares.
/// Then preflight changes one document: no bit of another document's outputs may change.
///
/// Training in bfloat16 is proved twice: in float32 on the same mesh, which reveals small faults, and in
/// bfloat16. Products of 8-bit inputs are proved separately (int8_check.h), and everything else with
/// dequantised weights.
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
#include "engine/optimizers/optimizer.h"
#include "engine/plan/plan.h"

namespace ringmaster {

struct PreflightReport {
    struct LayerError {
        std::string layer;          ///< "embedding", "0", …, "head"
        double relative_error = 0;  ///< ‖mesh − reference‖ ÷ ‖reference‖ of the worst tensor
        std::string tensor;         ///< name of the worst tensor
    };
    /// Holds the float32 proof of a bfloat16 run.
    struct Float32Proof {
        double loss_mesh = 0;
        double worst = 0;  ///< largest relative error of any gradient
        double bound = 0;
    };

    std::string proved;  ///< mesh and layout
    std::string of;    ///< identity of the proved run (proof_identity): configuration, mesh, model and engine
    int64_t rows = 0;  ///< number of rows used
    int64_t tokens = 0;  ///< length to which each row was cut, in tokens
    double loss_reference = 0, loss_mesh = 0;
    double norm_reference = 0, norm_mesh = 0;
    std::vector<LayerError> gradients;
    std::vector<LayerError> attention;  ///< errors of dq, dk, dv at sampled tokens, in first and last layer
    std::optional<Float32Proof> float32;
    std::string float32_left_out;  ///< reason why a bfloat16 run has no float32 proof
    bool leak = false;
    double bound = 0;  ///< bound of every relative error; the loss has a tenth of this bound
    double seconds = 0;
    std::string failure;   ///< fault that was found; if set, the run must not start
    std::string unproved;  ///< reason why nothing could be proved

    bool ok() const { return failure.empty() && unproved.empty(); }
    std::string summary() const;  ///< one line for the log
};

nlohmann::json report_to_json(const PreflightReport& report);

struct PreflightBudget {
    double seconds = 60;
    double share_of_run = 0.05;
    double at_least = 5;  ///< minimum budget in seconds, if the share gives less
};

/// Holds the subject of a proof: a run's model and optimizer, and its next rows.
struct PreflightSubject {
    TrainedModel& trained;
    Optimizer& optimizer;
    const TokenFile& tokens;
    std::vector<int64_t> next_rows;
    int64_t completed_steps = 0;
    int64_t steps_left = 0;
};

/// Runs the proof on all ranks together; each rank gets the same report. Changes gradients, but not weights
/// or optimizer, except under Preflight::Only, which also makes and proves an update. A proof on short rows
/// comes first; a second proof on longer rows uses the rest of the budget.
PreflightReport preflight(const Plan& plan, Groups& groups, const PreflightSubject& subject,
                          const PreflightBudget& budget = {});

/// Returns everything that a proof depends on, as text: a run that differs in any of it is proved again.
/// Leaves out data, learning rate, and when to save, log and evaluate.
std::string proof_identity(const Plan& plan);

/// Returns whether `file`, a run's preflight.json, holds a passed proof with this plan's identity.
bool passed_before(const std::filesystem::path& file, const Plan& plan);
void write_report(const std::filesystem::path& file, const PreflightReport& report);

}  // namespace ringmaster
