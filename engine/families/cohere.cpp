#include "engine/families/families.h"

namespace ringmaster {

namespace {

/// Describes attention and an MLP that run in parallel and share one LayerNorm without bias.
void describe_cohere(const ConfigFields& fields, ModelConfig& model) {
    model.qkv_bias = model.output_bias = fields.flag_or("attention_bias", false);
    model.layer_norms = model.parallel_blocks = true;
    model.ropes.front().interleaved = true;
    model.logit_multiplier = fields.number_or("logit_scale", 0.0625);
    if (fields.flag_or("use_qk_norm", false)) model.obstacles.push_back("use_qk_norm");
}

/// Describes Cohere 2, whose layers without a window have no rotary embedding.
void describe_cohere2(const ConfigFields& fields, ModelConfig& model) {
    describe_cohere(fields, model);
    for (const char* idle :
         {"order_of_interleaved_layers", "rotary_pct", "use_embedding_sharing", "use_gated_activation",
          "use_parallel_block", "use_parallel_embedding", "position_embedding_type", "layer_switch"})
        fields.has(idle);
    const int64_t pattern = fields.integer_or("sliding_window_pattern", 4, 10'000);
    read_layer_types(fields, model, read_window(fields, 4096), pattern);
    for (LayerKind& kind : model.layers)
        if (!kind.window) kind.rope = -1;
}

const Family kCohereTable[] = {{.type = "cohere",
                                .describe = describe_cohere,
                                .max_position = 8192,
                                .norm_eps = 1e-5,
                                .tied = true,
                                .norm_eps_field = "layer_norm_eps",
                                .padding_token = 0,
                                .score_classes = ScoreClasses::None},
                               {.type = "cohere2",
                                .describe = describe_cohere2,
                                .max_position = 8192,
                                .norm_eps = 1e-5,
                                .tied = true,
                                .norm_eps_field = "layer_norm_eps",
                                .padding_token = 0,
                                .score_classes = ScoreClasses::None}};

}  // namespace

const std::span<const Family> kCohereFamilies = kCohereTable;

}  // namespace ringmaster
