"""Trains mixtures whose routers score by sigmoids and groups, mixtures with dense first layers, models with latent attention, and
hybrids with state spaces. Tests preflight, adapters, quantised bases, merged models, memory, and the other tensors of a model's files.
tests/oracles/test_families.py compares their losses on every mesh."""

import json

import pytest
from test_expert_adapters import logits_of
from test_experts import MESHES, check_memory, load, load_base, make_model, make_rows

from ringmaster_runs import events_of, launch, make_config, ringmaster, state_of
from test_quantized import FORMATS
from transformers_loss import learn

STEPS, ROWS_PER_STEP, RATE = 6, 8, 1e-3
# On a CPU, bitsandbytes dequantises matrices wrongly if their rows are multiples of 16 but not of 64.
GROUPED = dict(intermediate_size=128, n_routed_experts=8, num_experts_per_tok=3, n_group=4, topk_group=2, moe_intermediate_size=40)
LATENT = dict(GROUPED, num_key_value_heads=4, kv_lora_rank=24, qk_rope_head_dim=8, qk_nope_head_dim=24, v_head_dim=16)
MODELS = {
    "glm4_moe": dict(GROUPED, head_dim=16, first_k_dense_replace=1, use_qk_norm=True),
    "deepseek_v3": dict(LATENT, q_lora_rank=32, first_k_dense_replace=1),
    "gemma4_text": dict(intermediate_size=128, hidden_size_per_layer_input=0, head_dim=16, global_head_dim=32, sliding_window=24,
                        layer_types=["sliding_attention", "full_attention", "full_attention"], attention_k_eq_v=True,
                        num_global_key_value_heads=1, enable_moe_block=True, num_experts=8, top_k_experts=3, moe_intermediate_size=40),
    "gemma4_text, e": dict(intermediate_size=128, head_dim=16, global_head_dim=32, sliding_window=24, num_hidden_layers=4, num_kv_shared_layers=2,
                           layer_types=["sliding_attention", "full_attention", "sliding_attention", "full_attention"], use_double_wide_mlp=True,
                           hidden_size_per_layer_input=64, vocab_size_per_layer_input=256, tie_word_embeddings=True),
    "minimax_m2": dict(intermediate_size=40, head_dim=16, num_local_experts=8, num_experts_per_tok=3),
    "deepseek_v2": dict(LATENT, q_lora_rank=None, first_k_dense_replace=1, n_shared_experts=1, topk_method="group_limited_greedy"),
    "granitemoehybrid": dict(intermediate_size=40, shared_intermediate_size=64, num_local_experts=8, num_experts_per_tok=3, mamba_n_heads=4,
                             mamba_d_state=16, layer_types=["mamba", "attention", "mamba"], attention_multiplier=0.25),
    "nemotron_h": dict(intermediate_size=128, n_routed_experts=8, num_experts_per_tok=3, n_group=4, topk_group=2, moe_intermediate_size=40,
                       moe_shared_expert_intermediate_size=64, hybrid_override_pattern="ME*-", mamba_num_heads=4, mamba_head_dim=16, n_groups=2,
                       ssm_state_size=16, head_dim=16),
}
# This model has two layers of Mamba-1 and one of attention with experts. bitsandbytes dequantises matrices of these
# widths correctly on a CPU.
MODELS["jamba"] = dict(intermediate_size=128, num_experts=8, num_experts_per_tok=3, attn_layer_period=3, attn_layer_offset=1, expert_layer_period=2,
                       expert_layer_offset=1, mamba_d_state=32, mamba_dt_rank=64)
MODELS["nemotron_h, latent"] = dict(MODELS["nemotron_h"], moe_latent_size=32)
OF_LATENTS = ["q_proj", "q_a_proj", "kv_a_proj_with_mqa", "q_b_proj", "kv_b_proj", "o_proj"]
TARGETS = {"deepseek_v2": OF_LATENTS, "deepseek_v3": OF_LATENTS, "granitemoehybrid": ["q_proj", "in_proj", "out_proj", "input_linear", "output_linear"],
           "nemotron_h": ["q_proj", "v_proj", "in_proj", "up_proj", "down_proj"],  # PEFT refuses Nemotron-H's out_proj
           "nemotron_h, latent": ["q_proj", "fc1_latent_proj", "fc2_latent_proj", "up_proj"],
           "jamba": ["q_proj", "o_proj", "in_proj", "x_proj", "out_proj", "up_proj", "down_proj"],
           "jamba, nf4": ["q_proj", "in_proj", "x_proj", "dt_proj", "out_proj", "down_proj"],  # Jamba's class bypasses dt_proj's adapter unless quantized
           "gemma4_text, e": ["q_proj", "k_proj", "v_proj", "o_proj", "per_layer_input_gate", "per_layer_projection", "down_proj"]}


def targets_of(kind, format):
    return TARGETS.get(f"{kind}, {format}", TARGETS.get(kind, ["q_proj", "k_proj", "v_proj", "o_proj"]))


def model_of(folder, name, **changes):
    """Saves the model that MODELS lists under `name`, which begins with the model's type."""
    return make_model(folder, name.split(",")[0], **{**MODELS[name], **changes})


def train(model, rows):
    import torch

    model.train()
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=RATE, weight_decay=0.0)
    losses = []
    for step in range(STEPS):
        batch = rows[step * ROWS_PER_STEP:(step + 1) * ROWS_PER_STEP]
        losses.append(learn(model, batch))
        optimizer.step()
        optimizer.zero_grad()
    return losses


def config_of(folder, model_dir, **keys):
    return make_config(folder, model_dir, folder / "rows.jsonl", learning_rate=RATE, lr_scheduler="constant", warmup_steps=0,
                       weight_decay=0.0, max_grad_norm=0.0, pad_to_sequence_len=True, **{"max_steps": STEPS, **keys})


# Lists (model, mesh, format of the base). "whole" trains all weights.
CASES = [(kind, mesh, format) for kind in MODELS for mesh in ("zigzag, accumulated", "ulysses, tiled", "2 x 2, ZeRO 3, accumulated")
         for format in ("whole", None, "nf4", "int8") if (kind, format) != ("jamba", "int8")]  # refused, because axolotl skips Mamba-1
QUICK = {("gemma4_text, e", "2 x 2, ZeRO 3, accumulated", "nf4"), ("gemma4_text, e", "ulysses, tiled", None),
         ("nemotron_h, latent", "zigzag, accumulated", None), ("jamba", "2 x 2, ZeRO 3, accumulated", "nf4"), ("jamba", "zigzag, accumulated", None), ("granitemoehybrid", "ulysses, tiled", None), ("nemotron_h", "2 x 2, ZeRO 3, accumulated", "nf4"), ("glm4_moe", "zigzag, accumulated", None), ("deepseek_v3", "2 x 2, ZeRO 3, accumulated", "nf4"),
         ("deepseek_v3", "zigzag, accumulated", "int8")}


@pytest.mark.parametrize("kind, mesh, format", CASES, ids=[f"{', '.join(map(str, case))}{', quick' if case in QUICK else ''}" for case in CASES])
def test_preflight_passes_and_losses_are_those_of_transformers(kind, mesh, format, tmp_path):
    import peft
    import torch

    model_dir = model_of(tmp_path / "model", kind)
    rows = make_rows(tmp_path / "rows.jsonl", STEPS * ROWS_PER_STEP)
    torch.manual_seed(11)
    model, keys = load_base(model_dir, None if format == "whole" else format), dict(MESHES[mesh][1])
    if format != "whole":
        model = peft.get_peft_model(model, peft.LoraConfig(task_type="CAUSAL_LM", r=4, lora_alpha=8, target_modules=targets_of(kind, format)))
        model.save_pretrained(tmp_path / "begun")
        keys.update(FORMATS[format][0] if format else dict(adapter="lora"), lora_model_dir=str(tmp_path / "begun"))
    losses = train(model, rows)
    ranks = MESHES[mesh][0]
    run = launch(config_of(tmp_path, model_dir, **keys), tmp_path / "runs", "--ranks", ranks)
    assert state_of(run)["state"] == "completed"
    assert json.loads((run / "preflight.json").read_text())["ok"]
    assert [event["loss"] for event in events_of(run)] == pytest.approx(losses, rel=1e-5)
    if format is not None:
        return
    ours = peft.PeftModel.from_pretrained(load(model_dir), tmp_path / "out")
    assert (logits_of(ours) - logits_of(model)).abs().max().item() < 1e-4
    ringmaster("merge", tmp_path / "out", "--to", tmp_path / "merged", "--base", model_dir)
    assert (logits_of(load(tmp_path / "merged")) - logits_of(ours.merge_and_unload())).abs().max().item() < 1e-5


@pytest.mark.parametrize("format", [None, "nf4"])
def test_adapters_on_a_router_and_on_experts_beside_an_mlp_are_those_of_peft(format, tmp_path):
    import peft
    import torch

    model_dir = make_model(tmp_path / "model", "gemma4_text", **MODELS["gemma4_text"])
    rows = make_rows(tmp_path / "rows.jsonl", STEPS * ROWS_PER_STEP)
    torch.manual_seed(11)
    model = peft.get_peft_model(load_base(model_dir, format), peft.LoraConfig(
        task_type="CAUSAL_LM", r=4, lora_alpha=8, target_modules=["q_proj", "proj", "up_proj"],
        target_parameters=["experts.gate_up_proj", "experts.down_proj"]))
    model.save_pretrained(tmp_path / "begun")
    losses = train(model, rows)
    keys = FORMATS[format][0] if format else dict(adapter="lora")
    run = launch(config_of(tmp_path, model_dir, **MESHES["zigzag, accumulated"][1], **keys, lora_model_dir=str(tmp_path / "begun")),
                 tmp_path / "runs", "--ranks", 2)
    assert json.loads((run / "preflight.json").read_text())["ok"]
    assert [event["loss"] for event in events_of(run)] == pytest.approx(losses, rel=1e-5)
    if format is None:
        ours = peft.PeftModel.from_pretrained(load(model_dir), tmp_path / "out")
        assert (logits_of(ours) - logits_of(model)).abs().max().item() < 1e-4
        ringmaster("merge", tmp_path / "out", "--to", tmp_path / "merged", "--base", model_dir)
        assert (logits_of(load(tmp_path / "merged")) - logits_of(ours.merge_and_unload())).abs().max().item() < 1e-5


@pytest.mark.parametrize("kind", MODELS, ids=[f"{kind}{', quick' if kind == 'glm4_moe' else ''}" for kind in MODELS])
def test_preflight_passes_in_bfloat16(kind, tmp_path):
    model_dir = model_of(tmp_path / "model", kind)
    make_rows(tmp_path / "rows.jsonl", 16)
    run = launch(config_of(tmp_path, model_dir, max_steps=1, micro_batch_size=4, bf16=True), tmp_path / "runs", "--ranks", 2)
    assert json.loads((run / "preflight.json").read_text())["ok"]


def test_corrections_and_heads_for_later_tokens_stay_as_they_are_stored_quick(tmp_path):
    import safetensors.torch
    import torch

    model = make_model(tmp_path / "model", "glm4_moe", **MODELS["glm4_moe"])
    state = safetensors.torch.load_file(model / "model.safetensors")
    corrections = {key: value for key, value in state.items() if key.endswith("e_score_correction_bias")}
    assert len(corrections) == 2 and all(value.abs().max() > 0 and value.dtype == torch.float32 for value in corrections.values())
    later = {"model.layers.3.eh_proj.weight": torch.randn(7, 5).to(torch.bfloat16)}
    safetensors.torch.save_file({**state, **later}, model / "model.safetensors")
    make_rows(tmp_path / "rows.jsonl", 16)
    run = launch(config_of(tmp_path, model, max_steps=2, bf16="full"), tmp_path / "runs", "--ranks", 1, "--no-preflight")
    assert state_of(run)["state"] == "completed"
    saved = safetensors.torch.load_file(tmp_path / "out" / "model.safetensors")
    for key, value in {**corrections, **later}.items():
        assert saved[key].dtype == value.dtype and torch.equal(saved[key], value), key


@pytest.mark.parametrize("kind, field, value", [
    ("glm4_moe", "scoring", "tanh"), ("deepseek_v3", "scoring_func", "softmax"), ("deepseek_v2", "topk_method", "noaux_tc"),
    ("deepseek_v2", "norm_topk_prob", True), ("deepseek_v3", "num_key_value_heads", 2), ("deepseek_v3", "moe_layer_freq", 2),
    ("granitemoehybrid", "mamba_proj_bias", True), ("granitemoehybrid", "layer_types", ["mamba", "mamba", "mamba"]),
    ("nemotron_h", "use_bias", True), ("jamba", "mamba_proj_bias", True), ("jamba", "mamba_inner_layernorms", False)])
def test_what_is_not_computed_is_refused_quick(kind, field, value, tmp_path):
    model = make_model(tmp_path / "model", kind, **MODELS[kind])
    settings = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps({**settings, field: value}))
    make_rows(tmp_path / "rows.jsonl", 8)
    plan = json.loads(ringmaster("plan", config_of(tmp_path, model), "--ranks", 1, "--json", check=False).stdout)
    errors = [finding for finding in plan["diagnostics"] if finding["severity"] == "error"]
    assert [error["code"] for error in errors] == ["ENGINE-MODEL"] and field in str(errors)


MEMORY = {
    "plain": {}, "recomputed": dict(gradient_checkpointing=True),
    "tiled": dict(gradient_checkpointing=True, tiled_mlp=True, tiled_mlp_num_shards=3),
    "ZeRO 3": dict(fsdp_version=2, fsdp_config={"reshard_after_forward": True}),
    "LoRA": dict(adapter="lora", lora_r=4, lora_alpha=8, lora_target_modules=["o_proj", "q_proj", "kv_b_proj"]),
    "bf16": dict(bf16=True, gradient_checkpointing=True),
    "quantized experts": dict(adapter="qlora", load_in_4bit=True, quantize_moe_experts=True, lora_r=4, lora_alpha=8,
                              lora_target_modules=["o_proj"]),
    "ring": dict(context_parallel_size=2), "ulysses": dict(context_parallel_size=2, ulysses_size=2),
}
SHAPE = dict(hidden_size=192, num_attention_heads=6, num_key_value_heads=6, moe_intermediate_size=160)
# Maps a name to (model, differences from its shape). The dense layers are wider or narrower than the experts that a token uses.
SHAPES = {
    "glm4_moe, wide": ("glm4_moe", dict(intermediate_size=960)), "glm4_moe": ("glm4_moe", dict(intermediate_size=200, num_key_value_heads=2)),
    "deepseek_v3, wide": ("deepseek_v3", dict(intermediate_size=960)), "deepseek_v3": ("deepseek_v3", dict(intermediate_size=200, v_head_dim=32)),
    "deepseek_v2": ("deepseek_v2", dict(intermediate_size=400)),
    "gemma4_text, wide": ("gemma4_text", dict(intermediate_size=960, num_key_value_heads=2)),
    "granitemoehybrid, wide": ("granitemoehybrid", dict(mamba_n_heads=12, intermediate_size=160, shared_intermediate_size=960, moe_intermediate_size=None)),
    "granitemoehybrid": ("granitemoehybrid", dict(mamba_n_heads=12, mamba_n_groups=3, intermediate_size=160, shared_intermediate_size=96,
                                                  moe_intermediate_size=None)),
    "nemotron_h, wide": ("nemotron_h", dict(intermediate_size=960, mamba_num_heads=6)),
    "nemotron_h": ("nemotron_h", dict(intermediate_size=200, mamba_num_heads=12, mamba_head_dim=32)),
    "gemma4_text": ("gemma4_text", dict(intermediate_size=200, global_head_dim=64, attention_k_eq_v=False)),
    "gemma4_text, e, wide": ("gemma4_text, e", dict(intermediate_size=960, num_key_value_heads=2, num_hidden_layers=6, num_kv_shared_layers=3,
                                                    moe_intermediate_size=None, global_head_dim=64, hidden_size_per_layer_input=48,
                                                    layer_types=["sliding_attention", "full_attention"] * 3)),
    "nemotron_h, latent": ("nemotron_h, latent", dict(intermediate_size=200, mamba_num_heads=6, moe_latent_size=64)),
    "jamba, wide": ("jamba", dict(intermediate_size=960, moe_intermediate_size=None)),
    "jamba": ("jamba", dict(intermediate_size=160, moe_intermediate_size=None, mamba_d_state=16, mamba_dt_rank="auto")),
}
LEAN = {("glm4_moe, wide", "plain"), ("deepseek_v3", "ring"), ("granitemoehybrid", "tiled"), ("nemotron_h", "ZeRO 3")}
WAYS = [(shape, way) for shape in SHAPES for way in MEMORY]


@pytest.mark.parametrize("shape, way", WAYS, ids=[f"{case[0]}, {case[1]}{', quick' if case in LEAN else ''}" for case in WAYS])
def test_the_plans_memory_is_what_was_counted(shape, way, tmp_path):
    kind, changes = SHAPES[shape]
    check_memory(tmp_path, model_of(tmp_path / "model", kind, **{**SHAPE, **changes}), MEMORY[way])
