"""Compares the error of bfloat16 here and in transformers: how far the losses of ten steps are from those of the same model in float32,
over five models. The oracle computes with a bfloat16 copy of float32 weights, as FSDP's mixed precision and this engine do. The error of
torch.autocast, which keeps hidden states in float32, is printed next to it."""

import copy
import math
import pathlib
import random
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from ringmaster_runs import events_of, launch, make_config, make_rows
from test_families import FAMILIES, MESHES, RATE, ROWS_PER_STEP, SEQUENCE, STEPS, epsilon_of, load, save_model
from transformers_loss import count_labels, summed_loss

SEEDS = range(5)


def losses_of_transformers(model_dir, rows, epsilon, precision):
    """Trains float32 weights. `precision` is "float32", "autocast" (autocast computes some operations in bfloat16) or "copy" (a copy of
    the model computes all operations in bfloat16)."""
    import torch

    model = load(model_dir)
    model.set_experts_implementation("eager")  # grouped products of bfloat16 accept only rows of whole 16 bytes
    computing = copy.deepcopy(model).to(torch.bfloat16) if precision == "copy" else model
    computing.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.0, eps=epsilon)
    losses = []
    for step in range(STEPS):
        batch = [rows[(step * ROWS_PER_STEP + i) % len(rows)] for i in range(ROWS_PER_STEP)]
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "autocast"):
            loss = summed_loss(computing, batch) / count_labels(batch)
        loss.backward()
        losses.append(loss.item())
        if computing is not model:
            take_gradients(computing, model)
        optimizer.step()
        optimizer.zero_grad()
        if computing is not model:
            computing.load_state_dict(model.state_dict())
    return losses


def take_gradients(computing, model):
    for own, master in zip(computing.parameters(), model.parameters()):
        master.grad = None if own.grad is None else own.grad.float()
        own.grad = None


def losses_here(folder, model_dir, rows_file, epsilon, bfloat16):
    ranks, keys = MESHES["1 rank"]
    config = make_config(folder, model_dir, rows_file, max_steps=STEPS, learning_rate=RATE, lr_scheduler="constant", warmup_steps=0,
                         weight_decay=0.0, max_grad_norm=0.0, sequence_len=SEQUENCE, adam_epsilon=epsilon, bf16=bfloat16, **keys)
    return [event["loss"] for event in events_of(launch(config, folder / "runs", "--ranks", ranks, "--no-preflight"))]


def root_mean_square(seeds):
    return math.sqrt(sum(d * d for differences in seeds for d in differences) / sum(map(len, seeds)))


def least_ratio(ours, theirs):
    """Returns the ratio of root-mean-square errors that 95 % of bootstrap samples of the seeds exceed. The plain ratio would depend on
    the few seeds in which an expert's choice or a sign flips."""
    source = random.Random(1)
    samples = [source.choices(range(len(ours)), k=len(ours)) for _ in range(2000)]
    ratios = sorted(root_mean_square([ours[i] for i in some]) / root_mean_square([theirs[i] for i in some]) for some in samples)
    return ratios[len(ratios) // 20]


@pytest.mark.parametrize("name", [name for name in FAMILIES if name.endswith("full") and "wrapper" not in name])
def test_bfloat16_costs_no_more_than_in_transformers(tmp_path, name):
    ours, theirs, copies = [], [], []
    for seed in SEEDS:
        folder = tmp_path / str(seed)
        folder.mkdir()
        model_dir = save_model(folder / "model", name, seed)
        rows = make_rows(folder / "rows.jsonl", STEPS * ROWS_PER_STEP, longest=SEQUENCE, seed=seed)
        here = {}
        for bfloat16 in (False, True):
            (folder / str(bfloat16)).mkdir()
            here[bfloat16] = losses_here(folder / str(bfloat16), model_dir, folder / "rows.jsonl", epsilon_of(name), bfloat16)
        exact, autocast, copied = (losses_of_transformers(model_dir, rows, epsilon_of(name), p) for p in ("float32", "autocast", "copy"))
        assert here[False] == pytest.approx(exact, rel=1e-5)
        ours.append([a - b for a, b in zip(here[True], here[False])])
        theirs.append([a - b for a, b in zip(autocast, exact)])
        copies.append([a - b for a, b in zip(copied, exact)])
    here, copy_of, autocast = map(root_mean_square, (ours, copies, theirs))
    print(f"RMS {here / copy_of:.2f} {here / autocast:.2f}  {name}: {here:.2e} here, {copy_of:.2e} in a bfloat16 copy, {autocast:.2e} in autocast")
    assert here > 0 and least_ratio(ours, copies) <= 1.1
