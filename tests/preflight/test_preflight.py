"""Tests that preflight passes on meshes that compute the same as one rank, and finds each fault of
faulty_engine.cpp."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).parent.parent / folder) for folder in ("support", "faults", "oracles")]
from ways import fresh_model
from ringmaster_runs import BIN, events_of, launch, make_config, make_model, make_rows, ringmaster, state_of
from trl_reference import make_pairs, rows_as_tokenized

FAULTY = BIN.parent / "tests/faulty_engine"

# Maps a fault to the words of the reported reason.
FAULTS = {
    "label lost at shard edges": "valid labels instead of",
    "positions not adjusted": "sum of position ids",
    "one hop dropped": "cells of the attention mask",
    "document boundary ignored": "the loss is",
    "valid count averaged instead of summed": "valid labels instead of",
    "gradient not reduced": "the same gradient norm",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("preflight")
    make_rows(folder / "rows.jsonl", 40, seed=9, longest=96)
    return make_model(folder / "model", "llama", num_hidden_layers=4), folder / "rows.jsonl"


def packed(tmp_path, files, **keys):
    return make_config(tmp_path, *files, **{"sequence_len": 128, "sample_packing": True, "context_parallel_size": 2, "max_steps": 4,
                                            "ring_attn_func": "varlen_zigzag", "micro_batch_size": 1, "gradient_accumulation_steps": 2,
                                            "output_dir": str(tmp_path / "out"), **keys})


@pytest.mark.parametrize("fault", [None, *FAULTS])
def test_each_fault_keeps_the_run_from_starting(fault, files, tmp_path):
    done = ringmaster("prepare", packed(tmp_path, files), "--ranks", 2, "--runs-dir", tmp_path / "runs")
    run = pathlib.Path(done.stdout.strip())
    subprocess.run([BIN / "ringmaster-agent", "--run", run, "--ranks", "2", "--engine", FAULTY, "--foreground"], timeout=120,
                   env={**os.environ, **({"RINGMASTER_FAULT": fault} if fault else {})})
    state, report = state_of(run), json.loads((run / "preflight.json").read_text())
    if fault is None:
        assert state["state"] == "completed" and report["ok"], state["reason"]
        return
    assert state["state"] == "failed" and "preflight" in state["reason"]
    assert FAULTS[fault] in state["reason"] and not report["ok"]
    assert events_of(run) == [], "no step was trained"


def test_a_fault_that_the_counts_do_not_show_is_found_in_what_is_computed(files, tmp_path):
    run = pathlib.Path(ringmaster("prepare", packed(tmp_path, files), "--ranks", 2, "--runs-dir", tmp_path / "runs").stdout.strip())
    subprocess.run([BIN / "ringmaster-agent", "--run", run, "--ranks", "2", "--engine", FAULTY, "--foreground"], timeout=120,
                   env={**os.environ, "RINGMASTER_FAULT": "document boundary ignored"})
    report = json.loads((run / "preflight.json").read_text())
    assert report["leak"] and abs(report["loss"]["mesh"] / report["loss"]["reference"] - 1) > report["bound"] / 10
    assert all(layer["relative_error"] > report["bound"] for layer in report["gradients"])


@pytest.mark.parametrize("fault, said", [(None, ""), ("rejected answers weigh too much", "the gradient of"),
                                         ("shared prompt not seen", "as the sum of position ids instead of")])
def test_a_fault_in_training_on_pairs_is_found(fault, said, files, tmp_path):
    rows = rows_as_tokenized("dpo", make_pairs(12))
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = packed(tmp_path, (files[0], tmp_path / "rows.jsonl"), rl="dpo")
    run = pathlib.Path(ringmaster("prepare", config, "--ranks", 2, "--runs-dir", tmp_path / "runs").stdout.strip())
    subprocess.run([BIN / "ringmaster-agent", "--run", run, "--ranks", "2", "--engine", FAULTY, "--foreground"], timeout=120,
                   env={**os.environ, **({"RINGMASTER_FAULT": fault} if fault else {})})
    report = json.loads((run / "preflight.json").read_text())
    assert json.loads((run / "plan.json").read_text())["shared_prompts"]["on"]
    assert report["ok"] == (fault is None) and ", dpo" in report["proved"]
    assert fault is None or said in report["failure"]


@pytest.mark.parametrize("stage", [1, 2, 3])
def test_a_sharded_gradient_that_is_not_reduced_is_found(stage, files, tmp_path):
    config = packed(tmp_path, files, deepspeed={"zero_optimization": {"stage": stage}})
    run = pathlib.Path(ringmaster("prepare", config, "--ranks", 2, "--runs-dir", tmp_path / "runs").stdout.strip())
    subprocess.run([BIN / "ringmaster-agent", "--run", run, "--ranks", "2", "--engine", FAULTY, "--foreground"], timeout=120,
                   env={**os.environ, "RINGMASTER_FAULT": "gradient not reduced"})
    assert "the gradient of" in state_of(run)["reason"]
    assert not json.loads((run / "preflight.json").read_text())["ok"]


@pytest.mark.parametrize("ranks, keys", [
    (1, dict(context_parallel_size=1)),
    (2, dict(ring_attn_func="auto")),
    (3, dict(context_parallel_size=3, ring_attn_func="balanced")),
    (4, dict(context_parallel_size=4, ulysses_size=2, ring_attn_func="varlen_llama3", heads_k_stride=2)),
    (4, dict(context_parallel_size=2, ring_attn_func="batch_zigzag", sample_packing=False, micro_batch_size=3)),
    (2, dict(context_parallel_size=1, sample_packing=False, micro_batch_size=2)),
    (2, dict(bf16=True)),
    (3, dict(context_parallel_size=3, ring_attn_func="balanced", fsdp_version=2, fsdp_config={"reshard_after_forward": True})),
    (4, dict(dp_replicate_size=2, fsdp_version=2, fsdp_config={"reshard_after_forward": False})),
    (4, dict(bf16=True, deepspeed={"zero_optimization": {"stage": 1}})),
    (2, dict(bfloat16=True, gradient_checkpointing=True)),
    (2, dict(sequence_len=512)),  # preflight uses short rows first, then long ones
], ids=str)
def test_meshes_that_are_right_pass(ranks, keys, files, tmp_path):
    config = packed(tmp_path, files, **keys)
    done = ringmaster("preflight", config, "--ranks", ranks, "--json")
    report = json.loads(done.stdout)
    assert report["ok"] and not report["leak"]
    assert [entry["layer"] for entry in report["gradients"]] == ["embedding", 0, 1, 2, 3, "head"]
    assert max(entry["relative_error"] for entry in report["gradients"] + report["attention"]) <= report["bound"]
    assert report["loss"]["mesh"] == pytest.approx(report["loss"]["reference"], rel=report["bound"] / 10)
    assert not (tmp_path / "out").exists(), "nothing is trained"


@pytest.mark.parametrize("keys", [dict(adapter="qlora", load_in_4bit=True), dict(adapter="lora", load_in_8bit=True)], ids=["4 bits", "8 bits"])
def test_a_quantized_base_in_bfloat16_passes(keys, files, tmp_path):
    """Preflight computes in float32, with the weights rounded to bfloat16."""
    config = packed(tmp_path, files, bf16=True, lora_r=4, lora_alpha=8, lora_dropout=0.05, lora_target_linear=True, **keys)
    report = json.loads(ringmaster("preflight", config, "--ranks", 2, "--json").stdout)
    assert report["ok"] and report["float32"]["worst"] <= report["float32"]["bound"]


def test_launch_proves_first_and_says_what_it_cost(files, tmp_path):
    run = launch(packed(tmp_path, files), tmp_path / "runs", "--ranks", 2)
    report = json.loads((run / "preflight.json").read_text())
    log = (run / "logs/rank-00000.log").read_text()
    assert report["ok"] and "preflight of 1 x 1 x 2 x 1, varlen_zigzag" in log and f"{report['seconds']:.1f} s: passed" in log
    assert "preflight" in [event["name"] for event in events_of(run, kind="phase")]


def test_a_resumed_run_on_the_same_mesh_is_not_proved_again(files, tmp_path):
    run = launch(packed(tmp_path, files, save_steps=2, save_strategy=None), tmp_path / "runs", "--ranks", 2)
    ringmaster("resume", run, "--checkpoint", 2)
    assert [event["name"] for event in events_of(run, kind="phase")].count("preflight") == 1
    ringmaster("resume", run, "--checkpoint", 2, "--set", "ring_attn_func=balanced")
    assert [event["name"] for event in events_of(run, kind="phase")].count("preflight") == 2


def test_it_can_be_left_out(files, tmp_path):
    run = launch(packed(tmp_path, files), tmp_path / "runs", "--ranks", 2, "--no-preflight")
    assert not (run / "preflight.json").exists()
    assert state_of(run)["state"] == "completed"


def test_steps_tell_what_the_ranks_shares_add_up_to(files, tmp_path):
    run = launch(packed(tmp_path, files, gradient_accumulation_steps=1), tmp_path / "runs", "--ranks", 2)
    plan = json.loads((run / "plan.json").read_text())
    first = [events_of(run, rank)[0] for rank in range(2)]
    from safetensors.numpy import load_file
    ends = load_file(plan["data"]["tokens"])
    documents = [int(end) for end in ends["document_offsets"] if end <= ends["row_offsets"][1]]
    lengths = [b - a for a, b in zip(documents, documents[1:])]
    assert sum(event["attention_cells"] for event in first) == sum(n * (n + 1) // 2 for n in lengths)
    padding = sum(event["position_sum"] for event in first) - sum(n * (n - 1) // 2 for n in lengths)
    assert padding >= 0
    assert sum(event["rank_valid_tokens"] for event in first) == first[0]["valid_tokens"]


def test_an_update_whose_terms_cancel_in_bfloat16_is_no_fault(files, tmp_path):
    make_rows(tmp_path / "rows.jsonl", 60, seed=9, longest=96)
    config = make_config(tmp_path, fresh_model(tmp_path / "model", "tied"), tmp_path / "rows.jsonl", bf16="full", max_steps=8,
                         micro_batch_size=2, learning_rate=1e-3)
    assert state_of(launch(config, tmp_path / "runs", "--ranks", 1, "--no-preflight"))["state"] == "completed"
