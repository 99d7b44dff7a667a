// Traces the heads of multi-head latent attention: allocates the same memory as
// engine/model/latent_machine.cpp. Heads are padded to head_dim, and so are keys and values if ranks send
// them.
#include "engine/plan/memory/sent_latents.h"
#include "engine/plan/memory/trace_machine.h"

namespace ringmaster {

Traced TraceMachine::join_heads(const Traced& q_nw, const Traced&, const Traced&) const {
    return take(q_nw.rows(), 3 * double(model().num_heads * model().head_dim), "queries, keys and values",
                MemoryPart::Activations);
}

TraceMachine::SplitHeads TraceMachine::split_heads(const Traced& dqkv_nw) const {
    const LatentSizes& sizes = model().latent;
    const double heads = double(model().num_heads), rows = dqkv_nw.rows();
    return {take(rows, heads * double(sizes.key_width())),
            take(rows, heads * double(sizes.plain_width + sizes.value_width)),
            take(rows, double(sizes.rotary_width))};
}

bool TraceMachine::sends_latents() const {
    return sent_latent_width(in_) > 0;
}

TraceMachine::SentLatents TraceMachine::sent_latents(const Traced& latents_nr, const Traced&) const {
    return {take(latents_nr.rows(), double(sent_latent_width(in_))), {}, false};
}

Traced TraceMachine::latents_like(const Traced& rotary_nr) const {
    const LatentSizes& sizes = model().latent;
    return take(rotary_nr.rows(), double(sizes.query_rank + sizes.rank + sizes.rotary_width));
}

Traced TraceMachine::without_padding(const Traced& heads_nw) const {
    if (model().value_width() == model().head_dim) return heads_nw;
    return take(in_.tokens(), double(model().num_heads * model().value_width()));
}

Traced TraceMachine::with_padding(Traced values_nw) const {
    if (model().value_width() == model().head_dim) return values_nw;
    return take(in_.tokens(), double(model().num_heads * model().head_dim), gradient_name(LoraSite::Output));
}

}  // namespace ringmaster
