"""Tests that experts divided among ranks change neither a loss nor a gradient norm, on any mesh, and that runs resume,
save the same weights, and take the predicted memory."""

import json
import random

import pytest

from ringmaster_runs import VOCABULARY, events_of, launch, make_config, make_model, make_rows, ringmaster, state_of

MODELS = {
    "qwen3_moe": dict(num_experts=8, num_experts_per_tok=3, moe_intermediate_size=48, head_dim=16, norm_topk_prob=True),
    "gpt_oss": dict(num_local_experts=4, num_experts_per_tok=2, head_dim=16, sliding_window=24),
    "glm4_moe": dict(n_routed_experts=8, num_experts_per_tok=3, n_group=4, topk_group=2, moe_intermediate_size=48, head_dim=16,
                     first_k_dense_replace=1, n_shared_experts=1),
}
ZERO_3 = dict(fsdp_version=2, fsdp_config={"reshard_after_forward": True})
RING = dict(dp_shard_size=2, context_parallel_size=2, ring_attn_func="batch_zigzag")
ROUTER = dict(model_config={"output_router_logits": True, "router_aux_loss_coef": 0.3})
LORA = dict(adapter="lora", lora_r=4, lora_alpha=8, lora_target_modules=["q_proj", "k_proj", "v_proj", "o_proj"], learning_rate=1e-2)
EXPERTS_LORA = dict(LORA, lora_target_parameters=["mlp.experts.gate_up_proj", "mlp.experts.down_proj"])
# Maps a name to (model, expert_parallel_size, other keys).
CASES = {
    "4 parts, quick": ("qwen3_moe", 4, dict(gradient_accumulation_steps=2)),
    "2 x 2, 2 parts, quick": ("gpt_oss", 2, dict(RING, gradient_checkpointing=True)),
    "2 parts": ("qwen3_moe", 2, dict(gradient_accumulation_steps=2)),
    "biases, 4 parts": ("gpt_oss", 4, {}),
    "2 x 2, 4 parts": ("qwen3_moe", 4, dict(RING)),
    "replicas": ("qwen3_moe", 2, dict(dp_replicate_size=2, dp_shard_size=2)),
    "ulysses": ("qwen3_moe", 2, dict(dp_shard_size=2, context_parallel_size=2, ulysses_size=2)),
    "packed": ("qwen3_moe", 2, dict(RING, ring_attn_func="varlen_zigzag", sample_packing=True, micro_batch_size=1)),
    "recomputed": ("qwen3_moe", 2, dict(gradient_checkpointing=True, gradient_accumulation_steps=2)),
    "router's loss": ("qwen3_moe", 4, dict(ROUTER, pad_to_sequence_len=True)),
    "adapter": ("qwen3_moe", 2, LORA),
    "adapter, 4 parts, recomputed": ("gpt_oss", 4, dict(LORA, gradient_checkpointing=True)),
    "adapter of experts, quick": ("qwen3_moe", 2, dict(EXPERTS_LORA, gradient_accumulation_steps=2)),
    "adapter of experts, 4 parts, recomputed": ("gpt_oss", 4, dict(EXPERTS_LORA, gradient_checkpointing=True)),
    "adapter of experts, 2 x 2": ("qwen3_moe", 4, dict(EXPERTS_LORA, **RING)),
    "dense layer first": ("glm4_moe", 2, dict(gradient_accumulation_steps=2)),
    "8-bit states": ("qwen3_moe", 2, dict(optimizer="adamw_torch_8bit")),
    "in host memory": ("qwen3_moe", 2, dict(deepspeed={"zero_optimization": {
        "stage": 3, "offload_optimizer": {"device": "cpu"}, "offload_param": {"device": "cpu"}}})),
}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    made = {}

    def of(kind):
        if kind not in made:
            made[kind] = make_model(tmp_path_factory.mktemp("models") / kind, kind, **MODELS[kind])
        return made[kind]

    return of


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    file = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    make_rows(file, 128)
    return file


def train(folder, model, rows, keys, *arguments, ranks=4):
    folder.mkdir()
    sharding = {} if "deepspeed" in keys else ZERO_3
    config = make_config(folder, model, rows, **{"max_steps": 10, "learning_rate": 1e-3, **sharding, **keys})
    run = launch(config, folder / "runs", "--ranks", ranks, *arguments)
    assert state_of(run)["state"] == "completed"
    return run


def assert_alike(run, expected, rel=1e-6):
    steps, others = events_of(run), events_of(expected)
    assert len(steps) == len(others) == 10
    for step, other in zip(steps, others):
        assert step["loss"] == pytest.approx(other["loss"], rel=rel), step["step"]
        assert step["grad_norm"] == pytest.approx(other["grad_norm"], rel=rel), step["step"]


def weights_of(folder):
    import safetensors.torch

    return safetensors.torch.load_file(next(folder.glob("*.safetensors")))


@pytest.mark.parametrize("case", CASES)
def test_divided_experts_change_no_loss(case, models, rows, tmp_path):
    kind, parts, keys = CASES[case]
    whole = train(tmp_path / "whole", models(kind), rows, keys, "--no-preflight")
    run = train(tmp_path / "divided", models(kind), rows, {**keys, "expert_parallel_size": parts})
    assert json.loads((run / "plan.json").read_text())["mesh"]["expert"] == parts
    assert json.loads((run / "preflight.json").read_text())["ok"]
    assert_alike(run, whole)
    expected, saved = weights_of(tmp_path / "whole" / "out"), weights_of(tmp_path / "divided" / "out")
    assert expected.keys() == saved.keys()
    for name, values in expected.items():
        assert (saved[name] - values).abs().max().item() < 1e-4, name


def losses_after(run, step):
    return [(event["step"], event["loss"], event["grad_norm"]) for event in events_of(run) if event["step"] > step]


@pytest.mark.parametrize("parts, resumed", [(2, 2), (4, 4), (2, 4), (4, 1), (1, 2)], ids=lambda size: str(size))
def test_a_checkpoint_resumes(parts, resumed, models, rows, tmp_path):
    """The losses after the resume equal those of the whole run, bit by bit if expert_parallel_size stays the same."""
    keys = dict(save_strategy="steps", save_steps=5, expert_parallel_size=parts)
    run = train(tmp_path / "whole", models("qwen3_moe"), rows, keys, "--no-preflight")
    expected = losses_after(run, 5)
    ringmaster("resume", run, "--checkpoint", 5, "--set", f"output_dir={tmp_path / 'out'}", "--set", f"expert_parallel_size={resumed}")
    assert json.loads((run / "plan.json").read_text())["mesh"]["expert"] == resumed
    assert events_of(run, kind="hello")[-1]["start_step"] == 5
    if parts != resumed:
        assert losses_after(run, 5) == [pytest.approx(step, rel=1e-6) for step in expected]
        return
    assert losses_after(run, 5) == expected
    assert (tmp_path / "out/model.safetensors").read_bytes() == (tmp_path / "whole/out/model.safetensors").read_bytes()


MEMORY = {"plain": {}, "recomputed": dict(gradient_checkpointing=True), "adapter": dict(LORA, learning_rate=1e-6),
          "adapter of experts": dict(EXPERTS_LORA, learning_rate=1e-6), "bf16": dict(bf16=True), "accumulated": dict(gradient_accumulation_steps=2)}


def make_level_model(folder):
    """Saves a mixture that loads all experts equally: in every layer, token t chooses the experts t, t + 1, t + 2 and t + 3, modulo 16.
    Attention and experts add nothing, and the router reads the first numbers of the embedding."""
    import safetensors.torch
    import torch

    make_model(folder, "qwen3_moe", hidden_size=192, num_attention_heads=6, num_key_value_heads=2, head_dim=32, num_experts=16,
               num_experts_per_tok=4, moe_intermediate_size=160)
    file = folder / "model.safetensors"
    state = safetensors.torch.load_file(file)
    for name, values in state.items():
        if "o_proj" in name or "down_proj" in name:
            values.zero_()
        if name.endswith("mlp.gate.weight"):
            values.copy_(torch.eye(16, 192))
        if name.endswith("norm.weight"):
            values.fill_(1)
        if "embed_tokens" in name:
            values[:, :16] = 0
            for token in range(VOCABULARY):
                for i in range(4):
                    values[token, (token + i) % 16] = 0.1
    safetensors.torch.save_file(state, file, {"format": "pt"})
    return folder


def make_level_rows(file, count):
    """Writes rows that have every token twice."""
    source = random.Random(5)
    rows = [2 * list(range(VOCABULARY)) for _ in range(count)]
    for row in rows:
        source.shuffle(row)
    file.write_text("".join(json.dumps({"input_ids": row, "labels": row}) + "\n" for row in rows))


OF_MEMORY = [(case, parts) for case in MEMORY for parts in (2, 4)]


@pytest.mark.parametrize("case, parts", OF_MEMORY, ids=[f"{case}, {parts}{', quick' if i == 1 else ''}" for i, (case, parts) in enumerate(OF_MEMORY)])
def test_memory_is_predicted_for_a_level_load(case, parts, tmp_path):
    model = make_level_model(tmp_path / "model")
    make_level_rows(tmp_path / "rows.jsonl", 16)
    keys = {"learning_rate": 1e-6, **MEMORY[case]}
    config = make_config(tmp_path, model, tmp_path / "rows.jsonl", sequence_len=512, max_steps=5, micro_batch_size=2,
                         expert_parallel_size=parts, **keys)
    plan = json.loads(ringmaster("plan", config, "--ranks", 4, "--json").stdout)
    assert plan["zero_stage"] == 3
    assert plan["received_tokens"] == {"level": 2 * 512 * 4, "worst": parts * 2 * 512 * 4}
    run = launch(config, tmp_path / "runs", "--ranks", 4, "--no-preflight")
    for rank, memory in enumerate(plan["memory"]["per_rank"]):
        # All steps need the same memory, so the lowest peak counts: on a busy machine, Gloo's thread keeps some sent tensors longer, which
        # raises some peaks.
        counted = min(event["peak_memory_bytes"] for event in events_of(run, rank))
        assert (memory["total"] - memory["runtime"]) / counted == pytest.approx(1, abs=0.05)
