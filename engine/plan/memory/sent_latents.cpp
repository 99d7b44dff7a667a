#include "engine/plan/memory/sent_latents.h"

namespace ringmaster {

bool products_vary(const Quantization& quantization, const Lora& lora) {
    return quantization.format == WeightFormat::Int8 || (lora.on() && lora.dropout > 0);
}

int64_t sent_latent_width(const ModelConfig& model, const KeyTravel& travel) {
    const bool goes_round = travel.ring > 1 && travel.ulysses == 1 && travel.gathered_heads == 0;
    if (!model.latent.on() || !goes_round || travel.chunks > 1 || travel.varies) return 0;
    const int64_t width = model.latent.rank + model.latent.rotary_width;
    return width < 2 * model.num_heads * model.head_dim ? width : 0;
}

int64_t sent_latent_width(const MemoryInputs& in) {
    return sent_latent_width(in.model, {in.ring, in.ulysses, in.gathered_heads, in.chunks,
                                        products_vary(in.quantization, in.lora)});
}

int64_t sent_latent_width(const Plan& plan) {
    const bool gathers = plan.context_parallel.layout == RingAttnFunc::VarlenLlama3;
    return sent_latent_width(*plan.model,
                             {plan.mesh.ring, plan.mesh.ulysses, gathers ? 1 : 0, plan.sequence.chunks,
                              products_vary(plan.config.quantization, plan.config.lora)});
}

}  // namespace ringmaster
