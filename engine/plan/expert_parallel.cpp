#include "engine/plan/expert_parallel.h"

#include <algorithm>

#include "engine/config/sequences_per_row.h"
#include "engine/families/layer_groups.h"

namespace ringmaster {

int64_t expert_elements(const ModelConfig& one) {
    int64_t elements = 0;
    for (const ParameterShape& shape : parameter_shapes(one))
        if (is_of_stacked_experts(shape.role)) elements += shape.size();
    return elements;
}

std::optional<ReceivedTokens> received_tokens(const Plan& plan) {
    if (plan.mesh.expert == 1 || !plan.model || plan.sequence.per_rank == 0) return std::nullopt;
    const int64_t tokens = plan.batch.micro * sequences_per_row(plan.config) * plan.sequence.per_rank;
    const int64_t per_token = plan.model->experts_per_token;
    const int64_t of_part = std::min(per_token, plan.model->num_experts / plan.mesh.expert);
    return ReceivedTokens{tokens * per_token, plan.mesh.expert * tokens * of_part};
}

}  // namespace ringmaster
