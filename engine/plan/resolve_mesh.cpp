#include <algorithm>

#include "engine/plan/resolve.h"

namespace ringmaster {

namespace {

/// Sizes as asked for, none left out.
struct Sizes {
    int64_t dp_replicate = 1;
    int64_t dp_shard = 1;
    int64_t context = 1;
};

const char* kContextKey = "context_parallel_size";

std::string context_key(const Findings& findings) {
    return findings.key_of({kContextKey, "sequence_parallel_degree"});
}

/// "2: global batch 8, 4,096 tokens a rank; 4: …"
std::string effect_of_sizes(const Plan& plan) {
    const Config& config = plan.config;
    const int64_t length = config.padding.fixed_length.value_or(config.sequence_len);
    std::string text;
    for (const int size : divisors(plan.ranks)) {
        const auto global =
            product({config.micro_batch_size, config.gradient_accumulation_steps, plan.ranks / size});
        text += (text.empty() ? "" : "; ") + std::to_string(size) + ": global batch " +
                grouped(global.value_or(0));
        if (!config.accelerate_only) text += ", " + grouped((length + size - 1) / size) + " tokens a rank";
    }
    return text;
}

/// Dividing ranks is asked of context_parallel_size alone first: it says more than the product does.
bool context_divides(const Plan& plan, int64_t context, Findings& findings) {
    if (plan.ranks % context == 0) return true;
    findings.error(
        "CP-DIVISOR", context_key(findings),
        "context_parallel_size " + grouped(context) + " does not divide " + counted(plan.ranks, "rank"),
        "sizes that work with " + counted(plan.ranks, "rank") + ": " + effect_of_sizes(plan) +
            "; or --ranks " + grouped(context));
    return false;
}

std::string times(const Sizes& sizes) {
    return grouped(sizes.dp_replicate) + " × " + grouped(sizes.dp_shard) + " × " + grouped(sizes.context);
}

/// What each size alone would have to be.
std::string sizes_that_work(const Sizes& sizes, int64_t ranks, const std::string& context_name) {
    std::string text;
    const auto offer = [&](const std::string& name, int64_t Sizes::*size) {
        Sizes changed = sizes;
        changed.*size = 1;
        const int64_t others = product({changed.dp_replicate, changed.dp_shard, changed.context}).value_or(0);
        if (others == 0 || ranks % others != 0) return;
        changed.*size = ranks / others;
        text += (text.empty() ? "" : ", or ") + name + ": " + grouped(changed.*size) + " (" + times(changed) +
                ")";
    };
    offer("dp_shard_size", &Sizes::dp_shard);
    offer(context_name, &Sizes::context);
    offer("dp_replicate_size", &Sizes::dp_replicate);
    const auto asked = product({sizes.dp_replicate, sizes.dp_shard, sizes.context});
    if (asked) text += (text.empty() ? "" : ", or ") + std::string("--ranks ") + std::to_string(*asked);
    return text;
}

/// accelerate's page on sequence parallelism shows `--dp-shard-size 8 --sp-size 8` on 8 GPUs, and axolotl's
/// on n-d parallelism the like, as if the shards were counted over all ranks.
std::string contradiction(const Sizes& sizes, int64_t ranks) {
    if (sizes.dp_shard != ranks || sizes.context != ranks || ranks == 1) return "";
    return ". accelerate's page shows such a command (dp_shard_size 8 with sp_size 8 on 8 GPUs) and asks on "
           "the "
           "same page that the product equal num_processes: the product rule holds";
}

bool product_matches(const Plan& plan, const Sizes& sizes, Findings& findings) {
    const auto asked = product({sizes.dp_replicate, sizes.dp_shard, sizes.context});
    if (asked == plan.ranks) return true;
    const std::string key =
        findings.key_of({"dp_shard_size", "dp_replicate_size", kContextKey, "sequence_parallel_degree"});
    findings.error("MESH-PRODUCT", key,
                   "dp_replicate_size × dp_shard_size × context_parallel_size = " + times(sizes) + " = " +
                       (asked ? grouped(*asked) : "far more") + ", but there are " +
                       counted(plan.ranks, "rank") + contradiction(sizes, plan.ranks),
                   sizes_that_work(sizes, plan.ranks, context_key(findings)));
    return false;
}

bool ulysses_divides(int64_t ulysses, int64_t context, Findings& findings) {
    if (context % ulysses == 0) return true;
    findings.error(
        "CP-ULYSSES", "ulysses_size",
        "ulysses_size " + grouped(ulysses) + " does not divide context_parallel_size " + grouped(context),
        "sizes that work: " + joined(divisors(context)));
    return false;
}

RingAttnFunc resolve_layout(const Config& config, int64_t context) {
    if (context == 1) return RingAttnFunc::BatchRing;  // one rank holds all: nothing to lay out
    switch (config.ring_attn_func) {
        case RingAttnFunc::Default:
            return config.sample_packing ? RingAttnFunc::VarlenLlama3 : RingAttnFunc::BatchRing;
        case RingAttnFunc::Auto:
            return config.sample_packing ? RingAttnFunc::Balanced : RingAttnFunc::BatchZigzag;
        default:
            return config.ring_attn_func;
    }
}

Sizes asked_sizes(const Plan& plan) {
    const Config& config = plan.config;
    Sizes sizes;
    sizes.context = std::max<int64_t>(1, config.context_parallel_size);
    sizes.dp_replicate = std::max<int64_t>(1, config.dp_replicate_size);
    sizes.dp_shard = config.dp_shard_size;
    if (sizes.dp_shard > 0) return sizes;
    const int64_t others = product({sizes.dp_replicate, sizes.context}).value_or(0);
    sizes.dp_shard = others > 0 && plan.ranks % others == 0 ? plan.ranks / others : 1;
    return sizes;
}

int clamped(int64_t size) {
    return static_cast<int>(std::min<int64_t>(size, 1 << 24));
}

}  // namespace

bool resolve_mesh(Plan& plan, Findings& findings) {
    const Sizes sizes = asked_sizes(plan);
    const int64_t ulysses = std::max<int64_t>(1, plan.config.ulysses_size);
    ContextParallel& cp = plan.context_parallel;
    cp.size = clamped(sizes.context);
    cp.layout = resolve_layout(plan.config, sizes.context);
    cp.heads_k_stride = plan.config.heads_k_stride;
    cp.valid_sizes = divisors(plan.ranks);
    cp.valid_sizes.erase(cp.valid_sizes.begin());

    const bool whole = ulysses_divides(ulysses, sizes.context, findings);
    plan.mesh = {clamped(sizes.dp_replicate), clamped(sizes.dp_shard), clamped(sizes.context), 1};
    if (whole) {
        plan.mesh.ring = clamped(sizes.context / ulysses);
        plan.mesh.ulysses = clamped(ulysses);
    }
    if (!context_divides(plan, sizes.context, findings)) return false;
    return product_matches(plan, sizes, findings) && whole;
}

}  // namespace ringmaster
