"""Tests that a prompt shared by several answers is computed once, with the losses and gradients of separate rows, on every mesh.

One step of SGD shows the gradient: the rate is so large that the saved weights are a multiple of the gradient."""

import json
import os
import pathlib
import random
import subprocess

import pytest

from ringmaster_runs import BIN, events_of, make_config, make_model, ringmaster
from sshd import free_port

ENGINE = str(BIN / "ringmaster-engine")
RATE = 1e5
MESHES = {  # Maps a name to (ranks, keys).
    "1 rank": (1, {}),
    "ring": (2, dict(context_parallel_size=2, ring_attn_func="batch_ring")),
    "zigzag": (2, dict(context_parallel_size=2, ring_attn_func="batch_zigzag")),
    "stripe": (2, dict(context_parallel_size=2, ring_attn_func="batch_stripe")),
    "llama3": (2, dict(context_parallel_size=2, ring_attn_func="varlen_llama3")),
    "balanced": (2, dict(context_parallel_size=2, ring_attn_func="balanced")),
    "ulysses": (2, dict(context_parallel_size=2, ulysses_size=2)),
    "2 x 2": (4, dict(context_parallel_size=2, ring_attn_func="batch_zigzag", fsdp_version=2, fsdp_config={"reshard_after_forward": True})),
    "ring x ulysses": (4, dict(context_parallel_size=4, ulysses_size=2, ring_attn_func="batch_zigzag")),
}
PAIRS = {"dpo": dict(rl="dpo"), "ipo": dict(rl="ipo"), "orpo": dict(rl="orpo", orpo_alpha=0.2),
         "simpo": dict(rl="simpo", simpo_gamma=0.7, cpo_alpha=0.5), "reward": dict(reward_model=True)}
LOSSES = {**PAIRS, "grpo": dict(rl="grpo", trl={"loss_type": "grpo", "beta": 0.05}), "gspo": dict(rl="grpo", trl={
    "loss_type": "grpo", "importance_sampling_level": "sequence"})}
ADAPTER = dict(adapter="lora", lora_r=4, lora_alpha=8, lora_dropout=0, lora_target_linear=True)
GROUP = 4
QUICK = [("dpo", "zigzag", "llama"), ("orpo", "ulysses", "llama"), ("grpo", "ring", "window")]


def answers(source, count):
    """Yields `count` prompts, each as its ids and a list of the ids of its answers. The lengths vary."""
    for _ in range(count):
        ids = lambda least, most: [source.randint(1, 255) for _ in range(source.randint(least, most))]
        yield ids(8, 40), [ids(2, 20) for _ in range(GROUP)]


def rows_of(loss):
    source, rows = random.Random(11), []
    for prompt, completions in answers(source, 6):
        if loss not in PAIRS:
            rows += [{"prompt_ids": prompt, "completion_ids": ids, "advantages": source.gauss(0, 1),
                      "old_per_token_logps": [source.uniform(-5.8, -5.3) for _ in ids]} for ids in completions]
            continue
        for chosen, rejected in zip(completions[::2], completions[1::2]):
            row = {}
            for name, ids in (("chosen", chosen), ("rejected", rejected)):
                row[f"{name}_input_ids"] = prompt + ids
                if loss != "reward":
                    row[f"{name}_labels"] = [-100] * len(prompt) + ids
            rows.append(row)
    return rows


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    known = {}

    def of(kind):
        if kind not in known:
            changes = dict(sliding_window=13) if kind == "window" else {}
            known[kind] = make_model(tmp_path_factory.mktemp(kind), "mistral" if kind == "window" else kind, **changes)
        return known[kind]

    return of


def prepared(tmp_path, model, loss, mesh, shares, **keys):
    """Returns a run directory with one step's plan, in which prompts are shared or not, and its number of ranks."""
    folder = tmp_path / ("shared" if shares else "apart")
    folder.mkdir()
    rows = folder / "rows.jsonl"
    rows.write_text("".join(json.dumps(row) + "\n" for row in rows_of(loss)))
    ranks, sizes = MESHES[mesh]
    config = make_config(folder, model, rows, **{
        "micro_batch_size": 4, "gradient_accumulation_steps": 2, "max_steps": 1, "optimizer": "sgd", "learning_rate": RATE,
        "lr_scheduler": "constant", "warmup_steps": 0, "weight_decay": 0, "max_grad_norm": 1e30, "sequence_len": 64, **LOSSES[loss],
        **sizes, **keys})
    done = ringmaster("prepare", config, "--runs-dir", folder / "runs", "--ranks", ranks, "--json")
    run = pathlib.Path(json.loads(done.stdout.splitlines()[0])["dir"])
    plan = json.loads((run / "plan.json").read_text())
    assert plan["shared_prompts"]["on"]
    plan["shared_prompts"]["on"] = shares
    (run / "plan.json").write_text(json.dumps(plan))
    return run, ranks


def train(run, ranks):
    env = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(ranks),
           "OMP_NUM_THREADS": "1"}
    processes = [subprocess.Popen([ENGINE, "--run", run], env={**env, "RANK": str(rank), "LOCAL_RANK": str(rank)}, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for rank in range(ranks)]
    for process in processes:
        text, _ = process.communicate(timeout=300)
        assert process.returncode == 0, text
    return events_of(run)[0]


def weights(run):
    import safetensors.torch

    out = pathlib.Path(json.loads((run / "plan.json").read_text())["config"]["output_dir"])
    found = {}
    for file in sorted(out.glob("*.safetensors")):
        found.update(safetensors.torch.load_file(file))
    return found


def check(models, tmp_path, loss, mesh, kind, **keys):
    runs = {shares: prepared(tmp_path, models(kind), loss, mesh, shares, **keys) for shares in (True, False)}
    steps = {shares: train(*run) for shares, run in runs.items()}
    shared, apart = (weights(runs[shares][0]) for shares in (True, False))
    worst = max(((shared[name] - apart[name]).norm() / apart[name].norm()).item() for name in apart)
    print(f"{loss}, {mesh}, {kind}: gradients {worst:.1e} apart, losses {steps[True]['loss']} and {steps[False]['loss']}")
    assert steps[True]["grad_norm"] * RATE > 1e3, "the weights are not the gradient's multiple"
    assert worst < (5e-6 if loss == "reward" else 1e-6), "scores of a pair nearly cancel at first, and their rounding errors do not"
    assert steps[True]["loss"] == pytest.approx(steps[False]["loss"], rel=1e-6, abs=1e-7)
    assert steps[True]["tokens"] == steps[False]["tokens"] and steps[True]["valid_tokens"] == steps[False]["valid_tokens"]


@pytest.mark.parametrize("loss, mesh, kind", QUICK, ids=lambda name: name)
def test_quick_shared_prompts_change_no_gradient(models, tmp_path, loss, mesh, kind):
    check(models, tmp_path, loss, mesh, kind)


@pytest.mark.parametrize("kind", ["llama", "window"])
@pytest.mark.parametrize("mesh", MESHES)
@pytest.mark.parametrize("loss", LOSSES)
def test_shared_prompts_change_no_gradient_on_any_mesh(models, tmp_path, loss, mesh, kind):
    check(models, tmp_path, loss, mesh, kind)


@pytest.mark.parametrize("mesh", ["1 rank", "zigzag", "ulysses"])
@pytest.mark.parametrize("loss", ["dpo", "grpo"])
def test_nor_do_they_in_packed_rows_or_with_an_adapter(models, tmp_path, loss, mesh):
    check(models, tmp_path, loss, mesh, "qwen3", sample_packing=True, sequence_len=192, micro_batch_size=2, **ADAPTER)


def counted(tmp_path, model, loss, **keys):
    run, _ = prepared(tmp_path, model, loss, "1 rank", True, **keys)
    return json.loads((run / "plan.json").read_text())


def test_quick_the_plan_counts_what_is_saved_and_says_what_prevents_it(models, tmp_path):
    def cells(length):
        return length * (length + 1) / 2

    plan = counted(tmp_path, models("llama"), "dpo")
    tokens = computed = all_cells = computed_cells = most = 0
    for row in rows_of("dpo"):
        chosen, rejected = (len(row[f"{name}_input_ids"]) for name in ("chosen", "rejected"))
        shared = row["chosen_labels"].count(-100) - 1
        tokens += chosen + rejected
        computed += chosen + rejected - shared
        most = max(most, chosen + rejected - shared)
        all_cells += cells(chosen) + cells(rejected)
        computed_cells += cells(chosen) + cells(rejected) - cells(shared)
    sharing = plan["shared_prompts"]
    assert sharing["tokens"] == pytest.approx(computed / tokens) and sharing["cells"] == pytest.approx(computed_cells / all_cells)
    assert sharing["most"] == pytest.approx(most / 128)
    said = [finding for finding in plan["diagnostics"] if finding["code"] == "PROMPTS-SHARED"]
    assert len(said) == 1 and f"{round(100 - 100 * computed / tokens)} % of the tokens" in said[0]["message"]

    config = make_config(tmp_path, models("llama"), tmp_path / "shared" / "rows.jsonl", **LOSSES["gspo"], **{**ADAPTER, "lora_dropout": 0.1})
    asked = json.loads(ringmaster("plan", config, "--ranks", 1, "--json").stdout)
    said = [finding for finding in asked["diagnostics"] if finding["code"] == "PROMPTS-SHARED"]
    assert not asked["shared_prompts"]["on"] and "dropout" in said[0]["message"]
    assert said[0]["fixes"][0]["edits"] == [{"key": "lora_dropout", "value": 0}]
