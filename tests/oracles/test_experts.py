"""Trains mixtures of experts and compares them with transformers and PEFT: the router's loss over a whole step, adapters,
sharded states, and a preflight that passes."""

import json
import os
import pathlib
import sys

import pytest

os.environ["TORCHDYNAMO_DISABLE"] = "1"  # bitsandbytes would compile a kernel for each shape
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from ringmaster_runs import events_of, launch, make_config, make_model, make_rows, ringmaster, state_of
from test_transformers import assert_same_steps
from transformers_loss import batch_of, count_labels, summed

STEPS, ROWS_PER_STEP, RATE, COEFFICIENT = 6, 8, 1e-3, 0.3
MODELS = {
    "mixtral": dict(num_local_experts=4),
    "qwen2_moe": dict(num_experts=6, num_experts_per_tok=2, moe_intermediate_size=40, shared_expert_intermediate_size=56),
    "qwen3_moe": dict(num_experts=6, num_experts_per_tok=3, moe_intermediate_size=40, head_dim=16, norm_topk_prob=True),
    "gpt_oss": dict(num_local_experts=5, num_experts_per_tok=2, head_dim=16, sliding_window=24),
}
ZIGZAG = dict(context_parallel_size=2, ring_attn_func="batch_zigzag")
# Maps a name to (ranks, keys). A step has 8 rows.
MESHES = {
    "1 rank": (1, dict(micro_batch_size=8)),
    "accumulated, recomputed": (1, dict(micro_batch_size=4, gradient_accumulation_steps=2, gradient_checkpointing=True)),
    "zigzag, accumulated": (2, dict(**ZIGZAG, micro_batch_size=4, gradient_accumulation_steps=2)),
    "ulysses, tiled": (2, dict(context_parallel_size=2, ulysses_size=2, micro_batch_size=8, tiled_mlp=True, tiled_mlp_num_shards=3)),
    "2 x 2, ZeRO 3, accumulated": (4, dict(**ZIGZAG, micro_batch_size=2, gradient_accumulation_steps=2, fsdp_version=2,
                                           fsdp_config={"reshard_after_forward": True})),
    "data parallel, ZeRO 2": (2, dict(micro_batch_size=4, fsdp_version=2, fsdp_config={"reshard_after_forward": False})),
    "data parallel, ZeRO 1": (2, dict(micro_batch_size=2, gradient_accumulation_steps=2,
                                      deepspeed={"zero_optimization": {"stage": 1}})),
}
QUICK = {"zigzag, accumulated", "ulysses, tiled"}


def load(folder):
    import torch
    import transformers

    return transformers.AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32)


def train(model, rows, steps=STEPS):
    """Trains with the router's loss over all tokens of a step, as transformers computes it for one batch without
    padding."""
    import torch
    from transformers.models.mixtral.modeling_mixtral import load_balancing_loss_func

    model.train()
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=RATE, weight_decay=0.0)
    history = []
    for step in range(steps):
        batch = rows[step * ROWS_PER_STEP:(step + 1) * ROWS_PER_STEP]
        ids, labels = batch_of(batch)
        out = model(input_ids=ids, output_router_logits=True)
        loss = summed(out.logits, labels) / count_labels(batch)
        is_token = torch.tensor([at < len(row["input_ids"]) for row in batch for at in range(ids.shape[1])])
        layers = tuple(of_layer.reshape(len(is_token), -1)[is_token] for of_layer in out.router_logits)
        config = model.config
        experts = getattr(config, "num_local_experts", None) or config.num_experts
        router = COEFFICIENT * load_balancing_loss_func(layers, experts, config.num_experts_per_tok)
        (loss + router).backward()
        norm = torch.nn.utils.get_total_norm([p.grad for p in model.parameters() if p.grad is not None])
        optimizer.step()
        optimizer.zero_grad()
        history.append({"loss": loss.item(), "router_loss": router.item(), "grad_norm": norm.item()})
    return history


@pytest.fixture(scope="module", params=sorted(MODELS))
def reference(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    model_dir = make_model(folder / "model", request.param, **MODELS[request.param])
    rows = make_rows(folder / "rows.jsonl", STEPS * ROWS_PER_STEP)
    model = load(model_dir)
    return request.param, folder, model_dir, model, train(model, rows)


def config_of(tmp_path, model_dir, folder, **keys):
    keys = {"max_steps": STEPS, **keys}
    return make_config(tmp_path, model_dir, folder / "rows.jsonl", learning_rate=RATE, lr_scheduler="constant",
                       warmup_steps=0, weight_decay=0.0, max_grad_norm=0.0, pad_to_sequence_len=True,
                       model_config={"output_router_logits": True, "router_aux_loss_coef": COEFFICIENT}, **keys)


def assert_same(run, history):
    assert_same_steps(run, history, router_loss=1e-5)


@pytest.mark.parametrize("mesh", MESHES, ids=[f"{mesh}{', quick' if mesh in QUICK else ''}" for mesh in MESHES])
def test_the_routers_loss_is_over_the_whole_step(reference, mesh, tmp_path):
    import torch

    kind, folder, model_dir, trained, history = reference
    ranks, keys = MESHES[mesh]
    run = launch(config_of(tmp_path, model_dir, folder, **keys), tmp_path / "runs", "--ranks", ranks)
    assert state_of(run)["state"] == "completed"
    assert ranks == 1 or json.loads((run / "preflight.json").read_text())["ok"]
    assert_same(run, history)
    ours = load(tmp_path / "out")
    with torch.no_grad():
        assert (ours(torch.arange(64)[None]).logits - trained(torch.arange(64)[None]).logits).abs().max().item() < 1e-4


def load_base(model_dir, format):
    if format is None:
        return load(model_dir)
    from test_quantized import FORMATS, load_quantized

    return load_quantized(model_dir, FORMATS[format][1], "eager")


ADAPTED = [(mesh, format) for mesh in ("zigzag, accumulated", "2 x 2, ZeRO 3, accumulated") for format in (None, "nf4", "int8")]


@pytest.mark.parametrize("mesh, format", ADAPTED, ids=[f"{mesh}, {format}{', quick' if (mesh, format) == ADAPTED[1] else ''}" for mesh, format in ADAPTED])
def test_adapters_and_quantized_weights_are_on_the_modules_that_are_linear_in_transformers(reference, mesh, format, tmp_path):
    import peft
    import torch
    from test_quantized import FORMATS

    kind, folder, model_dir, _, _ = reference
    torch.manual_seed(11)
    base = load_base(model_dir, format)
    linear = {name.rsplit(".", 1)[-1] for name, module in base.named_modules() if isinstance(module, torch.nn.Linear) and "layers" in name}
    model = peft.get_peft_model(base, peft.LoraConfig(task_type="CAUSAL_LM", r=4, lora_alpha=8, target_modules=sorted(linear)))
    model.save_pretrained(tmp_path / "begun")
    history = train(model, [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()])
    ranks, keys = MESHES[mesh]
    keys = {**keys, **(FORMATS[format][0] if format else dict(adapter="lora"))}
    config = config_of(tmp_path, model_dir, folder, **keys, lora_r=4, lora_alpha=8, lora_target_linear=True,
                       lora_model_dir=str(tmp_path / "begun"))
    run = launch(config, tmp_path / "runs", "--ranks", ranks)
    assert state_of(run)["state"] == "completed"
    assert_same(run, history)
    if format is None:
        ours, ids = peft.PeftModel.from_pretrained(load(model_dir), tmp_path / "out"), torch.arange(64)[None]
        with torch.no_grad():
            assert (ours(ids).logits - model(ids).logits).abs().max().item() < 1e-4


def test_a_model_saved_by_parameters_is_read_too(reference, tmp_path):
    """Reads a mixture whose experts are stored in one three-dimensional tensor, as transformers keeps them."""
    import safetensors.torch

    kind, folder, model_dir, trained, _ = reference
    fused = tmp_path / "fused"
    fused.mkdir()
    (fused / "config.json").write_text((pathlib.Path(model_dir) / "config.json").read_text())
    state = {key: value.contiguous() for key, value in load(model_dir).state_dict().items()}
    assert any(value.dim() == 3 for value in state.values())
    safetensors.torch.save_file(state, fused / "model.safetensors")
    losses = []
    for number, model in enumerate([model_dir, fused]):
        (tmp_path / str(number)).mkdir()
        config = make_config(tmp_path / str(number), model, folder / "rows.jsonl", max_steps=2)
        losses.append([event["loss"] for event in events_of(launch(config, tmp_path / str(number) / "runs", "--ranks", 1))])
    assert losses[0] == losses[1]


OF_EXPERTS = [("mixtral", ["q_proj", "w1"]), ("mixtral", ["gate"]), ("qwen3_moe", "all-linear"), ("qwen3_moe", ".*q_proj"),
              ("qwen3_next", ["q_proj", "down_proj"]), ("qwen3_next", None)]


@pytest.mark.parametrize("kind, targets", OF_EXPERTS, ids=str)
def test_targets_inside_experts_are_refused(kind, targets, tmp_path):
    """PEFT 0.21 applies the names that experts' modules had before transformers 5 to the experts' parameters."""
    model = make_model(tmp_path / "model", kind, **MODELS.get(kind, dict(num_hidden_layers=2, head_dim=16, **MODELS["qwen2_moe"])))
    make_rows(tmp_path / "rows.jsonl", 8)
    config = make_config(tmp_path, model, tmp_path / "rows.jsonl", adapter="lora", lora_r=4, lora_alpha=8, lora_target_modules=targets,
                         lora_target_linear=targets is None)
    plan = json.loads(ringmaster("plan", config, "--ranks", 1, "--json", check=False).stdout)
    errors = [finding for finding in plan["diagnostics"] if finding["severity"] == "error"]
    assert [(finding["code"], finding["key"]) for finding in errors] == [
        ("KEY-UNSUPPORTED", "lora_target_linear" if targets is None else "lora_target_modules")]


MEMORY = {
    "plain": {}, "recomputed": dict(gradient_checkpointing=True), "tiled": dict(gradient_checkpointing=True, tiled_mlp=True, tiled_mlp_num_shards=3),
    "ZeRO 3": dict(fsdp_version=2, fsdp_config={"reshard_after_forward": True}),
    "LoRA": dict(adapter="lora", lora_r=4, lora_alpha=8, lora_target_linear=True),
    "bf16": dict(bf16=True, gradient_checkpointing=True),
    "adapters of experts": dict(adapter="lora", lora_r=4, lora_alpha=8,
                                lora_target_parameters=["mlp.experts.gate_up_proj", "mlp.experts.down_proj"]),
    "quantized experts": dict(adapter="qlora", load_in_4bit=True, quantize_moe_experts=True, lora_r=4, lora_alpha=8,
                              lora_target_modules=["q_proj", "v_proj"]),
}


@pytest.mark.parametrize("way", MEMORY, ids=[f"{way}{', quick' if way == 'plain' else ''}" for way in MEMORY])
@pytest.mark.parametrize("kind", MODELS)
def test_the_plans_memory_is_what_was_counted(tmp_path, kind, way):
    shape = {**MODELS[kind], **dict(hidden_size=192, intermediate_size=320, num_attention_heads=6)}
    if "moe_intermediate_size" in shape:
        shape["moe_intermediate_size"] = 160
    check_memory(tmp_path, make_model(tmp_path / "model", kind, **shape), MEMORY[way])


def check_memory(folder, model, keys):
    make_rows(folder / "rows.jsonl", 12, longest=500)
    config = make_config(folder, model, folder / "rows.jsonl", sequence_len=512, pad_to_sequence_len=True, max_steps=2,
                         micro_batch_size=2, **keys)
    plan = json.loads(ringmaster("plan", config, "--ranks", 2, "--json").stdout)
    run = launch(config, folder / "runs", "--ranks", 2, "--no-preflight")
    for rank, memory in enumerate(plan["memory"]["per_rank"]):
        counted = max(event["peak_memory_bytes"] for event in events_of(run, rank))
        assert (memory["total"] - memory["runtime"]) / counted == pytest.approx(1, abs=0.05)
