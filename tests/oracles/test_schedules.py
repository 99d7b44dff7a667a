"""Compares the learning rates of 200 steps with transformers, torch and axolotl's formulas
(src/axolotl/utils/schedulers.py of 0.19)."""

import json
import math
import os
import pathlib
import subprocess

import pytest

RATES = pathlib.Path(os.environ["RINGMASTER_BIN"]).parent / "tests/print_rates"
STEPS, RATE = 200, 3e-4
# Maps a schedule's name to lists of keyword arguments.
TRANSFORMERS = {
    "linear": [{}],
    "cosine": [{}, {"num_cycles": 1.5}],
    "constant": [{}],
    "constant_with_warmup": [{}],
    "cosine_with_restarts": [{}, {"num_cycles": 3}],
    "polynomial": [{}, {"power": 2.0, "lr_end": 1e-6}],
    "inverse_sqrt": [{}, {"timescale": 50}],
    "cosine_with_min_lr": [{"min_lr": 1e-5}, {"min_lr_rate": 0.2, "num_cycles": 0.7}],
    "cosine_warmup_with_min_lr": [{"min_lr_rate": 0.1}, {"min_lr": 2e-5, "warmup_lr_rate": 0.05}],
    "warmup_stable_decay": [{"num_decay_steps": 60}, {"num_decay_steps": 40, "num_stable_steps": 90, "min_lr_ratio": 0.1, "warmup_type": "cosine", "decay_type": "linear"},
                            {"num_decay_steps": 40, "warmup_type": "1-sqrt", "decay_type": "1-sqrt"}],
}
WARMUPS = (0, 2, 17)


def asked(tmp_path, **keys):
    file = tmp_path / "config.yaml"  # JSON is YAML, too
    file.write_text(json.dumps({"base_model": "x/y", "datasets": [{"path": "rows.jsonl", "type": ""}], "output_dir": str(tmp_path / "out"),
                                "learning_rate": RATE, "sequence_len": 64, "max_steps": STEPS, **keys}))
    return subprocess.run([RATES, file, str(STEPS)], capture_output=True, text=True)


def ours(tmp_path, **keys):
    said = asked(tmp_path, **keys)
    assert said.returncode == 0, said.stderr
    return [float(line) for line in said.stdout.split()]


def stepped(make):
    """Returns the rate of each step under one of torch's schedulers."""
    import torch

    optimizer = torch.optim.AdamW([torch.nn.Parameter(torch.zeros(1))], lr=RATE)
    scheduler, rates = make(optimizer), []
    for _ in range(STEPS):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates


def same(mine, theirs):
    worst = max(abs(a - b) for a, b in zip(mine, theirs, strict=True))
    assert worst <= 1e-12, worst


@pytest.mark.parametrize("warmup", WARMUPS)
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_schedules_of_transformers(name, warmup, tmp_path):
    import transformers

    for arguments in TRANSFORMERS[name]:
        expected = stepped(lambda optimizer: transformers.get_scheduler(name, optimizer, warmup, STEPS, scheduler_specific_kwargs=dict(arguments)))
        same(ours(tmp_path, lr_scheduler=name, warmup_steps=warmup, **({"lr_scheduler_kwargs": arguments} if arguments else {})), expected)


@pytest.mark.parametrize("warmup", (0, 20, 60))
@pytest.mark.parametrize("arguments", [{}, {"div_factor": 10.0, "final_div_factor": 100.0, "anneal_strategy": "linear"}, {"pct_start": 0.4}], ids=str)
def test_one_cycle_is_torchs(warmup, arguments, tmp_path):
    import torch

    given = {"pct_start": warmup / STEPS, "anneal_strategy": "cos", **arguments}  # as axolotl calls it
    expected = stepped(lambda optimizer: torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=RATE, total_steps=STEPS, cycle_momentum=False, **given))
    same(ours(tmp_path, lr_scheduler="one_cycle", warmup_steps=warmup, lr_scheduler_kwargs={"cycle_momentum": False, **arguments}), expected)


def wave(step, warmup, end):
    return 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, end - warmup)))


@pytest.mark.parametrize("warmup", WARMUPS)
def test_axolotls_own_cosines(warmup, tmp_path):
    lowest, end = 0.1, int(STEPS * 0.7)
    plain = [step / warmup if step < warmup else 0.9 * wave(step, warmup, STEPS) + lowest for step in range(STEPS)]
    same(ours(tmp_path, warmup_steps=warmup, cosine_min_lr_ratio=lowest), [RATE * factor for factor in plain])
    held = [step / warmup if step < warmup else 0.9 * wave(min(step, end), warmup, end) + lowest for step in range(STEPS)]
    same(ours(tmp_path, warmup_steps=warmup, cosine_min_lr_ratio=lowest, cosine_constant_lr_ratio=0.7), [RATE * factor for factor in held])
    squared = [(step / warmup) ** 2 if step < warmup else wave(step, warmup, STEPS) for step in range(STEPS)]
    same(ours(tmp_path, warmup_steps=warmup, lr_quadratic_warmup=True), [RATE * factor for factor in squared])


@pytest.mark.parametrize("warmup", WARMUPS)
@pytest.mark.parametrize("lowest", [0, 0.1])
def test_rex(warmup, lowest, tmp_path):
    import torch

    class Rex(torch.optim.lr_scheduler.LRScheduler):  # RexLR begins with last_epoch 0: its first rate is that of step 1
        def __init__(self, optimizer):
            for group in optimizer.param_groups:
                group.setdefault("initial_lr", group["lr"])
            super().__init__(optimizer, last_epoch=0)

        def get_lr(self):
            if 1 <= self.last_epoch <= warmup:
                return [rate * self.last_epoch / warmup for rate in self.base_lrs]
            after, rest = self.last_epoch - warmup, STEPS - warmup
            if after >= rest or after == -1 or rest <= 0:
                return [lowest * RATE for _ in self.base_lrs]
            left = (rest - after % rest) / rest
            return [rate * (lowest + (1 - lowest) * (left / (0.1 + 0.9 * left))) for rate in self.base_lrs]

    keys = {"cosine_min_lr_ratio": lowest} if lowest else {}
    same(ours(tmp_path, lr_scheduler="rex", warmup_steps=warmup, **keys), stepped(Rex))


# Lists CustomSupportedOptimizers of axolotl 0.19, utils/schemas/enums.py.
AXOLOTLS = ("optimi_adamw ao_adamw_4bit ao_adamw_8bit ao_adamw_fp8 adopt_adamw adamc came_pytorch muon dion sinkgd polora flash_adamw flash_adam "
            "flash_sgd flash_sgdw flash_lion q_galore_adamw8bit").split()
WORK = {"adamw_torch", "adamw_torch_fused", "adamw_anyprecision", "adamw_bnb_8bit", "adamw_8bit", "paged_adamw_8bit", "paged_adamw_32bit", "adamw_torch_8bit",
        "adamw_torch_4bit", "sgd", "rmsprop", "rmsprop_bnb", "rmsprop_bnb_32bit", "rmsprop_bnb_8bit", "lion_32bit", "lion_8bit", "paged_lion_32bit",
        "paged_lion_8bit", "ademamix", "ademamix_8bit", "paged_ademamix_32bit", "paged_ademamix_8bit", "schedule_free_adamw", "adafactor", "came_pytorch",
        "muon"}


def test_every_optimizer_of_axolotl_and_transformers_works_or_names_the_nearest_that_does(tmp_path):
    from transformers.training_args import OptimizerNames

    names = {name.value for name in OptimizerNames} | set(AXOLOTLS)
    assert len(names) > 50 and WORK <= names
    for name in sorted(names):
        said = asked(tmp_path, optimizer=name)
        if name in WORK:
            assert said.returncode == 0, f"{name}: {said.stderr}"
            continue
        assert said.returncode == 1 and f"optimizer '{name}' is not supported" in said.stderr, name
        key, nearest = said.stderr.splitlines()[1].split(": ")
        assert key == "optimizer" and nearest in WORK, f"{name}: {said.stderr}"


@pytest.mark.parametrize("keys, said", [
    ({"lr_scheduler": "greedy"}, "constant_with_warmup"), ({"lr_scheduler": "reduce_lr_on_plateau"}, "constant_with_warmup"),
    ({"lr_scheduler": "one_cycle"}, "cycle_momentum: false"), ({"lr_scheduler": "warmup_stable_decay"}, "num_decay_steps"),
    ({"lr_scheduler": "cosine_with_min_lr"}, "min_lr_rate"), ({"lr_scheduler": "polynomial", "lr_scheduler_kwargs": {"lr_end": 1}}, "linear"),
    ({"lr_scheduler": "linear", "lr_scheduler_kwargs": {"power": 2}}, "leave it out")], ids=str)
def test_what_a_schedule_cannot_do_is_said_with_a_way_out(keys, said, tmp_path):
    answer = asked(tmp_path, **keys)
    assert answer.returncode == 1 and said in answer.stderr.splitlines()[1], answer.stderr
