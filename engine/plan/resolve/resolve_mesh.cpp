#include <algorithm>

#include "engine/plan/resolve/resolve.h"

namespace ringmaster {

namespace {

/// The requested sizes; a size that is left out is 1.
struct Sizes {
    int64_t dp_replicate = 1;
    int64_t dp_shard = 1;
    int64_t context = 1;
};

const char* kContextKey = "context_parallel_size";

std::string context_key(const Findings& findings) {
    return findings.key_of({kContextKey, "sequence_parallel_degree"});
}

/// Returns a fix for each size that works, with the batch and the tokens per rank that it leads to.
std::vector<Fix> sizes_of_context(const Plan& plan, const std::string& key) {
    const Config& config = plan.config;
    const int64_t length = config.padding.fixed_length.value_or(config.sequence_len);
    const int64_t others =
        std::max<int64_t>(1, config.dp_replicate_size) * std::max<int64_t>(1, config.dp_shard_size);
    std::vector<int> sizes = divisors(plan.ranks);
    std::erase_if(sizes, [&](int size) {
        const int64_t taken = others * size;
        return config.dp_shard_size > 0 ? taken != plan.ranks : plan.ranks % taken != 0;
    });
    std::vector<Fix> fixes = fixes_of_sizes(key, sizes, 0);
    for (Fix& fix : fixes) {
        const int64_t size = std::stoll(fix.edits.front().value);
        const auto global =
            product({config.micro_batch_size, config.gradient_accumulation_steps, plan.ranks / size});
        fix.parameters = {{"global_batch", global.value_or(0)}, {"rank_tokens", (length + size - 1) / size}};
    }
    return fixes;
}

/// Checks context_parallel_size alone first, because an error about this key says more than an error about
/// the product.
bool context_divides(const Plan& plan, int64_t context, Findings& findings) {
    if (plan.ranks % context == 0) return true;
    const std::string key = context_key(findings);
    findings.error(
        Form("CP-DIVISOR"), key,
        {{"key", key}, {"asked", context}, {"ranks", plan.ranks}, {"sizes", as_list(divisors(plan.ranks))}},
        sizes_of_context(plan, key));
    return false;
}

std::string times(const Sizes& sizes) {
    return grouped(sizes.dp_replicate) + " × " + grouped(sizes.dp_shard) + " × " + grouped(sizes.context);
}

/// Returns, for each size, the value that makes the product right if the other sizes stay.
std::vector<Fix> sizes_that_work(const Sizes& sizes, int64_t ranks, const std::string& context_name) {
    std::vector<Fix> fixes;
    const auto offer = [&](const std::string& name, int64_t Sizes::*size) {
        Sizes changed = sizes;
        changed.*size = 1;
        const int64_t others = product({changed.dp_replicate, changed.dp_shard, changed.context}).value_or(0);
        if (others == 0 || ranks % others != 0) return;
        changed.*size = ranks / others;
        fixes.push_back({{{name, std::to_string(changed.*size)}},
                         "",
                         "",
                         {{"dp_replicate", changed.dp_replicate},
                          {"dp_shard", changed.dp_shard},
                          {"context", changed.context}}});
    };
    offer("dp_shard_size", &Sizes::dp_shard);
    offer(context_name, &Sizes::context);
    offer("dp_replicate_size", &Sizes::dp_replicate);
    const auto asked = product({sizes.dp_replicate, sizes.dp_shard, sizes.context});
    if (asked) fixes.push_back({{}, "--ranks " + std::to_string(*asked)});
    return fixes;
}

/// Recognises sizes copied from accelerate's page on sequence parallelism (`--dp-shard-size 8 --sp-size 8` on
/// 8 GPUs) or axolotl's on n-d parallelism: both count shards over all ranks.
bool follows_accelerates_page(const Sizes& sizes, int64_t ranks) {
    return sizes.dp_shard == ranks && sizes.context == ranks && ranks > 1;
}

bool product_matches(const Plan& plan, const Sizes& sizes, Findings& findings) {
    const auto asked = product({sizes.dp_replicate, sizes.dp_shard, sizes.context});
    if (asked == plan.ranks) return true;
    const std::string key =
        findings.key_of({"dp_shard_size", "dp_replicate_size", kContextKey, "sequence_parallel_degree"});
    findings.error(
        Form("MESH-PRODUCT", follows_accelerates_page(sizes, plan.ranks) ? "shown" : ""), key,
        {{"asked", times(sizes)}, {"product", asked ? grouped(*asked) : ">2^62"}, {"ranks", plan.ranks}},
        sizes_that_work(sizes, plan.ranks, context_key(findings)));
    return false;
}

bool ulysses_divides(int64_t ulysses, int64_t context, Findings& findings) {
    if (context % ulysses == 0) return true;
    findings.error(Form("CP-ULYSSES"), "ulysses_size",
                   {{"ulysses", ulysses}, {"size", context}, {"sizes", as_list(divisors(context))}},
                   fixes_of_sizes("ulysses_size", divisors(context), ulysses));
    return false;
}

RingAttnFunc resolve_layout(const Config& config, int64_t context) {
    if (context == 1) return RingAttnFunc::BatchRing;  // one rank holds the whole sequence
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
