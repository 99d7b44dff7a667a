"""Tests that sequences computed in chunks, one after the other, give the losses and gradient norms of whole sequences,
with every setting that chunks can be combined with. Other settings are refused."""

import json

import pytest

from ringmaster_runs import events_of, kept_model, launch, make_config, make_rows, ringmaster
from test_offload import CPU, LORA, assert_alike, offloading

CHECKPOINTING = dict(gradient_checkpointing=True)
IN_HOST = dict(CHECKPOINTING, activation_offloading=True)
PACKED = dict(sample_packing=True, micro_batch_size=1)
GEMMA4 = dict(kind="gemma4_text", head_dim=16, global_head_dim=32, sliding_window=24, num_hidden_layers=4, hidden_size_per_layer_input=0,
              layer_types=["sliding_attention", "full_attention", "sliding_attention", "full_attention"])
LATENT = dict(n_routed_experts=6, num_experts_per_tok=2, moe_intermediate_size=24, num_key_value_heads=4, q_lora_rank=20, kv_lora_rank=16,
              qk_rope_head_dim=8, qk_nope_head_dim=16, v_head_dim=16)
MODELS = {
    "llama": dict(kind="llama"),
    "qwen3": dict(kind="qwen3"),
    "gemma2": dict(kind="gemma2", head_dim=16, sliding_window=24, num_hidden_layers=4),
    "mixture": dict(kind="mixtral", num_local_experts=4, num_experts_per_tok=2, sliding_window=None, output_router_logits=True,
                    router_aux_loss_coef=0.1),
    "sinks": dict(kind="gpt_oss", num_local_experts=4, num_experts_per_tok=2, head_dim=16, sliding_window=24),
    "two widths": dict(GEMMA4),
    "shared values": dict(GEMMA4, attention_k_eq_v=True, num_global_key_value_heads=1),
    "two widths, experts": dict(GEMMA4, enable_moe_block=True, num_experts=6, top_k_experts=2, moe_intermediate_size=24),
    "latents": dict(LATENT, kind="deepseek_v3", first_k_dense_replace=1, n_group=3, topk_group=2),
    "latents, wide values": dict(LATENT, kind="glm4_moe_lite", v_head_dim=24),
    "parallel": dict(kind="phi", intermediate_size=256),
    "scaled queries": dict(kind="ministral3", head_dim=24, rope_parameters={
        "rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 32.0,
        "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1}),
}
# Ten training steps of these models magnify rounding errors: even without chunks, gemma4's gradient norms on a zigzag
# of two ranks differ from those of one rank by 1.4e-5. At a low learning rate the weights hardly change, so the errors
# stay small.
ENLARGING, SLOW = ("two widths", "shared values", "two widths, experts", "latents, wide values"), dict(learning_rate=1e-6)
# Maps a name to (model, chunks, ranks, other keys).
CASES = {
    "packed": ("llama", 3, 1, dict(PACKED, **IN_HOST)),
    "windows": ("gemma2", 8, 1, {}),
    "ulysses": ("llama", 3, 2, dict(PACKED, context_parallel_size=2, ulysses_size=2, **IN_HOST)),
}
MORE = {
    **{f"{model}, {chunks}, {name}": (model, chunks, 1, keys)
       for model in ("llama", "qwen3", "gemma2") for chunks in (2, 3, 8)
       for name, keys in {"kept": {}, "checkpointing": CHECKPOINTING, "packed": PACKED, "packed, checkpointing": {**PACKED, **CHECKPOINTING},
                          "packed, in host": {**PACKED, **IN_HOST}}.items()},
    "selective": ("llama", 3, 1, dict(CHECKPOINTING, selective_checkpointing=True)),
    "selective, in host": ("llama", 3, 1, dict(IN_HOST, selective_checkpointing=True)),
    "tiled": ("llama", 3, 1, dict(CHECKPOINTING, tiled_mlp=True, tiled_mlp_num_shards=2)),
    "adapter": ("llama", 3, 1, dict(LORA, **IN_HOST)),
    "adapter, dropout": ("llama", 3, 1, dict(LORA, lora_dropout=0.3, **{**CHECKPOINTING, "learning_rate": 1e-3})),
    "adapter, nf4": ("qwen3", 3, 1, dict(LORA, adapter="qlora", load_in_4bit=True, **PACKED)),
    "noise": ("llama", 3, 1, dict(noisy_embedding_alpha=1.0)),
    "mixture": ("mixture", 3, 1, dict(PACKED, **CHECKPOINTING)),
    "mixture, accumulated": ("mixture", 3, 2, dict(micro_batch_size=1, gradient_accumulation_steps=2, **IN_HOST)),
    **{f"{model}, {name}": (model, chunks, 1, {**keys, **(SLOW if model in ENLARGING else {})})
       for model in ("sinks", "two widths", "shared values", "two widths, experts", "latents", "latents, wide values", "parallel", "scaled queries")
       for chunks, name, keys in ((8, "kept", {}), (2, "selective", dict(CHECKPOINTING, selective_checkpointing=True)),
                                  (3, "packed, in host", {**PACKED, **IN_HOST}))},
    "groups": ("llama", 3, 2, dict(micro_batch_size=1, gradient_accumulation_steps=2, **CHECKPOINTING)),
    "groups, stage 3": ("llama", 3, 2, dict(micro_batch_size=1, **IN_HOST, **offloading(3, True))),
    "ring": ("llama", 3, 2, dict(context_parallel_size=2, ring_attn_func="batch_stripe", **IN_HOST)),
    "ring, packed": ("llama", 3, 2, dict(PACKED, context_parallel_size=2, ring_attn_func="batch_stripe", **CHECKPOINTING)),
    "ring, 2 x 2": ("gemma2", 2, 4, dict(context_parallel_size=2, dp_shard_size=2, micro_batch_size=1, ring_attn_func="batch_stripe")),
    **{f"{layout}{', packed' if keys else ''}": ("llama", 3, 2, dict(context_parallel_size=2, ring_attn_func=layout, **keys, **kept))
       for layout in ("batch_ring", "batch_zigzag", "varlen_llama3", "varlen_ring", "varlen_zigzag")
       for keys, kept in (({}, IN_HOST), (PACKED, CHECKPOINTING))},
    "ulysses, stage 3": ("qwen3", 3, 2, dict(context_parallel_size=2, ulysses_size=2, **CHECKPOINTING, **offloading(3, True))),
    "ulysses, windows": ("gemma2", 2, 2, dict(context_parallel_size=2, ulysses_size=2, selective_checkpointing=True, **CHECKPOINTING)),
    "ulysses, sinks": ("sinks", 3, 2, dict(context_parallel_size=2, ulysses_size=2)),
    "ulysses, a copied key head": ("llama", 2, 4, dict(context_parallel_size=4, ulysses_size=4, **IN_HOST)),
    "2 x 2": ("llama", 3, 4, dict(context_parallel_size=4, ulysses_size=2, ring_attn_func="batch_zigzag", **IN_HOST)),
    "2 x 2, packed": ("llama", 3, 4, dict(PACKED, context_parallel_size=4, ulysses_size=2, ring_attn_func="varlen_zigzag")),
}


def train(folder, model, rows, ranks, keys, *arguments):
    folder.mkdir()
    keys = {"max_steps": 10, "micro_batch_size": 2, "sequence_len": 96, **keys}
    return launch(make_config(folder, model, rows, **keys), folder / "runs", "--ranks", ranks, *arguments)


def expect_alike(case, rows, tmp_path, *arguments):
    name, chunks, ranks, keys = case
    model = kept_model(tmp_path / "model", **MODELS[name])
    whole = train(tmp_path / "whole", model, rows, ranks, keys, "--no-preflight")
    run = train(tmp_path / "cut", model, rows, ranks, {**keys, "sequence_chunks": chunks}, *arguments)
    assert json.loads((run / "plan.json").read_text())["sequence"]["chunks"] == chunks
    assert_alike(run, whole, 1e-6)


@pytest.mark.parametrize("case", CASES)
def test_chunks_change_no_loss(case, rows_file, tmp_path):
    expect_alike(CASES[case], rows_file, tmp_path)


@pytest.mark.parametrize("case", MORE)
def test_chunks_change_no_loss_of_any_kind_of_run(case, rows_file, tmp_path):
    expect_alike(MORE[case], rows_file, tmp_path, "--no-preflight")


LLAMA_8B = dict(bf16=True, micro_batch_size=1, **IN_HOST, **offloading(3, True))


def planned(folder, rows, *arguments, **keys):
    config = make_config(folder, "meta-llama/Llama-3.1-8B", rows, **{**LLAMA_8B, **keys})
    return json.loads(ringmaster("plan", config, "--device", "cuda", "--device-memory", 80, "--ranks", 1, "--json", *arguments).stdout)


def test_a_plan_takes_the_fewest_chunks_that_fit(rows_file, tmp_path):
    def chunks(length, **keys):
        plan = planned(tmp_path, rows_file, "--host-memory", 1862, sequence_len=length, sequence_chunks="auto", **keys)
        assert plan["verdict"] == "fits"
        return plan

    assert chunks(65536)["sequence"]["chunks"] == 1
    long = chunks(2_000_000)
    count = long["sequence"]["chunks"]
    assert 1 < count < 200 and "SEQ-CHUNKS" in [said["code"] for said in long["diagnostics"]]
    fewer = planned(tmp_path, rows_file, "--host-memory", 1862, sequence_len=2_000_000, sequence_chunks=count - 1)
    assert fewer["verdict"] != "fits"


@pytest.mark.parametrize("keys, said", [
    (dict(context_parallel_size=2, ring_attn_func="balanced"), "equal shares"),
    (dict(context_parallel_size=2, ring_attn_func="auto"), "equal shares"),
    (dict(rl="dpo"), "weighs"), (dict(reward_model=True), "weighs")])
def test_what_needs_whole_sequences_is_refused(keys, said, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, sequence_chunks=2, **keys)
    plan = json.loads(ringmaster("plan", config, "--ranks", 2, "--json", check=False).stdout)
    refused = [problem for problem in plan["diagnostics"] if problem["code"] == "SEQ-CHUNKS"]
    assert len(refused) == 1 and said in refused[0]["message"]
    assert plan["verdict"] == "invalid"
