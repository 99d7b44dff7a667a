"""Tests that a run whose plan says "fits" never runs out of memory, and that a run whose plan says "will not fit" does.
The memory that a process may allocate is limited (RLIMIT_DATA). The planned memory is at most 0.9 or at least 1.1 of
the limit."""

import json
import os
import resource
import socket
import subprocess

import pytest

from ringmaster_runs import BIN, kept_model, make_config, ringmaster

GIB = 1 << 30
LIMIT = 3 * GIB // 2
DOCUMENT = 512  # tokens per row; lengths are multiples of it
CHECKPOINTING = dict(gradient_checkpointing=True)
SHARDED = dict(fsdp_version=2, fsdp_config={"reshard_after_forward": True})
LLAMA = dict(kind="llama", hidden_size=256, intermediate_size=704, num_hidden_layers=4)
WIDE = dict(kind="llama", vocab_size=32768, hidden_size=128, intermediate_size=352)
QWEN = dict(kind="qwen3", hidden_size=128, intermediate_size=352, num_hidden_layers=4)
CASES = [
    (LLAMA, 1, {}),
    (LLAMA, 2, dict(context_parallel_size=2, ring_attn_func="batch_zigzag")),
    (WIDE, 1, {}),
    (LLAMA, 1, dict(CHECKPOINTING, tiled_mlp=True)),
    (QWEN, 1, dict(CHECKPOINTING)),
    (QWEN, 2, dict(context_parallel_size=2, ulysses_size=2)),
    (WIDE, 2, dict(context_parallel_size=2, **SHARDED)),
    (LLAMA, 1, dict(bf16=True)),
    (QWEN, 1, dict(CHECKPOINTING, selective_checkpointing=True)),
    (WIDE, 1, dict(bfloat16=True, tiled_mlp=True)),
]


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    file = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    row = json.dumps({"input_ids": list(range(256)) * 2, "labels": list(range(256)) * 2}) + "\n"
    file.write_text(row * 2048)
    return file


def plan_of(config, ranks, length):
    planned = ringmaster("plan", config, "--ranks", ranks, "--device-memory", LIMIT / GIB, "--set", f"sequence_len={length}", "--json")
    plan = json.loads(planned.stdout)
    return plan["verdict"], plan["memory"]["per_rank"][0]["total"]


def longest(config, ranks, share):
    """Returns the longest sequence whose planned memory is at most `share` times the limit."""
    below, above = 0, 1024
    while above - below > 1:
        middle = (below + above) // 2
        fits = plan_of(config, ranks, middle * DOCUMENT)[1] <= share * LIMIT
        below, above = (middle, above) if fits else (below, middle)
    assert 0 < below < 1023, "the limit is not what decides"
    return below * DOCUMENT


def train(config, ranks, length, folder):
    """Trains one step with every rank under the limit; returns the ranks' exit statuses and their output."""
    run = ringmaster("prepare", config, "--ranks", ranks, "--set", f"sequence_len={length}", "--device-memory", LIMIT / GIB, "--runs-dir",
                     folder / "runs", "--no-preflight", "--overwrite").stdout.splitlines()[-1]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {**os.environ, "WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1",
                   "MASTER_PORT": str(port), "OMP_NUM_THREADS": "2"}
    processes = [subprocess.Popen([BIN / "ringmaster-engine", "--run", run], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  env={**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)},
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))) for rank in range(ranks)]
    said = [process.communicate(timeout=300)[0] for process in processes]
    return [process.returncode for process in processes], "\n".join(said)


@pytest.mark.parametrize("case", range(len(CASES)), ids="case{}".format)
def test_what_fits_runs_and_what_does_not_dies_of_memory(case, documents, tmp_path):
    shape, ranks, keys = CASES[case]
    model = kept_model(tmp_path / "model", **shape, max_position_embeddings=1 << 20)
    config = make_config(tmp_path, model, documents, sample_packing=True, pad_to_sequence_len=True, micro_batch_size=1, max_steps=1,
                         **keys)
    fitting = longest(config, ranks, 0.9)
    assert plan_of(config, ranks, fitting)[0] in ("fits", "tight")
    ended, said = train(config, ranks, fitting, tmp_path)
    assert ended == [0] * ranks, said
    too_long = longest(config, ranks, 1.1) + DOCUMENT
    assert plan_of(config, ranks, too_long)[0] in ("will_not_fit", "tight")
    ended, said = train(config, ranks, too_long, tmp_path)
    assert 1 in ended and "out of memory" in said, said


def test_between_them_it_says_tight(documents, tmp_path):
    model = kept_model(tmp_path / "model", **LLAMA, max_position_embeddings=1 << 20)
    config = make_config(tmp_path, model, documents, sample_packing=True, pad_to_sequence_len=True, max_steps=1)
    assert plan_of(config, 1, longest(config, 1, 1.0))[0] == "tight"
