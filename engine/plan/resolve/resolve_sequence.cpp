#include <algorithm>

#include "engine/layout/layout.h"
#include "engine/percent.h"
#include "engine/plan/resolve/resolve.h"

namespace ringmaster {

namespace {

constexpr int64_t kLongest = int64_t{1} << 30;  // keeps the count of attention cells in range
constexpr double kWasteWorthAWarning = 0.1;

std::string length_key(const Plan& plan) {
    return plan.config.padding.fixed_length ? "sp_seq_length" : "sequence_len";
}

void say_padding(const Plan& plan, Findings& findings) {
    const int64_t length = plan.sequence.length, padded = plan.sequence.padded_length;
    if (padded == length) return;
    const double waste = double(padded - length) / double(padded);
    const int64_t multiple = length_multiple(plan.context_parallel.layout, plan.mesh.ring, plan.mesh.ulysses,
                                             plan.config.sequence_chunks != 1);
    FindingValues said{{"layout", to_string(plan.context_parallel.layout)},
                       {"multiple", multiple},
                       {"length", length},
                       {"padded", padded},
                       {"padding", percent(waste, 1)}};
    if (padded > multiple) said["shorter"] = padded - multiple;
    if (waste > kWasteWorthAWarning) {
        findings.warn(Form("SEQ-SHORT"), length_key(plan), std::move(said));
    } else {
        findings.inform(Form("SEQ-PADDED"), length_key(plan), std::move(said));
    }
}

void say_positions(const Plan& plan, Findings& findings) {
    if (!plan.model || plan.sequence.length <= plan.model->max_position_embeddings) return;
    findings.warn(Form("SEQ-POSITIONS"), length_key(plan),
                  {{"length", plan.sequence.length}, {"positions", plan.model->max_position_embeddings}});
}

}  // namespace

void resolve_sequence(Plan& plan, Findings& findings) {
    const Config& config = plan.config;
    if (config.accelerate_only && !config.padding.fixed_length) return;  // the length is unknown and stays 0
    const int64_t length = config.padding.fixed_length.value_or(config.sequence_len);
    if (length > kLongest) {
        findings.error(Form("SEQ-LENGTH"), length_key(plan), {{"length", length}, {"most", kLongest}});
        return;
    }
    SequencePlan& sequence = plan.sequence;
    sequence.length = length;
    sequence.padded_length = padded_length(plan.context_parallel.layout, length, plan.mesh.ring,
                                           plan.mesh.ulysses, config.sequence_chunks != 1);
    const int64_t ranks = plan.context_parallel.size;
    sequence.per_rank = (sequence.padded_length + ranks - 1) / ranks;
    sequence.chunks = std::clamp<int64_t>(config.sequence_chunks, 1, std::max<int64_t>(1, sequence.per_rank));
    say_padding(plan, findings);
    say_positions(plan, findings);
}

}  // namespace ringmaster
