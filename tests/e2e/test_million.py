"""Tests that sequences of any length train in little memory: a process that may allocate 1 GiB (RLIMIT_DATA) trains a
step of a million tokens, with chunks, and with checkpoints, keys, values, weights and states in an arena that is a file
on disk."""

import json
import os
import resource
import subprocess

import pytest
from safetensors.torch import load_file

from ringmaster_runs import BIN, events_of, make_config, make_model, ringmaster
from test_offload import offloading

LIMIT = 1 << 30
CHUNK = 16384  # tokens
WINDOW = 1024
EPSILON = 1e-5  # with a far smaller epsilon, AdamW's first step would be the gradient's sign, which rounding near 0 can flip
SHAPE = dict(hidden_size=256, intermediate_size=704, num_hidden_layers=4, vocab_size=8192, max_position_embeddings=1 << 21)
IN_HOST = dict(gradient_checkpointing=True, activation_offloading=True, tiled_mlp=True, **offloading(3, True))


def write_row(file, tokens):
    """Writes one row whose tokens have a period of 8191."""
    ids = [(i * i + 7 * i) % 8191 for i in range(tokens)]
    file.write_text(json.dumps({"input_ids": ids, "labels": ids}) + "\n")
    return file


def train(folder, tokens, window, is_limited):
    """Trains one step; returns the event of the step and the trained weights."""
    folder.mkdir()
    model = make_model(folder / "model", "mistral", **SHAPE, sliding_window=WINDOW if window else None)
    rows = write_row(folder / "rows.jsonl", tokens)
    keys = dict(IN_HOST, sequence_chunks=tokens // CHUNK) if is_limited else {}
    config = make_config(folder, model, rows, sequence_len=tokens, micro_batch_size=1, max_steps=1, warmup_steps=0, learning_rate=1e-3,
                         adam_epsilon=EPSILON, **keys)
    run = ringmaster("prepare", config, "--ranks", 1, "--runs-dir", folder / "runs", "--no-preflight", timeout=1800).stdout.splitlines()[-1]
    arena = folder / "arena"
    arena.mkdir()
    limits = (lambda: resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))) if is_limited else None
    environment = {**os.environ, "RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "OMP_NUM_THREADS": "2", "MASTER_ADDR": "127.0.0.1",
                   "MASTER_PORT": "0", **({"RINGMASTER_HOST_ARENA": str(arena)} if is_limited else {})}
    ended = subprocess.run([BIN / "ringmaster-engine", "--run", run], capture_output=True, text=True, env=environment, preexec_fn=limits)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    step, = events_of(type(folder)(run))
    weights = {}
    for file in (folder / "out").glob("*.safetensors"):
        weights.update(load_file(file))
    return step, weights


@pytest.mark.parametrize("window", [True, False], ids=["window", "whole"])
def test_a_limited_process_computes_what_an_unlimited_one_does(tmp_path, window):
    own, own_weights = train(tmp_path / "limited", 1 << 16, window, True)
    other, other_weights = train(tmp_path / "unlimited", 1 << 16, window, False)
    assert own["loss"] == pytest.approx(other["loss"], rel=1e-6)
    assert own["grad_norm"] == pytest.approx(other["grad_norm"], rel=1e-5)
    assert own_weights.keys() == other_weights.keys() and own_weights
    for name, weight in own_weights.items():
        assert (weight - other_weights[name]).abs().max() <= 1e-3 * 1e-2, name  # a hundredth of the largest update


def test_a_million_tokens_take_no_more_memory_than_a_quarter_of_them(tmp_path):
    quarter, _ = train(tmp_path / "quarter", 1 << 18, True, True)
    million, _ = train(tmp_path / "million", 1 << 20, True, True)
    assert million["tokens"] == 1 << 20

    def without_ids(step):
        return step["peak_memory_bytes"] - 2 * 8 * step["tokens"]  # without ids and labels

    print(f"outside the arena: {without_ids(quarter)} and {without_ids(million)} bytes; arena {million['host_memory_bytes']} bytes; "
          f"{million['step_s']:.0f} s")
    assert without_ids(million) <= 1.05 * without_ids(quarter)
