"""Whole training steps beside transformers in one run: 2 CPU ranks with zigzag against one process with 2 threads.

    python tests/bench/whole_step.py --bin build/bin [--tokens 8192] [--rounds 2] [--steps 3] [--json FILE]

Both train the same shape (hidden 512, 8 heads, 4 key/value heads, 6 layers, intermediate 1408, vocabulary 8192) on one row of
fp32 tokens with AdamW and no activation checkpointing. The two take turns; each side's first step of a round is a warm-up.
Prints tokens/s and peak resident memory a process, and the ratios that the README quotes.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

SHAPE = dict(vocab_size=8192, hidden_size=512, intermediate_size=1408, num_hidden_layers=6, num_attention_heads=8,
             num_key_value_heads=4, max_position_embeddings=65536, tie_word_embeddings=False)


def reference_process(tokens, steps, dtype):
    """The loop in transformers; runs in a process of its own, prints JSON."""
    import resource

    import torch
    import transformers

    torch.set_num_threads(2)
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM._from_config(transformers.LlamaConfig(**SHAPE), attn_implementation="sdpa")
    model.to(getattr(torch, dtype)).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    ids = torch.tensor([[(i * 31) % SHAPE["vocab_size"] for i in range(tokens)]])
    seconds = []
    for _ in range(steps + 1):
        start = time.perf_counter()
        model(input_ids=ids, labels=ids).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": seconds[1:], "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))


def run_reference(arguments):
    done = subprocess.run([sys.executable, __file__, "--reference", "--tokens", str(arguments.tokens), "--steps", str(arguments.steps),
                           "--dtype", arguments.dtype], capture_output=True, text=True, check=True,
                          env={**os.environ, "OMP_NUM_THREADS": "2"})
    return json.loads(done.stdout.splitlines()[-1])


def peak_kib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1])
    return 0


def run_ringmaster(arguments, folder, number):
    model = folder / "model"
    model.mkdir(exist_ok=True)
    (model / "config.json").write_text(json.dumps({**SHAPE, "model_type": "llama", "architectures": ["LlamaForCausalLM"],
                                                   "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "hidden_act": "silu"}))
    ids = [(i * 31) % SHAPE["vocab_size"] for i in range(arguments.tokens)]
    (folder / "rows.jsonl").write_text(json.dumps({"input_ids": ids, "labels": ids}) + "\n")
    config = {
        "base_model": str(model), "reinit_weights": True, "sequence_len": arguments.tokens, "flash_attention": True,
        "datasets": [{"path": str(folder / "rows.jsonl"), "ds_type": "json", "type": ""}], "curriculum_sampling": True,
        "micro_batch_size": 1, "gradient_accumulation_steps": 1, "max_steps": arguments.steps + 1, "learning_rate": 1e-4,
        "optimizer": "adamw_torch", "lr_scheduler": "constant", "save_strategy": "no", "output_dir": str(folder / f"out{number}"),
        **({"bf16": "full"} if arguments.dtype == "bfloat16" else {}),
        **({"context_parallel_size": arguments.ranks, "ring_attn_func": "batch_zigzag"} if arguments.ranks > 1 else {}),
    }
    (folder / "config.yaml").write_text(json.dumps(config))
    launched = subprocess.Popen([arguments.bin / "ringmaster", "launch", folder / "config.yaml", "--ranks", str(arguments.ranks),
                                 "--runs-dir", folder / "runs", "--name", f"bench{number}", "--no-preflight", "--json"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    run, peaks = folder / "runs" / f"bench{number}", {}
    while launched.poll() is None:
        time.sleep(0.2)
        try:
            for rank in json.loads((run / "run.json").read_text())["nodes"][0]["ranks"]:
                peaks[rank["rank"]] = max(peaks.get(rank["rank"], 0), peak_kib(rank["pid"]))
        except (OSError, ValueError, KeyError, IndexError):
            continue
    if launched.returncode != 0:
        raise SystemExit(launched.stderr.read())
    events = [json.loads(line) for line in (run / "events/rank-00000.jsonl").read_text().splitlines()]
    steps = [event for event in events if event["type"] == "step"]
    return {"seconds": [event["step_s"] for event in steps[1:]], "peak_kib": max(peaks.values()),
            "exposed": statistics.median(event["exposed_comm_s"] / event["step_s"] for event in steps[1:]),
            "tensor_peak": max(event["peak_memory_bytes"] for event in steps)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path)
    parser.add_argument("--tokens", type=int, default=8192)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--reference", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.reference:
        return reference_process(arguments.tokens, arguments.steps, arguments.dtype)

    sides = {"transformers": [], "ringmaster": []}
    with tempfile.TemporaryDirectory() as temporary:
        for number in range(arguments.rounds):
            sides["transformers"].append(run_reference(arguments))
            sides["ringmaster"].append(run_ringmaster(arguments, pathlib.Path(temporary), number))
            for name, rounds in sides.items():
                print(f"round {number + 1}  {name:<13} {statistics.median(rounds[-1]['seconds']):7.2f} s a step  "
                      f"{rounds[-1]['peak_kib'] / 1024:6.0f} MiB", flush=True)
    speed = {name: arguments.tokens / statistics.median(s for r in rounds for s in r["seconds"]) for name, rounds in sides.items()}
    memory = {name: max(r["peak_kib"] for r in rounds) for name, rounds in sides.items()}
    report = {"tokens": arguments.tokens, "dtype": arguments.dtype, "ranks": arguments.ranks, "tokens_per_s": speed, "peak_kib": memory,
              "speed_ratio": speed["ringmaster"] / speed["transformers"],
              "memory_ratio": memory["ringmaster"] / memory["transformers"],
              "exposed_comm": sides["ringmaster"][-1]["exposed"]}
    print(f"tokens/s: {speed['ringmaster']:.0f} against {speed['transformers']:.0f}, {report['speed_ratio']:.3f}x; peak memory a process: "
          f"{memory['ringmaster'] / 1024:.0f} against {memory['transformers'] / 1024:.0f} MiB, {report['memory_ratio']:.3f}x")
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
