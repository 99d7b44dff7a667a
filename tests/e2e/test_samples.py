"""Tests the texts that a run writes while it trains: sampling does not change the training, and the texts are those that the weights
generate."""

import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "oracles"))
from ringmaster_runs import kept_model, launch, losses_of, make_config, make_rows, ringmaster, state_of, wait_for
from test_generate_command import PROMPTS, make_tokenizer, text_of_transformers

SAMPLES = dict(sample_prompts=[*PROMPTS[:2], [{"role": "user", "content": "Hi"}]], sample_max_new_tokens=16)
SHARDED = dict(context_parallel_size=2, fsdp_version=2, fsdp_config={"reshard_after_forward": True})
MESHES = {
    "quick, dropout, weights sharded on a ring": (2, dict(SHARDED, adapter="lora", lora_r=4, lora_alpha=8, lora_target_linear=True, lora_dropout=0.2)),
    "all weights trained, 1 rank": (1, {}),
    "16 bits, weights sharded on a ring": (2, dict(SHARDED, bf16=True)),
}


def samples_of(run):
    return [json.loads(line) for line in (run / "samples.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("mesh", MESHES)
def test_samples_change_nothing(tmp_path, mesh):
    model = kept_model(tmp_path / "model", "llama", vocab_size=290)
    make_tokenizer(model)
    make_rows(tmp_path / "rows.jsonl", 30)
    ranks, keys = MESHES[mesh]
    runs = {}
    for name, more in {"plain": {}, "sampled": SAMPLES}.items():
        (tmp_path / name).mkdir()
        config = make_config(tmp_path / name, model, tmp_path / "rows.jsonl", max_steps=5, val_set_size=4, eval_steps=2, **keys, **more)
        runs[name] = launch(config, tmp_path / "runs", "--ranks", ranks)
    assert losses_of(runs["plain"]) == losses_of(runs["sampled"])
    assert not (runs["plain"] / "samples.jsonl").exists()
    samples = samples_of(runs["sampled"])
    assert [(line["step"], line["prompt"]) for line in samples] == [(step, prompt) for step in (2, 4, 5) for prompt in range(3)]
    events = [json.loads(line) for line in (runs["sampled"] / "events/rank-00000.jsonl").read_text().splitlines()]
    told = [event for event in events if event["type"] == "samples"]
    assert [(event["step"], event["prompts"]) for event in told] == [(2, 3), (4, 3), (5, 3)]
    assert told[-1]["bytes"] == (runs["sampled"] / "samples.jsonl").stat().st_size
    assert [line["asked"] for line in samples[:3]] == SAMPLES["sample_prompts"]
    assert len({str(line["log_probabilities"]) for line in samples if line["prompt"] == 0}) == 3
    if "adapter" not in keys:
        return
    adapter = tmp_path / "sampled" / "out"
    for line, prompt in zip(samples[-3:], [*PROMPTS[:2], "<user>Hi<answer>"]):
        assert line["text"] == text_of_transformers(model, prompt, adapter, tokens=16)


def test_wrong_prompts_are_refused(tmp_path):
    model = kept_model(tmp_path / "model", "llama")
    make_rows(tmp_path / "rows.jsonl", 4)
    for value in "a text", [""], [[{"role": "user"}]], [3]:
        config = make_config(tmp_path, model, tmp_path / "rows.jsonl", sample_prompts=value)
        done = ringmaster("plan", config, "--json", check=False)
        found = [one for one in json.loads(done.stdout)["diagnostics"] if one["key"] == "sample_prompts"]
        assert done.returncode == 1 and [one["code"] for one in found] == ["CFG-TYPE"], value


def test_a_run_answers_while_it_trains(tmp_path):
    model = kept_model(tmp_path / "model", "llama", vocab_size=290)
    make_tokenizer(model)
    make_rows(tmp_path / "rows.jsonl", 30)
    config = make_config(tmp_path, model, tmp_path / "rows.jsonl", max_steps=20_000, val_set_size=4, eval_steps=1, sample_prompts=PROMPTS[:1],
                         sample_max_new_tokens=16, **SHARDED)
    run = launch(config, tmp_path / "runs", "--ranks", 2, "--no-preflight", "--detach")
    try:
        wait_for(lambda: (run / "samples.jsonl").exists(), "the first samples")
        done = ringmaster("generate", run, "--prompt", PROMPTS[0], "--prompt", PROMPTS[1], "--max-new-tokens", 16, "--json")
        answers = [line for line in map(json.loads, done.stdout.splitlines()) if line["type"] == "completion"]
        assert [answer["prompt"] for answer in answers] == [0, 1]
        step = answers[0]["step"]
        written = {line["prompt"]: line for line in samples_of(run) if line["step"] == step}
        assert sorted(written) == [0, 1, 2] and [written[1]["asked"], written[2]["asked"]] == PROMPTS[:2]
        assert [answer["text"] for answer in answers] == [written[1]["text"], written[2]["text"]]
        assert written[1]["ids"] == written[0]["ids"], "an evaluation continues the same prompt with the same weights"
        assert written[1]["log_probabilities"] == written[0]["log_probabilities"]

        too_long = ringmaster("generate", run, "--prompt", "Once upon a time " * 400, "--json", check=False)  # the model has 512 positions
        refused = json.loads(too_long.stdout.splitlines()[-1])
        assert too_long.returncode == 1 and refused["finding"]["code"] == "GENERATE-RUN"
        reached = step_of(run)
        wait_for(lambda: step_of(run) > reached + 2, "more steps")
        assert state_of(run)["state"] == "running" and not (run / "samples_wanted.json").exists()
    finally:
        ringmaster("stop", run, "--now", check=False)


def step_of(run):
    """Returns the last step after which the run has written samples."""
    return samples_of(run)[-1]["step"]
