"""Trains a process reward model and transformers' ForTokenClassification on the same labelled steps. Compares every loss and the saved
model's scores, on several meshes. A training step averages the loss over the labels of all its rows, as transformers does for a
batch."""

import json
import pathlib
import random
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from ringmaster_runs import VOCABULARY, launch, losses_of, make_config, make_model, state_of

STEPS, BATCH, RATE = 10, 4, 1e-3
MODELS = ["llama", "qwen3"]
# Maps a name to (ranks, keys).
MESHES = {
    "1 rank": (1, dict(micro_batch_size=4)),
    "ring, accumulated": (2, dict(context_parallel_size=2, ring_attn_func="batch_ring", micro_batch_size=2, gradient_accumulation_steps=2)),
    "chunks": (1, dict(micro_batch_size=4, gradient_checkpointing=True, sequence_chunks=3)),
    "zigzag": (2, dict(context_parallel_size=2, ring_attn_func="batch_zigzag", micro_batch_size=4)),
    "2 x 2, weights sharded": (4, dict(context_parallel_size=2, micro_batch_size=2, fsdp_version=2, fsdp_config={"reshard_after_forward": True})),
}
OURS = dict(process_reward_model=True, max_steps=STEPS, learning_rate=RATE, lr_scheduler="constant", warmup_steps=0, weight_decay=0)


def make_steps(count):
    """Returns rows of token ids in which single tokens, possibly the first or the last one, have the label 0 or 1."""
    source, rows = random.Random(3), []
    for _ in range(count):
        ids = [source.randint(0, VOCABULARY - 1) for _ in range(source.randint(6, 60))]
        judged = {0, len(ids) - 1} if source.random() < 0.5 else set(source.sample(range(len(ids)), 2))
        rows.append({"input_ids": ids, "labels": [ids[place] % 2 if place in judged else -100 for place in range(len(ids))]})
    return rows


def train(model, rows):
    """Returns the losses of transformers' class on batches of BATCH rows."""
    import torch

    optimizer, losses = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0), []
    for step in range(STEPS):
        some = rows[step * BATCH : (step + 1) * BATCH]
        length = max(len(row["input_ids"]) for row in some)
        def padded(name, value):
            return torch.tensor([row[name] + [value] * (length - len(row[name])) for row in some])
        mask = torch.tensor([[1] * len(row["input_ids"]) + [0] * (length - len(row["input_ids"])) for row in some])
        loss = model(input_ids=padded("input_ids", 0), attention_mask=mask, labels=padded("labels", -100)).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Returns a function that makes a model and rows, and trains the model with transformers, once for each kind."""
    import torch
    import transformers

    known = {}

    def of(kind):
        if kind not in known:
            folder, rows = tmp_path_factory.mktemp("case"), make_steps(BATCH * STEPS)
            torch.manual_seed(5)
            config = transformers.AutoConfig.from_pretrained(make_model(folder / "causal", kind), num_labels=2)
            config.classifier_dropout = 0.0  # TRL switches dropout off
            model = transformers.AutoModelForTokenClassification.from_pretrained(folder / "causal", config=config, dtype=torch.float32)
            torch.nn.init.normal_(model.score.bias)
            model.save_pretrained(folder / "model")
            (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
            losses = train(model.train(), rows)
            known[kind] = folder, rows, losses, model.eval()
        return known[kind]

    return of


def check(trained, tmp_path, kind, mesh, **keys):
    import torch
    import transformers

    folder, rows, expected, theirs = trained(kind)
    ranks, sizes = MESHES[mesh]
    config = make_config(tmp_path, folder / "model", folder / "rows.jsonl", **OURS, **sizes, **keys)
    run = launch(config, tmp_path / "runs", "--ranks", ranks)
    assert state_of(run)["state"] == "completed" and json.loads((run / "preflight.json").read_text())["ok"]
    assert losses_of(run) == pytest.approx(expected, rel=1e-5)
    saved, found = transformers.AutoModelForTokenClassification.from_pretrained(tmp_path / "out", dtype=torch.float32, output_loading_info=True)
    assert not found["missing_keys"] and not found["unexpected_keys"] and saved.config.num_labels == 2
    ids = torch.tensor([rows[0]["input_ids"]])
    with torch.no_grad():
        assert (saved.eval()(ids).logits - theirs(ids).logits).abs().max() < 1e-4


@pytest.mark.parametrize("mesh", ["zigzag"])
def test_quick_losses_and_scores_are_those_of_transformers(trained, tmp_path, mesh):
    check(trained, tmp_path, "llama", mesh)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("mesh", MESHES)
def test_losses_and_scores_are_those_of_transformers(trained, tmp_path, kind, mesh):
    check(trained, tmp_path, kind, mesh)


def test_a_new_head_is_random_and_the_same_on_every_mesh(trained, tmp_path):
    folder = trained("llama")[0]
    losses = []
    for ranks, sizes in (MESHES["1 rank"], MESHES["2 x 2, weights sharded"]):
        config = make_config(tmp_path, folder / "causal", folder / "rows.jsonl", **OURS, **sizes)
        losses.append(losses_of(launch(config, tmp_path / "runs", "--ranks", ranks, "--overwrite")))
    assert losses[0] == pytest.approx(losses[1], rel=1e-6) and 0.5 < losses[0][0] < 1.5
