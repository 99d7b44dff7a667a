"""Trains every family on every mesh. The losses and the exported model must equal those of the family's transformers class. FAMILIES
lists tiny random models, for most families of two shapes; the shape named "full" has every option of the family."""

import json
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from ringmaster_runs import (BIN, VOCABULARY, events_of, launch, make_config, make_rows, next_fit, ringmaster, save_disturbed, state_of,
                             steps_to_train)
from transformers_loss import learn

STEPS = steps_to_train(10, 4)
ROWS_PER_STEP = 8
SEQUENCE = 96
RATE = 1e-3
SHAPE = dict(vocab_size=VOCABULARY, hidden_size=64, intermediate_size=112, num_hidden_layers=3, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=512, pad_token_id=None, bos_token_id=None, eos_token_id=None)
LONGROPE = {"rope_type": "longrope", "rope_theta": 10000.0, "original_max_position_embeddings": 64,
            "short_factor": [1.0 + 0.05 * i for i in range(6)], "long_factor": [1.5 + 0.3 * i for i in range(6)]}

VISION = dict(hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, image_size=28, patch_size=14)
LINEAR = dict(linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=8, linear_value_head_dim=12)
# The chunk length does not change the results of transformers, but transformers pads rows to whole chunks.
STATE_SPACE = dict(mamba_n_groups=1, mamba_d_state=16, mamba_d_conv=4, mamba_chunk_size=32)
GRANITE4 = dict(STATE_SPACE, shared_intermediate_size=40, layer_types=["mamba", "attention", "mamba"], attention_multiplier=0.2)
NEMOTRON_H = dict(mamba_num_heads=4, mamba_head_dim=16, n_groups=2, ssm_state_size=16, head_dim=16, chunk_size=32)
EXPERTS = dict(num_experts=5, num_experts_per_tok=2, moe_intermediate_size=24, shared_expert_intermediate_size=40)

GROUPED = dict(n_routed_experts=6, num_experts_per_tok=2, moe_intermediate_size=24, first_k_dense_replace=1)
LATENT = dict(n_routed_experts=6, num_experts_per_tok=2, moe_intermediate_size=24, num_key_value_heads=4, q_lora_rank=20, kv_lora_rank=16,
              qk_rope_head_dim=8, qk_nope_head_dim=16, v_head_dim=16)
YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 32.0, "beta_slow": 1.0,
        "mscale": 0.7, "mscale_all_dim": 0.7}

GEMMA4 = dict(head_dim=16, global_head_dim=32, sliding_window=24, num_hidden_layers=4, hidden_size_per_layer_input=0,
              layer_types=["sliding_attention", "full_attention", "sliding_attention", "full_attention"])
# In Gemma 4 E2B and E4B, the last layers read keys of earlier layers, and each layer has an input besides the hidden
# states.
GEMMA4_E = dict(GEMMA4, hidden_size_per_layer_input=16, vocab_size_per_layer_input=VOCABULARY, num_kv_shared_layers=2)
GEMMA4_EXPERTS = dict(enable_moe_block=True, num_experts=6, top_k_experts=2, moe_intermediate_size=24)
FOREIGN = dict(intermediate_size=None, num_key_value_heads=None)  # fields that the config.json of some families lacks

# Maps a name to (model_type, differences from SHAPE).
FAMILIES = {
    "phi3": ("phi3", {}),
    "phi3 full": ("phi3", dict(sliding_window=24, num_key_value_heads=1, tie_word_embeddings=True)),
    "seed_oss": ("seed_oss", dict(head_dim=16, residual_dropout=0.0, attention_dropout=0.0)),
    "seed_oss full": ("seed_oss", dict(head_dim=24, attention_bias=True, attention_out_bias=True, mlp_bias=True,
                                       tie_word_embeddings=True, residual_dropout=0.0, attention_dropout=0.0)),
    "ministral": ("ministral", dict(head_dim=24, sliding_window=20)),
    "ministral3 full": ("ministral3", dict(head_dim=24, rope_parameters={
        "rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 32.0,
        "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1})),
    "phi3 longrope": ("phi3", dict(rope_parameters={**LONGROPE, "partial_rotary_factor": 0.75})),
    "gemma": ("gemma", dict(head_dim=24)),
    "gemma full": ("gemma", dict(pad_token_id=3, head_dim=24, attention_bias=True, num_key_value_heads=1, hidden_act="gelu")),
    "gemma2": ("gemma2", dict(head_dim=24, sliding_window=512, attn_logit_softcapping=None, final_logit_softcapping=None)),
    "gemma2 full": ("gemma2", dict(head_dim=24, sliding_window=24, query_pre_attn_scalar=40, attention_bias=True)),
    "gemma3": ("gemma3_text", dict(head_dim=24, sliding_window=512)),
    "gemma3 full": ("gemma3_text", dict(head_dim=24, sliding_window=24, query_pre_attn_scalar=40, num_hidden_layers=7,
                                        final_logit_softcapping=20.0)),
    "gemma4": ("gemma4_text", dict(GEMMA4, sliding_window=512)),
    "gemma4 full": ("gemma4_text", dict(GEMMA4, num_hidden_layers=7, layer_types=None, attention_k_eq_v=True, num_global_key_value_heads=1,
                                        attention_bias=True, final_logit_softcapping=20.0, pad_token_id=3, head_dim=24,
                                        global_head_dim=40)),
    "gemma4 experts": ("gemma4_text", dict(GEMMA4, **GEMMA4_EXPERTS)),
    # With experts of width 28, the last chosen and the first left-out expert differ in probability
    # by at least 2e-5, relative to their size, so rounding does not change the choice. With width
    # 24 the difference falls to 1e-6 in the ninth step, and losses and logits then differ from
    # transformers'.
    "gemma4 experts full": ("gemma4_text", dict(GEMMA4, **{**GEMMA4_EXPERTS, "num_experts": 5, "top_k_experts": 3, "moe_intermediate_size": 28},
                                                attention_k_eq_v=True, num_global_key_value_heads=4, final_logit_softcapping=20.0)),
    "gemma4 e": ("gemma4_text", GEMMA4_E),
    "gemma4 e full": ("gemma4_text", dict(
        GEMMA4_E, num_hidden_layers=7, num_kv_shared_layers=4, use_double_wide_mlp=True, hidden_size_per_layer_input=24, vocab_size_per_layer_input=300,
        layer_types=["sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "full_attention", "sliding_attention",
                     "full_attention"], attention_bias=True, attention_k_eq_v=True, num_global_key_value_heads=1, final_logit_softcapping=20.0,
        pad_token_id=3, head_dim=24, global_head_dim=40)),
    "gemma4_unified": ("gemma4_unified_text", dict(head_dim=16, global_head_dim=32, sliding_window=24, attention_k_eq_v=True,
                                                   num_global_key_value_heads=1, tie_word_embeddings=False)),
    "olmo2": ("olmo2", {}),
    "olmo3 full": ("olmo3", dict(sliding_window=24, num_hidden_layers=5)),
    "granite": ("granite", dict(attention_multiplier=0.2, embedding_multiplier=3.0, residual_multiplier=0.6, logits_scaling=1.7)),
    "smollm3": ("smollm3", dict(num_hidden_layers=5)),
    "arcee": ("arcee", {}),
    "arcee full": ("arcee", dict(pad_token_id=5, attention_bias=True, mlp_bias=True, head_dim=24)),
    "hunyuan": ("hunyuan_v1_dense", dict(head_dim=24)),
    "exaone4": ("exaone4", dict(sliding_window=24, sliding_window_pattern=2, num_hidden_layers=4)),
    "glm": ("glm", dict(head_dim=16)),
    "glm4": ("glm4", dict(head_dim=16)),
    "cohere": ("cohere", dict(logit_scale=0.3)),
    "cohere2": ("cohere2", dict(sliding_window=24, num_hidden_layers=4)),
    "starcoder2": ("starcoder2", dict(sliding_window=24)),
    "stablelm": ("stablelm", dict(use_qkv_bias=True)),
    "stablelm full": ("stablelm", dict(use_qkv_bias=True, use_parallel_residual=True, num_key_value_heads=1)),
    "nemotron": ("nemotron", dict(head_dim=16)),
    "nemotron full": ("nemotron", dict(head_dim=24, attention_bias=True, mlp_bias=True)),
    "phi": ("phi", {}),
    "phi full": ("phi", dict(num_key_value_heads=1, partial_rotary_factor=0.25, hidden_act="gelu")),
    "gpt_neox": ("gpt_neox", dict(num_key_value_heads=None, use_parallel_residual=False, attention_bias=False, tie_word_embeddings=True)),
    "gpt_neox full": ("gpt_neox", dict(num_key_value_heads=None, hidden_act="gelu_fast",
                                       rope_parameters={"rope_type": "default", "rope_theta": 5000.0, "partial_rotary_factor": 0.5})),
    "falcon": ("falcon", dict(FOREIGN, ffn_hidden_size=112)),
    "falcon full": ("falcon", dict(FOREIGN, bias=True, multi_query=False, parallel_attn=False, tie_word_embeddings=False)),
    "gptj full": ("gptj", dict(FOREIGN, rotary_dim=6, n_inner=112)),
    "lfm2": ("lfm2", dict(block_auto_adjust_ff_dim=False, layer_types=["conv", "full_attention", "conv"])),
    "lfm2 full": ("lfm2", dict(block_multiple_of=16, block_ffn_dim_multiplier=1.3, conv_L_cache=4, num_hidden_layers=4, tie_word_embeddings=False,
                               layer_types=["conv", "conv", "full_attention", "conv"])),
    "lfm2_moe full": ("lfm2_moe", dict(num_experts=6, num_experts_per_tok=2, moe_intermediate_size=24, num_dense_layers=1, routed_scaling_factor=1.5,
                                       num_hidden_layers=4, layer_types=["conv", "conv", "full_attention", "conv"])),
    "granite4": ("granitemoehybrid", dict(GRANITE4, mamba_n_heads=4, num_local_experts=0, num_experts_per_tok=0, position_embedding_type="nope")),
    "granite4 micro": ("granitemoehybrid", dict(GRANITE4, mamba_n_heads=4, num_local_experts=0, position_embedding_type="rope",
                                                layer_types=3 * ["attention"], rope_parameters={"rope_type": "default", "rope_theta": 5e3})),
    "granite4 full": ("granitemoehybrid", dict(
        GRANITE4, mamba_n_heads=6, mamba_expand=3, mamba_d_head=32, mamba_n_groups=2, mamba_d_conv=3, mamba_conv_bias=False,
        num_local_experts=5, num_experts_per_tok=3, intermediate_size=24, position_embedding_type="rope", attention_bias=True,
        num_hidden_layers=4, layer_types=["linear_attention", "full_attention", "linear_attention", "full_attention"],
        embedding_multiplier=3.0, residual_multiplier=0.6, logits_scaling=1.7, time_step_limit=[1.25, 1.4], tie_word_embeddings=True)),
    "nemotron_h": ("nemotron_h", dict(NEMOTRON_H, hybrid_override_pattern="M-M*-")),
    "nemotron_h full": ("nemotron_h", dict(
        NEMOTRON_H, layers_block_type=["mamba", "moe", "mlp", "attention", "moe"], mamba_num_heads=6, mamba_head_dim=32, n_groups=3, initializer_range=0.1,
        conv_kernel=3, use_conv_bias=False, time_step_min=1.3, head_dim=24, n_routed_experts=8, num_experts_per_tok=3, n_group=4, topk_group=2,
        moe_intermediate_size=24, moe_shared_expert_intermediate_size=40, routed_scaling_factor=2.5, norm_topk_prob=False)),
    "nemotron_h latent full": ("nemotron_h", dict(
        NEMOTRON_H, layers_block_type=["mamba", "moe", "attention", "moe"], n_routed_experts=8, num_experts_per_tok=3, n_group=2, topk_group=1,
        moe_intermediate_size=24, moe_latent_size=20, moe_shared_expert_intermediate_size=40, routed_scaling_factor=2.5)),
    "nemotron_h biases": ("nemotron_h", dict(NEMOTRON_H, hybrid_override_pattern="-*M", mlp_bias=True)),
    "bamba": ("bamba", dict(STATE_SPACE, mamba_n_heads=4, attn_layer_indices=[1])),
    "bamba full": ("bamba", dict(
        STATE_SPACE, mamba_n_heads=6, mamba_expand=3, mamba_d_head=32, mamba_n_groups=2, mamba_d_conv=3, mamba_conv_bias=False, pad_token_id=3,
        num_hidden_layers=4, attn_layer_indices=[0, 3], attention_bias=True, mlp_bias=True, time_step_limit=[1.25, 1.4], tie_word_embeddings=True)),
    "falcon_h1": ("falcon_h1", dict(STATE_SPACE, mamba_d_ssm=48, mamba_n_heads=4, mamba_d_head="auto")),
    "falcon_h1 full": ("falcon_h1", dict(
        STATE_SPACE, mamba_d_ssm=None, mamba_n_heads=6, mamba_expand=3, mamba_d_head=32, mamba_n_groups=2, mamba_d_conv=3, mamba_rms_norm=True,
        mamba_norm_before_gate=False, time_step_limit=[0.9, 1.5], lm_head_multiplier=0.7, embedding_multiplier=3.0, mlp_multipliers=[0.8, 1.7],
        key_multiplier=0.6, attention_out_multiplier=0.9, attention_in_multiplier=1.2, ssm_multipliers=[0.7, 1.1, 0.8, 1.3, 0.6],
        ssm_in_multiplier=1.25, ssm_out_multiplier=0.5, mlp_bias=True, tie_word_embeddings=True)),
    "jamba": ("jamba", dict(num_experts=1, attn_layer_period=2, attn_layer_offset=1)),
    "jamba full": ("jamba", dict(
        num_experts=5, num_experts_per_tok=3, num_hidden_layers=5, attn_layer_period=3, attn_layer_offset=2, expert_layer_period=2,
        expert_layer_offset=0, mamba_d_state=5, mamba_d_conv=3, mamba_expand=3, mamba_dt_rank=6, mamba_conv_bias=False, pad_token_id=3,
        tie_word_embeddings=True)),
    "mixtral": ("mixtral", dict(num_local_experts=4)),
    "minimax_m2 full": ("minimax_m2", dict(num_local_experts=6, num_experts_per_tok=2, head_dim=24, intermediate_size=24,
                                           rope_parameters={"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5})),
    "mixtral full": ("mixtral", dict(num_local_experts=6, num_experts_per_tok=3, head_dim=24, sliding_window=24,
                                     tie_word_embeddings=True)),
    "qwen3_moe": ("qwen3_moe", dict(num_experts=8, num_experts_per_tok=2, moe_intermediate_size=24, head_dim=16)),
    "qwen3_moe full": ("qwen3_moe", dict(num_experts=5, num_experts_per_tok=4, moe_intermediate_size=40, head_dim=24,
                                         norm_topk_prob=True, attention_bias=True, use_sliding_window=True, sliding_window=24)),
    "gpt_oss": ("gpt_oss", dict(num_local_experts=4, num_experts_per_tok=2, head_dim=16)),
    "gpt_oss full": ("gpt_oss", dict(
        num_local_experts=5, num_experts_per_tok=3, head_dim=24, num_key_value_heads=1, tie_word_embeddings=True, sliding_window=24,
        swiglu_limit=0.15, swiglu_alpha=1.3, layer_types=["full_attention", "sliding_attention", "sliding_attention"],
        rope_parameters={"rope_type": "yarn", "rope_theta": 5e3, "factor": 4.0, "original_max_position_embeddings": 16,
                         "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False})),
    "qwen3_5": ("qwen3_5_text", dict(head_dim=24, num_hidden_layers=4, linear_num_key_heads=2, linear_num_value_heads=4,
                                     linear_key_head_dim=8, linear_value_head_dim=12)),
    "qwen3_5 full": ("qwen3_5_text", dict(
        head_dim=24, num_hidden_layers=4, linear_num_key_heads=1, linear_num_value_heads=3, linear_key_head_dim=16,
        linear_value_head_dim=8, linear_conv_kernel_dim=3, attention_bias=True, tie_word_embeddings=True,
        layer_types=["linear_attention", "full_attention", "linear_attention", "linear_attention"])),
    "qwen2_moe": ("qwen2_moe", dict(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=24, shared_expert_intermediate_size=40)),
    "qwen2_moe full": ("qwen2_moe", dict(num_experts=5, num_experts_per_tok=3, moe_intermediate_size=40, shared_expert_intermediate_size=56,
                                         norm_topk_prob=True, tie_word_embeddings=True, use_sliding_window=True, sliding_window=24)),
    "qwen3_next": ("qwen3_next", dict(head_dim=24, num_hidden_layers=4, **LINEAR, **EXPERTS)),
    "qwen3_next full": ("qwen3_next", dict(
        head_dim=24, num_hidden_layers=4, linear_num_key_heads=2, linear_num_value_heads=6, linear_key_head_dim=16,
        linear_value_head_dim=8, linear_conv_kernel_dim=3, attention_bias=True, tie_word_embeddings=True, norm_topk_prob=False,
        layer_types=["linear_attention", "full_attention", "linear_attention", "linear_attention"], **EXPERTS)),
    "qwen3_5_moe": ("qwen3_5_moe_text", dict(head_dim=24, num_hidden_layers=4, intermediate_size=None, **LINEAR, **EXPERTS)),
    "qwen3_5_moe wrapper full": ("qwen3_5_moe", dict(
        text_config=dict(model_type="qwen3_5_moe_text", head_dim=24, num_hidden_layers=4, intermediate_size=None, **LINEAR, **EXPERTS),
        vision_config=dict(depth=1, hidden_size=16, intermediate_size=32, num_heads=2, out_hidden_size=64, num_position_embeddings=16,
                           patch_size=4))),
    "glm4_moe": ("glm4_moe", dict(GROUPED, attention_bias=True, rope_parameters={"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5})),
    "glm4_moe full": ("glm4_moe", dict(
        GROUPED, head_dim=24, n_routed_experts=8, num_experts_per_tok=3, n_group=4, topk_group=2, n_shared_experts=2, use_qk_norm=True,
        first_k_dense_replace=2, routed_scaling_factor=2.5, tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": 1e5, "partial_rotary_factor": 0.75})),
    "glm4_moe_lite": ("glm4_moe_lite", dict(LATENT, v_head_dim=24)),
    "glm4_moe_lite full": ("glm4_moe_lite", dict(LATENT, v_head_dim=20, n_group=2, topk_group=1, n_shared_experts=2, attention_bias=True,
                                                 mlp_layer_types=["sparse", "dense", "sparse"], rope_interleave=False)),
    "deepseek_v3": ("deepseek_v3", dict(LATENT, first_k_dense_replace=1, n_group=3, topk_group=2)),
    "deepseek_v3 full": ("deepseek_v3", dict(LATENT, first_k_dense_replace=2, q_lora_rank=None, v_head_dim=28, n_group=1, topk_group=1,
                                             tie_word_embeddings=True, rope_parameters=YARN)),
    "deepseek_v2": ("deepseek_v2", dict(LATENT, q_lora_rank=None, first_k_dense_replace=1)),
    "deepseek_v2 grouped": ("deepseek_v2", dict(LATENT, topk_method="group_limited_greedy", n_group=3, topk_group=2, n_shared_experts=2,
                                             routed_scaling_factor=2.0, rope_parameters=YARN)),
    "mistral4 wrapper": ("mistral3", dict(
        text_config=dict(model_type="mistral4", **LATENT, first_k_dense_replace=1, n_group=2, topk_group=1,
                         rope_parameters={**YARN, "llama_4_scaling_beta": 0.1}),
        vision_config=dict(model_type="pixtral", head_dim=8, **VISION))),
    "voxtral full": ("voxtral", dict(
        text_config=dict(model_type="llama", head_dim=24),
        audio_config=dict(hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, max_source_positions=16, num_mel_bins=8))),
    "mistral3 full": ("mistral3", dict(text_config=dict(model_type="mistral", head_dim=24, sliding_window=None),
                                       vision_config=dict(model_type="pixtral", head_dim=8, **VISION))),
    "gemma3 wrapper full": ("gemma3", dict(
        text_config=dict(model_type="gemma3_text", head_dim=24, sliding_window=24, num_hidden_layers=6),
        vision_config=dict(model_type="siglip_vision_model", vision_use_head=False, **VISION), mm_tokens_per_image=4)),
    "gemma4_unified wrapper full": ("gemma4_unified", dict(
        text_config=dict(head_dim=16, global_head_dim=32, sliding_window=24, pad_token_id=0, final_logit_softcapping=20.0),
        vision_config=dict(patch_size=4, mm_embed_dim=64, mm_posemb_size=16, output_proj_dims=64), audio_config=None)),
    "gemma4 e wrapper full": ("gemma4", dict(
        text_config=dict(GEMMA4_E, model_type="gemma4_text", use_double_wide_mlp=True, pad_token_id=0),
        vision_config=dict(model_type="gemma4_vision", hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
                           num_key_value_heads=2, head_dim=8, patch_size=4, position_embedding_size=64), audio_config=None)),
    "gemma4 wrapper full": ("gemma4", dict(
        text_config=dict(GEMMA4, model_type="gemma4_text", attention_k_eq_v=True, num_global_key_value_heads=1, pad_token_id=0),
        vision_config=dict(model_type="gemma4_vision", hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
                           num_key_value_heads=2, head_dim=8, patch_size=4, position_embedding_size=64), audio_config=None)),
}
# Maps a name to (ranks, keys).
MESHES = {
    "1 rank": (1, dict(micro_batch_size=2, gradient_accumulation_steps=4)),
    "ring 2": (2, dict(context_parallel_size=2, ring_attn_func="batch_ring", micro_batch_size=1, gradient_accumulation_steps=8)),
    "zigzag 2": (2, dict(context_parallel_size=2, ring_attn_func="batch_zigzag", micro_batch_size=2, gradient_accumulation_steps=4)),
    "ulysses 2": (2, dict(context_parallel_size=2, ulysses_size=2, micro_batch_size=2, gradient_accumulation_steps=4)),
    "2 x 2": (4, dict(context_parallel_size=2, ring_attn_func="batch_zigzag", micro_batch_size=2, gradient_accumulation_steps=2)),
}
PACKED = {"rows": False, "packed": True}
# Lists the cases that run by default: the full shape of each family on one mesh of two ranks, packed.
QUICK = {(name, "zigzag 2", "packed") for name in FAMILIES if name.endswith("full") or name.startswith("mini")}


def class_of(config):
    import transformers

    return transformers.AutoModelForMultimodalLM if hasattr(config, "text_config") else transformers.AutoModelForCausalLM


def load(folder):
    import torch
    import transformers

    config = transformers.AutoConfig.from_pretrained(folder)
    return class_of(config).from_pretrained(folder, attn_implementation="eager", dtype=torch.float32)


def save_model(folder, name, seed=7):
    import torch
    import transformers

    kind, changes = FAMILIES[name]
    if "text_config" in changes:
        changes = {**changes, "text_config": {**SHAPE, **changes["text_config"]}, "pad_token_id": None}
    else:
        changes = {**SHAPE, **changes}
    config = transformers.AutoConfig.for_model(kind, **changes)
    torch.manual_seed(seed)
    model = class_of(config).from_config(config)
    return save_disturbed(model, folder)


def epsilon_of(name):
    """Returns Adam's epsilon. With 1e-8, Adam divides rounding errors of some families by each other. After ten steps of
    transformers in float32 and in float64, logits differ with 1e-8 and with 1e-5 as follows: qwen3_5_moe by 2.8e-4 and 6.5e-7,
    deepseek_v2 by 1.7e-5 and 2.9e-7, gemma4 by 9.3e-5 and 1.5e-5. voxtral's logits in float32 with one thread and with two
    differ by 6.7e-5 and 2.7e-7, granite4's by 2.6e-4 and 9.2e-7. With 1e-8, the weights of nemotron_h's experts are up to 1e-4
    from transformers', so in the seventh step a token whose two best experts are 4e-6 apart takes the other one; with 1e-5 they
    stay within 6e-7. In gemma4 with inputs of layers, weights that differ by 5e-6 make logits that differ by 1e-4; with an
    epsilon of 1e-4 the logits differ by 2.3e-5. In gpt_oss, transformers in float64 with weights that are changed by 1e-6 moves its
    losses by 3e-5 with 1e-8, because tokens take other experts; with 1e-5 our losses and transformers' differ by 1.1e-7 at most."""
    if name.split()[:2] == ["gemma4", "e"]:
        return 1e-4
    return 1e-5 if name.startswith(("qwen3_5_moe", "deepseek_v2", "gemma4", "voxtral", "granite4", "nemotron_h", "gpt_oss")) else 1e-8


def train_with_transformers(model_dir, rows, epsilon):
    """Trains on each document by itself, so that nothing can leak."""
    import torch

    model = load(model_dir)
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.0, eps=epsilon)
    losses, position = [], 0
    for _ in range(STEPS):
        step, position = rows[position:position + ROWS_PER_STEP], position + ROWS_PER_STEP
        if position >= len(rows):
            position = 0
        losses.append(learn(model, [document for row in step for document in row]))
        optimizer.step()
        optimizer.zero_grad()
    return model, losses


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    made = {}

    def make(name, packed):
        if (name, packed) not in made:
            folder = tmp_path_factory.mktemp("family")
            model_dir = save_model(folder / "model", name)
            documents = make_rows(folder / "rows.jsonl", 96, longest=60 if packed else SEQUENCE)
            rows = next_fit(documents, SEQUENCE) if packed else [[document] for document in documents]
            made[name, packed] = folder, model_dir, *train_with_transformers(model_dir, rows, epsilon_of(name))
        return made[name, packed]

    return make


CASES = [pytest.param(name, mesh, way, id=f"{name}, {mesh}, {way}" + (", quick" if (name, mesh, way) in QUICK else ""))
         for name in FAMILIES for mesh in MESHES for way in PACKED]


@pytest.mark.parametrize("name, mesh, way", CASES)
def test_a_family_trains_as_its_transformers_class_does(reference, tmp_path, name, mesh, way):
    import torch

    ranks, keys = MESHES[mesh]
    folder, model_dir, trained, losses = reference(name, PACKED[way])
    config = make_config(tmp_path, model_dir, folder / "rows.jsonl", max_steps=STEPS, learning_rate=RATE, lr_scheduler="constant",
                         warmup_steps=0, weight_decay=0.0, max_grad_norm=0.0, sample_packing=PACKED[way], sequence_len=SEQUENCE,
                         pad_to_sequence_len=True, adam_epsilon=epsilon_of(name), **keys)
    run = launch(config, tmp_path / "runs", "--ranks", ranks, "--no-preflight")
    assert state_of(run)["state"] == "completed"
    assert [event["loss"] for event in events_of(run)] == pytest.approx(losses, rel=1e-5)

    ours = load(tmp_path / "out")
    assert type(ours) is type(trained)
    ids = torch.arange(64).unsqueeze(0)
    with torch.no_grad():
        assert (ours(ids).logits - trained(ids).logits).abs().max().item() < 1e-4
    kept = {key: value for key, value in ours.state_dict().items() if is_of_the_tower(key)}
    assert all(torch.equal(value, trained.state_dict()[key]) for key, value in kept.items())


def is_of_the_tower(key):
    return any(tower in key for tower in ("vision", "visual", "audio", "projector"))


def unwrapped(key):
    """Returns the key without the prefixes under which wrapper classes have stored their text model; Ringmaster reads all of them."""
    return key.replace("language_model.", "").replace("model.", "")


@pytest.mark.parametrize("name", FAMILIES, ids=[f"{name}, quick" for name in FAMILIES])
def test_weights_have_the_names_and_shapes_that_transformers_saves(tmp_path, name):
    import safetensors

    folder = save_model(tmp_path / "model", name)
    printed = subprocess.run([BIN.parent / "tests" / "print_weights", folder], capture_output=True, text=True)
    assert printed.returncode == 0, printed.stdout
    seen = json.loads(printed.stdout)
    with safetensors.safe_open(folder / "model.safetensors", "pt") as file:
        saved = {key: list(file.get_slice(key).get_shape()) for key in file.keys() if not is_of_the_tower(key)}
    assert {unwrapped(key): shape for key, shape in seen["weights"].items()} == {unwrapped(key): s for key, s in saved.items()}
    assert not seen["obstacles"]


def test_what_is_not_computed_is_refused_and_never_trained_quick(tmp_path):
    make_rows(tmp_path / "rows.jsonl", 8)
    model = save_model(tmp_path / "model", "qwen2_moe")
    settings = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps({**settings, "experts_of_another_kind": 3}))
    plan = json.loads(ringmaster("plan", make_config(tmp_path, model, tmp_path / "rows.jsonl"), "--ranks", 2, "--json", check=False).stdout)
    errors = [finding for finding in plan["diagnostics"] if finding["severity"] == "error"]
    assert [finding["code"] for finding in errors] == ["ENGINE-MODEL"] and "experts_of_another_kind" in str(errors)
    assert plan["memory"], "the shape is known"


@pytest.mark.parametrize("name, changed", [("qwen3_5_moe wrapper full", "model.language_model.layers.0.mlp.experts.gate_up_proj"),
                                           ("qwen3_5", "model.layers.0.mlp.gate_proj.weight")],
                         ids=["wrapper, quick", "text alone, quick"])
def test_heads_for_later_tokens_and_stacked_experts_stay_as_they_are_stored(tmp_path, name, changed):
    """The saved model must keep tensors as they are stored. transformers' class leaves out the heads that predict later tokens, and
    the hub's files hold all experts of a layer in one tensor."""
    import safetensors.torch
    import torch

    model = save_model(tmp_path / "model", name)
    state = {}
    for key, value in load(model).state_dict().items():
        state[key] = value.contiguous()
    state["mtp.fc.weight"] = torch.randn(7, 5).to(torch.bfloat16)
    safetensors.torch.save_file(state, model / "model.safetensors")
    make_rows(tmp_path / "rows.jsonl", 16)
    run = launch(make_config(tmp_path, model, tmp_path / "rows.jsonl", max_steps=2), tmp_path / "runs", "--ranks", 1, "--no-preflight")
    assert state_of(run)["state"] == "completed"
    saved = safetensors.torch.load_file(tmp_path / "out" / "model.safetensors")
    assert {key: value.shape for key, value in saved.items()} == {key: value.shape for key, value in state.items()}
    assert torch.equal(saved["mtp.fc.weight"], state["mtp.fc.weight"]) and saved["mtp.fc.weight"].dtype == torch.bfloat16
    assert not torch.equal(saved[changed], state[changed])
