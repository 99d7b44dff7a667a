"""Compares `fp16: true` with PEFT, torch.autocast and torch.amp.GradScaler on a model that is loaded in float16, as axolotl trains an
adapter with it: losses, norms, which steps are skipped, and the scale after each."""

import json
import pathlib
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from ringmaster_runs import events_of, launch, losses_of, make_config, make_model, make_rows, ringmaster, state_of
from test_lora import ALL, ATTENTION

STEPS, ROWS_PER_STEP = 12, 8
TRAINING = dict(max_steps=STEPS, learning_rate=1e-3, lr_scheduler="cosine", warmup_steps=4, weight_decay=0.1, max_grad_norm=0.5,
                adam_beta2=0.95)
# Maps a kind to PEFT's settings. Large factors make gradients that float16 cannot hold at GradScaler's first scale.
ADAPTERS = {
    "quick llama": dict(r=8, lora_alpha=16, target_modules=ALL),
    "qwen3": dict(r=4, lora_alpha=8, target_modules=[*ATTENTION, "up_proj"]),
    "quick llama, overflowing": dict(r=8, lora_alpha=4096, target_modules=ALL),
    "qwen3, overflowing": dict(r=4, lora_alpha=1024, target_modules=ALL),
}
MESHES = {
    "quick, 1 rank": (1, dict(micro_batch_size=8)),
    "quick, zigzag": (2, dict(context_parallel_size=2, ring_attn_func="batch_zigzag", micro_batch_size=8)),
    "ring, accumulated": (2, dict(context_parallel_size=2, ring_attn_func="batch_ring", micro_batch_size=2, gradient_accumulation_steps=4)),
    "ulysses": (2, dict(context_parallel_size=2, ulysses_size=2, micro_batch_size=8)),
    "data parallel": (2, dict(micro_batch_size=4)),
    "recomputed": (1, dict(micro_batch_size=8, gradient_checkpointing=True)),
    **{f"zigzag, ZeRO {stage}": (2, dict(context_parallel_size=2, ring_attn_func="batch_zigzag", micro_batch_size=8,
                                         deepspeed={"zero_optimization": {"stage": stage}})) for stage in (1, 2, 3)},
}


def rate_of(adapter):
    return 1e-5 if "overflowing" in adapter else TRAINING["learning_rate"]


def load(model_dir, dtype):
    import transformers

    return transformers.AutoModelForCausalLM.from_pretrained(model_dir, attn_implementation="sdpa", dtype=dtype)


def adamw(model, rate):
    import torch

    trained = [p for p in model.parameters() if p.requires_grad]
    assert all(p.dtype == torch.float32 for p in trained), "as PEFT keeps an adapter on a float16 model"
    return torch.optim.AdamW(trained, lr=rate, betas=(0.9, TRAINING["adam_beta2"]), eps=1e-8, weight_decay=TRAINING["weight_decay"])


def batches(rows):
    """Yields the batch of each step, padded on the right: input_ids and shifted labels."""
    import torch

    position = 0
    for _ in range(STEPS):
        batch = rows[position:position + ROWS_PER_STEP]  # the last rows of an epoch form a smaller step
        position = 0 if position + ROWS_PER_STEP >= len(rows) else position + ROWS_PER_STEP
        longest = max(len(row["input_ids"]) for row in batch)
        ids = torch.tensor([row["input_ids"] + [0] * (longest - len(row["input_ids"])) for row in batch])
        labels = torch.tensor([row["labels"] + [-100] * (longest - len(row["labels"])) for row in batch])
        yield ids, labels[:, 1:]


def train(model, rows, rate, in_float16):
    """Trains with the same loop as transformers' Trainer and accelerate, built from their parts. When GradScaler skips a step, the
    schedule skips it too."""
    import torch
    import transformers

    model.train()
    optimizer = adamw(model, rate)
    schedule = transformers.get_scheduler("cosine", optimizer, TRAINING["warmup_steps"], STEPS)
    scaler = torch.amp.GradScaler("cpu", enabled=in_float16)
    history = []
    for ids, labels in batches(rows):
        with torch.autocast("cpu", dtype=torch.float16, enabled=in_float16):
            logits = model(input_ids=ids).logits[:, :-1]
        loss = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), labels.flatten(), ignore_index=-100, reduction="sum")
        loss = loss / (labels != -100).sum()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), TRAINING["max_grad_norm"]).item()
        scale, rate_now = scaler.get_scale(), schedule.get_last_lr()[0]
        scaler.step(optimizer)
        scaler.update()
        skipped = scaler.get_scale() < scale
        if not skipped:
            schedule.step()
        history.append({"loss": loss.item(), "grad_norm": norm, "lr": rate_now, "scale": scale, "skipped": skipped})
        optimizer.zero_grad()
    return history


@pytest.fixture(scope="module", params=ADAPTERS)
def reference(request, tmp_path_factory):
    """Trains the same adapter in float32 and in float16."""
    import peft
    import torch

    adapter = request.param
    folder = tmp_path_factory.mktemp("fp16")
    model_dir = make_model(folder / "model", adapter.removeprefix("quick ").split(",")[0])
    rows = make_rows(folder / "rows.jsonl", 44)
    torch.manual_seed(11)
    begun = peft.get_peft_model(load(model_dir, torch.float32), peft.LoraConfig(task_type="CAUSAL_LM", **ADAPTERS[adapter]))
    begun.save_pretrained(folder / "begun")
    histories = [train(peft.PeftModel.from_pretrained(load(model_dir, dtype), folder / "begun", is_trainable=True), rows, rate_of(adapter),
                       dtype == torch.float16) for dtype in (torch.float32, torch.float16)]
    return adapter, folder, model_dir, *histories


def trained_here(reference, tmp_path, mesh, *arguments, **keys):
    adapter, folder, model_dir, _, _ = reference
    ranks, sizes = MESHES[mesh]
    tmp_path.mkdir(exist_ok=True)
    config = make_config(tmp_path, model_dir, folder / "rows.jsonl", **{**TRAINING, **sizes, "learning_rate": rate_of(adapter), **keys},
                         adapter="lora", lora_model_dir=str(folder / "begun"))
    return launch(config, tmp_path / "runs", "--ranks", ranks, *arguments)


@pytest.fixture(scope="module")
def in_float32(reference, tmp_path_factory):
    return losses_of(trained_here(reference, tmp_path_factory.mktemp("fp32"), "quick, 1 rank", "--no-preflight"))


def apart(losses, others):
    return [abs(one - other) for one, other in zip(losses, others, strict=True)]


@pytest.mark.parametrize("mesh", MESHES)
def test_losses_skipped_steps_and_scales_are_those_of_torch(reference, in_float32, mesh, tmp_path):
    adapter, _, _, wide, narrow = reference
    run = trained_here(reference, tmp_path / "run", mesh, fp16=True)
    ranks = MESHES[mesh][0]
    assert state_of(run)["state"] == "completed"
    assert ranks == 1 or json.loads((run / "preflight.json").read_text())["ok"]
    steps = events_of(run)
    assert [step.get("skipped", False) for step in steps] == [expected["skipped"] for expected in narrow]
    assert [step["loss_scale"] for step in steps] == [expected["scale"] for expected in narrow]
    assert ("overflowing" in adapter) == any(expected["skipped"] for expected in narrow) and not narrow[-1]["skipped"]
    for step, expected in zip(steps, narrow):
        assert step["lr"] == pytest.approx(expected["lr"], rel=1e-9), step["step"]
        assert expected["skipped"] or step["grad_norm"] == pytest.approx(expected["grad_norm"], rel=2e-2), step["step"]
    for rank in range(1, ranks):
        assert [(step["loss_scale"], step.get("skipped")) for step in events_of(run, rank)] == \
            [(step["loss_scale"], step.get("skipped")) for step in steps]

    ours = apart(losses_of(run), in_float32)
    theirs = apart([step["loss"] for step in narrow], [step["loss"] for step in wide])
    if "overflowing" in adapter:  # float32 skips no step, so the run is compared with torch's float16
        assert losses_of(run) == pytest.approx([step["loss"] for step in narrow], rel=1e-4)
    else:
        assert sum(ours) <= 1.1 * sum(theirs) and 0 < max(theirs) < 1e-2, (ours, theirs)


@pytest.mark.parametrize("reference", ["quick llama, overflowing"], indirect=True)
def test_resumed_is_the_run_to_the_last_bit_quick(reference, tmp_path):
    """Resumes from a checkpoint after the skipped steps and from a checkpoint between them."""
    whole = trained_here(reference, tmp_path / "whole", "quick, zigzag", "--no-preflight", fp16=True, save_steps=2, save_strategy=None,
                         save_total_limit=20)
    adapter_file = (tmp_path / "whole/out/adapter_model.safetensors").read_bytes()
    names = ("step", "loss", "grad_norm", "lr", "loss_scale", "skipped")
    told = [[event.get(name) for name in names] for event in events_of(whole)]
    assert told[0][-1] and not told[-1][-1]
    for step in (2, 8):
        run = tmp_path / f"from-{step}"
        shutil.copytree(whole, run)
        ringmaster("resume", run, "--checkpoint", step, "--set", f"output_dir={tmp_path / f'out-{step}'}")
        assert events_of(run, kind="hello")[-1]["start_step"] == step
        assert [[event.get(name) for name in names] for event in events_of(run)] == told
        assert (tmp_path / f"out-{step}/adapter_model.safetensors").read_bytes() == adapter_file


def test_numbers_that_no_scale_helps_end_with_the_place_quick(tmp_path):
    """Logits above 65,504 overflow in the forward pass. The run skips 17 steps and then ends with an error that names the place."""
    import torch

    model_dir = make_model(tmp_path / "model", "llama")
    model = load(model_dir, torch.float32)
    with torch.no_grad():
        model.lm_head.weight.mul_(3e6)
    model.save_pretrained(model_dir)
    make_rows(tmp_path / "rows.jsonl", 44)
    config = make_config(tmp_path, model_dir, tmp_path / "rows.jsonl", max_steps=40, fp16=True, adapter="lora", lora_r=4, lora_alpha=8,
                         lora_target_linear=True)
    done = ringmaster("launch", config, "--runs-dir", tmp_path / "runs", "--ranks", 1, "--json", check=False)
    assert done.returncode == 1
    said = [json.loads(line) for line in done.stdout.splitlines()]
    run = pathlib.Path(said[0]["dir"])
    assert [event["loss_scale"] for event in events_of(run)] == [2.0 ** (16 - i) for i in range(16)]
    assert all(event["skipped"] and event["loss"] is None and event["grad_norm"] is None for event in events_of(run))
    finding = next(line["finding"] for line in said if "finding" in line)
    assert finding["code"] == "ENGINE-NOT-FINITE" and "at the least loss scale: first seen" in finding["message"]
