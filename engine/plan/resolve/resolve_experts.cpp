// Divides experts among ranks: sets the mesh's `expert` and the ZeRO stage that it needs, and rejects
// settings that exclude it.
#include <algorithm>
#include <numeric>

#include "engine/families/layer_groups.h"
#include "engine/plan/resolve/resolve.h"

namespace ringmaster {

namespace {

constexpr const char* kKey = "expert_parallel_size";

std::vector<Fix> without_key() {
    return {{{{kKey, "", true}}}};
}

bool size_divides(const Plan& plan, int64_t parts, Findings& findings) {
    const int64_t experts = plan.model->num_experts, shards = plan.mesh.shards();
    if (experts % parts == 0 && shards % parts == 0) return true;
    const std::vector<int> sizes = divisors(std::gcd(experts, shards));
    findings.error(Form("MESH-EXPERTS", "divisor"), kKey,
                   {{"asked", parts}, {"experts", experts}, {"shards", shards}, {"sizes", as_list(sizes)}},
                   fixes_of_sizes(kKey, sizes, static_cast<int>(std::min<int64_t>(parts, 1 << 24))));
    return false;
}

/// Checks that the shards of a stacked tensor end at expert boundaries, so that no expert is split between
/// two expert-parallel parts.
bool slices_end_with_experts(const Plan& plan, Findings& findings) {
    const int shards = plan.mesh.shards();
    for (const LayerGroup& group : layer_groups(*plan.model)) {
        for (const ParameterShape& shape : parameter_shapes(group.one)) {
            if (!is_of_stacked_experts(shape.role)) continue;
            if (slice_elements(shape.size(), shards) * shards == shape.size()) continue;
            const std::string tensor = shape.name.substr(shape.name.find("experts"));
            findings.error(Form("MESH-EXPERTS", "slices"), kKey,
                           {{"tensor", tensor}, {"elements", shape.size()}, {"shards", shards}},
                           without_key());
            return false;
        }
    }
    return true;
}

/// Returns the form of MESH-EXPERTS that says which setting rules out expert parallelism, and the setting's
/// key.
std::pair<const char*, std::string> obstacle(const Config& config, const Findings& findings) {
    if (config.quantization.on() && config.quantization.experts)
        return {"quantized", findings.key_of({"quantize_moe_experts", "base_model"})};
    if (config.tiled_mlp) return {"tiled", "tiled_mlp"};
    return {nullptr, ""};
}

void divide(Plan& plan, int64_t parts, Findings& findings) {
    plan.mesh.expert = static_cast<int>(parts);
    if (plan.zero_stage < 3) findings.inform(Form("MESH-EXPERTS", "stage"), kKey, {});
    plan.zero_stage = 3;
}

}  // namespace

void resolve_experts(Plan& plan, Findings& findings) {
    const int64_t parts = plan.config.expert_parallel_size;
    if (parts <= 1) return;
    if (!plan.model) {  // the number of experts is not known yet
        if (plan.mesh.shards() % parts == 0) divide(plan, parts, findings);
        return;
    }
    if (plan.model->num_experts == 0)
        return findings.error(Form("MESH-EXPERTS", "dense"), kKey, {{"type", plan.model->model_type}},
                              without_key());
    if (!size_divides(plan, parts, findings) || !slices_end_with_experts(plan, findings)) return;
    if (const auto [form, key] = obstacle(plan.config, findings); form != nullptr)
        return findings.error(Form("MESH-EXPERTS", form), key, {}, without_key());
    divide(plan, parts, findings);
}

}  // namespace ringmaster
