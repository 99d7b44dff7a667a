#include "engine/config/sections.h"

namespace ringmaster {
namespace {

void read_context_parallel(KeyReader& keys, Config& config) {
    const auto size = keys.whole("context_parallel_size", {0, kMostRanks});
    const auto degree = keys.whole("sequence_parallel_degree", {0, kMostRanks});
    if (degree) {
        std::vector<Fix> fixes;
        if (!size) fixes.push_back({{{"context_parallel_size", std::to_string(*degree)}}});
        if (size == degree) fixes.push_back({{{"sequence_parallel_degree", "", true}}});
        keys.warn(Form("CFG-DEPRECATED"), "sequence_parallel_degree", {{"name", "context_parallel_size"}},
                  std::move(fixes));
    }
    if (size && degree && *size != *degree) {
        const int line = keys.document().line("context_parallel_size");
        keys.error(Form("CFG-CONFLICT", line > 0 ? "degree" : "degree-set"), "sequence_parallel_degree",
                   {{"degree", *degree}, {"size", *size}, {"other_line", line}});
    }
    config.context_parallel_size = size ? *size : degree.value_or(0);
}

}  // namespace

void read_parallel(KeyReader& keys, Config& config) {
    read_context_parallel(keys, config);
    take(config.ulysses_size, keys.whole("ulysses_size", {0, kMostRanks}));
    take(config.dp_shard_size, keys.whole("dp_shard_size", {1, kMostRanks}));
    take(config.dp_replicate_size, keys.whole("dp_replicate_size", {1, kMostRanks}));
    take(config.expert_parallel_size, keys.whole("expert_parallel_size", {0, kMostRanks}));
    take(config.heads_k_stride, keys.whole("heads_k_stride", {1, kMostRanks}));
    auto words = words_of<RingAttnFunc>();
    std::erase(words, to_string(RingAttnFunc::Default));
    take(config.ring_attn_func, keys.choice<RingAttnFunc>("ring_attn_func", words));
}

}  // namespace ringmaster
