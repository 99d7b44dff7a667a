"""Measures what shared prompts save: it compares steps in which answers share their prompts with the same steps in
which each answer computes its own prompt, in turn within one run.

    python tests/bench/shared_prompts.py --bin build/bin [--cases pairs groups] [--ranks 1] [--rounds 2] [--steps 3]
                                         [--dtype float32] [--require 0.9] [--json FILE]

`pairs`: two pairs of SimPO, in which prompts are 80 % of the tokens. `groups`: eight rollouts of one prompt, which is 80 % of
each rollout. The model is that of whole_step.py. The first step of a turn is a warm-up; the fastest of the others counts. Prints
the ratio of the seconds, and the ratio of the operations, which are counted from the tokens and the attended pairs. With
--require, the benchmark fails if the quotient of the two ratios is less.
"""

import argparse
import json
import os
import pathlib
import random
import socket
import subprocess
import tempfile

from whole_step import MODELS

SHAPE, PROMPT, ANSWER = MODELS["dense"], 1280, 320
CASES = {"pairs": dict(rl="simpo", simpo_gamma=0.5, micro_batch_size=2), "groups": dict(rl="grpo", trl={"loss_type": "dapo"}, micro_batch_size=8)}


def rows_of(case):
    source = random.Random(1)
    ids = lambda count: [source.randrange(SHAPE["vocab_size"]) for _ in range(count)]
    rows, prompt = [], ids(PROMPT)
    for _ in range(CASES[case]["micro_batch_size"]):
        if case == "groups":
            rows.append({"prompt_ids": prompt, "completion_ids": ids(ANSWER), "advantages": source.gauss(0, 1)})
            continue
        prompt, row = ids(PROMPT), {}
        for name in ("chosen", "rejected"):
            answer = ids(ANSWER)
            row[f"{name}_input_ids"], row[f"{name}_labels"] = prompt + answer, [-100] * PROMPT + answer
        rows.append(row)
    return rows


def operations(case, shared):
    """Returns the floating-point operations of a step: two forward passes and one backward pass through the matrices, attention,
    and the head for tokens with labels."""
    hidden, heads, layers = SHAPE["hidden_size"], SHAPE["num_attention_heads"], SHAPE["num_hidden_layers"]
    head_dim = hidden // heads
    matrices = 2 * hidden * hidden + 2 * hidden * head_dim * SHAPE["num_key_value_heads"] + 3 * hidden * SHAPE["intermediate_size"]
    prompts, answers = (2, 2) if case == "pairs" else (1, 8)
    kept = PROMPT - 1
    cells = lambda length: length * (length + 1) / 2
    again = prompts * (answers - 1) * shared
    tokens = prompts * answers * (PROMPT + ANSWER) - again * kept
    seen = prompts * answers * cells(PROMPT + ANSWER) - again * cells(kept)
    labels = prompts * answers * ANSWER
    return layers * (tokens * matrices * (2 + 2 + 4) + seen * hidden * (4 + 4 + 10)) + labels * hidden * SHAPE["vocab_size"] * (2 + 2 + 4)


def prepare(arguments, folder, case, shared):
    folder.mkdir(parents=True)
    model = folder / "model"
    model.mkdir()
    (model / "config.json").write_text(json.dumps({**SHAPE, "rope_theta": 10000.0}))
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows_of(case)))
    config = {
        "base_model": str(model), "reinit_weights": True, "sequence_len": PROMPT + ANSWER, "flash_attention": True,
        "datasets": [{"path": str(folder / "rows.jsonl"), "ds_type": "json", "type": ""}], "curriculum_sampling": True,
        "gradient_accumulation_steps": 1, "max_steps": arguments.steps + 1, "learning_rate": 1e-5, "optimizer": "adamw_torch",
        "lr_scheduler": "constant", "save_strategy": "no", "output_dir": str(folder / "out"), **CASES[case],
        **({"bfloat16": True} if arguments.dtype == "bfloat16" else {}),
        **({"context_parallel_size": arguments.ranks, "ring_attn_func": "batch_zigzag"} if arguments.ranks > 1 else {}),
    }
    (folder / "config.yaml").write_text(json.dumps(config))
    done = subprocess.run([arguments.bin / "ringmaster", "prepare", folder / "config.yaml", "--runs-dir", folder / "runs", "--ranks",
                           str(arguments.ranks), "--no-preflight", "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    run = pathlib.Path(json.loads(done.stdout.splitlines()[0])["dir"])
    plan = json.loads((run / "plan.json").read_text())
    assert plan["shared_prompts"]["on"]
    plan["shared_prompts"]["on"] = shared
    (run / "plan.json").write_text(json.dumps(plan))
    return run


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def train(arguments, run):
    env = {**os.environ, "WORLD_SIZE": str(arguments.ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()),
           "OMP_NUM_THREADS": str(max(1, 2 // arguments.ranks))}
    ranks = [subprocess.Popen([arguments.bin / "ringmaster-engine", "--run", run], env={**env, "RANK": str(rank), "LOCAL_RANK": str(rank)},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for rank in range(arguments.ranks)]
    for rank in ranks:
        text, _ = rank.communicate()
        assert rank.returncode == 0, text
    events = [json.loads(line) for line in (run / "events/rank-00000.jsonl").read_text().splitlines()]
    steps = [event for event in events if event["type"] == "step"]
    return {"seconds": [event["step_s"] for event in steps[1:]], "peak_bytes": max(event["peak_memory_bytes"] for event in steps),
            "losses": [event["loss"] for event in steps]}


def measure(arguments, case, folder):
    found = {True: [], False: []}
    for round_ in range(arguments.rounds):
        for shared in (True, False):
            found[shared].append(train(arguments, prepare(arguments, folder / f"{round_}-{shared}", case, shared)))
    best = {shared: min(second for turn in turns for second in turn["seconds"]) for shared, turns in found.items()}
    peaks = {shared: max(turn["peak_bytes"] for turn in turns) for shared, turns in found.items()}
    losses = [abs(a - b) for a, b in zip(found[True][0]["losses"], found[False][0]["losses"])]
    counted, faster = operations(case, 0) / operations(case, 1), best[False] / best[True]
    print(f"{case}, {arguments.dtype}, {arguments.ranks} rank(s): {best[False]:.2f} s alone, {best[True]:.2f} s shared, {faster:.2f} times as fast; "
          f"operations {counted:.2f}, quotient {faster / counted:.2f}; peak {peaks[False] >> 20} and {peaks[True] >> 20} MiB; "
          f"losses at most {max(losses):.1e} apart; load {os.getloadavg()[0]:.1f}")
    return {"case": case, "dtype": arguments.dtype, "ranks": arguments.ranks, "seconds": [best[False], best[True]], "faster": faster,
            "operations": counted, "quotient": faster / counted, "peak_bytes": [peaks[False], peaks[True]]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=CASES)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--require", type=float, default=0)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.bin = arguments.bin.resolve()
    with tempfile.TemporaryDirectory() as folder:
        figures = [measure(arguments, case, pathlib.Path(folder, case)) for case in arguments.cases]
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1))
    assert all(one["quotient"] >= arguments.require for one in figures), f"less than {arguments.require} of the counted ratio"


if __name__ == "__main__":
    main()
