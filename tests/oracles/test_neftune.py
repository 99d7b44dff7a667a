"""Compares `neftune_noise_alpha` with transformers' hook: scale, place and length of the noise are the hook's; the
random numbers are this engine's, computed here with SplitMix64 and lowbias32."""

import json
import pathlib
import sys

import numpy
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from ringmaster_runs import events_of, launch, losses_of, make_config, make_model, make_rows, ringmaster
from test_transformers import ROWS_PER_STEP, STEPS, TRAINING, assert_same_steps, load, train

ALPHA, SEED, OWN_STREAM = 5.0, 3, 0x6E656674756E65
PLAIN_LENGTHS = dict(neftune_noise_alpha=ALPHA, pad_to_sequence_len=False, seed=SEED)
MESHES = {
    "1 rank": (1, dict(micro_batch_size=1, gradient_accumulation_steps=8)),
    "2 ranks, zigzag, weights sharded quick": (2, dict(context_parallel_size=2, ring_attn_func="batch_zigzag", micro_batch_size=1,
                                                       gradient_accumulation_steps=8, gradient_checkpointing=True, fsdp_version=2,
                                                       fsdp_config={"reshard_after_forward": True})),
    "4 ranks as 2 x 2": (4, dict(context_parallel_size=2, micro_batch_size=1, gradient_accumulation_steps=4)),
    "2 ranks, ulysses": (2, dict(context_parallel_size=2, ulysses_size=2, micro_batch_size=1, gradient_accumulation_steps=8)),
}
MASK = (1 << 64) - 1


def splitmix64(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def lowbias32(x):
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & 0xFFFFFFFF
    x = ((x ^ (x >> 15)) * 0x846CA68B) & 0xFFFFFFFF
    return x ^ (x >> 16)


def draws(step, places, width):
    """Returns the engine's random numbers in (-1, 1) for a step: [places, width]."""
    stream = splitmix64(splitmix64(SEED ^ OWN_STREAM) ^ step)
    both = [splitmix64(stream ^ splitmix64(place)) for place in places]
    low = numpy.array([x & 0xFFFFFFFF for x in both], dtype=numpy.uint64)[:, None]
    high = numpy.array([x >> 32 for x in both], dtype=numpy.uint64)[:, None]
    first = splitmix64(stream) & 0xFFFFFFFF
    columns = lowbias32((first + numpy.arange(width, dtype=numpy.uint64)) & 0xFFFFFFFF)[None, :]
    hashes = lowbias32(lowbias32(columns ^ low) ^ high)
    return (2.0 * (hashes >> numpy.uint64(8)).astype(numpy.float64) + 1 - 2**24) / 2**24


def rows_in_order(count):
    """Yields the step and the row of each forward of test_transformers.train."""
    position = 0
    for step in range(1, STEPS + 1):
        for row in range(position, min(position + ROWS_PER_STEP, count)):
            yield step, row
        position = 0 if position + ROWS_PER_STEP >= count else position + ROWS_PER_STEP


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    import torch
    from transformers.integrations.neftune import activate_neftune

    folder = tmp_path_factory.mktemp("neftune")
    model_dir = make_model(folder / "model", "llama")
    rows = make_rows(folder / "rows.jsonl", 44)
    begins = numpy.cumsum([0] + [len(row["input_ids"]) for row in rows])
    forwards = rows_in_order(len(rows))

    def our_numbers(self, low, high):
        step, row = next(forwards)
        assert low == -high and self.shape[1] == len(rows[row]["input_ids"])
        unit = draws(step, range(begins[row], begins[row + 1]), self.shape[2])
        return self.copy_(torch.tensor(unit * float(high))[None])

    model = load(model_dir)
    activate_neftune(model, ALPHA)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.Tensor, "uniform_", our_numbers)
        history = train(model, rows, one_by_one=True)
    assert next(forwards, None) is None
    return folder, model_dir, model, history


@pytest.mark.parametrize("mesh", MESHES)
def test_losses_and_the_model_are_those_of_transformers(reference, mesh, tmp_path):
    import safetensors.torch

    folder, model_dir, model, history = reference
    ranks, keys = MESHES[mesh]
    config = make_config(tmp_path, model_dir, folder / "rows.jsonl", **TRAINING, **PLAIN_LENGTHS, **keys)
    run = launch(config, tmp_path / "runs", "--ranks", ranks)  # preflight replays the noise
    assert_same_steps(run, history)
    ours = safetensors.torch.load_file(next((tmp_path / "out").glob("*.safetensors")))
    for name, values in model.named_parameters():
        assert (ours[name] - values).abs().max().item() < 2e-5 + 1e-3 * values.abs().max().item(), name


def test_a_resumed_run_draws_the_same_noise_quick(reference, tmp_path):
    folder, model_dir, _, _ = reference
    keys = dict(TRAINING, max_steps=6, save_strategy="steps", save_steps=3)
    config = make_config(tmp_path, model_dir, folder / "rows.jsonl", **keys, **PLAIN_LENGTHS, gradient_accumulation_steps=4)
    run = launch(config, tmp_path / "runs", "--ranks", 1)
    whole = losses_of(run)
    ringmaster("resume", run, "--checkpoint", 3, "--set", f"output_dir={tmp_path / 'again'}")
    assert losses_of(run) == whole


def test_evaluations_are_without_noise(reference, tmp_path):
    import torch

    folder, model_dir, _, _ = reference
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
    keys = dict(max_steps=1, learning_rate=1e-12, warmup_steps=0, eval_steps=1, eval_strategy="steps",
                test_datasets=[{"path": str(folder / "rows.jsonl"), "ds_type": "json", "type": ""}])
    config = make_config(tmp_path, model_dir, folder / "rows.jsonl", **keys, **PLAIN_LENGTHS)
    run = launch(config, tmp_path / "runs", "--ranks", 1, "--no-preflight")
    model, total, labels = load(model_dir), 0.0, 0
    with torch.no_grad():
        for row in rows:
            logits = model(input_ids=torch.tensor([row["input_ids"]])).logits[0, :-1]
            wanted = torch.tensor(row["labels"][1:])
            total += torch.nn.functional.cross_entropy(logits, wanted, ignore_index=-100, reduction="sum").item()
            labels += (wanted != -100).sum().item()
    assert events_of(run, kind="eval")[-1]["loss"] == pytest.approx(total / labels, rel=1e-5)
