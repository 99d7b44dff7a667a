"""Finds, by bisection, the longest sequence that trains within a memory limit: with Ringmaster on one rank and on two, and
with transformers.

    python tests/bench/longest_sequence.py --bin build/bin [--limit-gib 6] [--step 1024] [--times 16] [--dense] [--json FILE]

Every process may allocate --limit-gib (RLIMIT_DATA). Both sides train one step of hidden 512, 6 layers, 8 heads, 4
key/value heads, intermediate 1408, vocabulary 128,256, untied, float32, AdamW, one row. transformers uses sdpa and
gradient checkpointing; ours uses gradient checkpointing and tiled MLPs, and on two ranks sharded states (ZeRO 3). At these
lengths attention takes hours, but its memory does not depend on the mask. The head's memory does not depend on the number
of labels, because the head takes a chunk of tokens at a time. So ours is bisected with a sliding window of 1,024 tokens
and labels on the last 2,048 tokens only. Then --dense trains the length found (and --times transformers' length) with full
attention and all labels.
"""

import argparse
import json
import os
import pathlib
import resource
import socket
import subprocess
import sys
import tempfile
import time

SHAPE = dict(vocab_size=128256, hidden_size=512, intermediate_size=1408, num_hidden_layers=6, num_attention_heads=8,
             num_key_value_heads=4, max_position_embeddings=1 << 20, tie_word_embeddings=False)
SHARDED = {"fsdp_version": 2, "fsdp_config": {"reshard_after_forward": True}}
GIB = 1 << 30
WINDOW = 1024
LABELS = 2048


def reference_process(tokens):
    """Trains one step with transformers; runs as a separate process."""
    import torch
    import transformers

    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM._from_config(transformers.LlamaConfig(**SHAPE), attn_implementation="sdpa")
    model.gradient_checkpointing_enable()
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    ids = torch.tensor([[(i * 31) % SHAPE["vocab_size"] for i in range(tokens)]])
    model(input_ids=ids, labels=ids, use_cache=False).loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


def limited(arguments):
    bytes_ = int(arguments.limit_gib * GIB)
    return lambda: resource.setrlimit(resource.RLIMIT_DATA, (bytes_, bytes_))


def all_succeed(processes):
    """Waits for all processes and returns whether all succeeded. As soon as one fails, ends the others."""
    while any(process.poll() is None for process in processes):
        if any(process.poll() not in (None, 0) for process in processes):
            for process in processes:
                process.kill()
        time.sleep(0.2)
    return all(process.wait() == 0 for process in processes)


def reference_trains(tokens, arguments):
    return all_succeed([subprocess.Popen([sys.executable, __file__, "--reference", "--tokens", str(tokens)], preexec_fn=limited(arguments),
                                         env={**os.environ, "OMP_NUM_THREADS": "2"}, stderr=subprocess.DEVNULL)])


def write_config(tokens, ranks, dense, folder):
    model = folder / "model"
    model.mkdir(exist_ok=True)
    shape = {**SHAPE, "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "hidden_act": "silu"}
    kind = {"model_type": "llama"} if dense else {"model_type": "mistral", "sliding_window": WINDOW}
    (model / "config.json").write_text(json.dumps({**shape, **kind}))
    ids = [(i * 31) % SHAPE["vocab_size"] for i in range(tokens)]
    labels = ids if dense else [-100] * (tokens - LABELS) + ids[-LABELS:]
    (folder / "rows.jsonl").write_text(json.dumps({"input_ids": ids, "labels": labels}) + "\n")
    config = {
        "base_model": str(model), "reinit_weights": True, "sequence_len": tokens, "flash_attention": True, "max_steps": 1,
        "datasets": [{"path": str(folder / "rows.jsonl"), "ds_type": "json", "type": ""}], "learning_rate": 1e-4,
        "micro_batch_size": 1, "gradient_accumulation_steps": 1, "optimizer": "adamw_torch", "save_strategy": "no",
        "output_dir": str(folder / "out"), "gradient_checkpointing": True, "tiled_mlp": True,
        **({"context_parallel_size": ranks, "ring_attn_func": "batch_zigzag", **SHARDED} if ranks > 1 else {}),
    }
    file = folder / "config.yaml"
    file.write_text(json.dumps(config))
    return file


def ours_trains(tokens, ranks, dense, arguments):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        config = write_config(tokens, ranks, dense, folder)
        run = subprocess.run([arguments.bin / "ringmaster", "prepare", config, "--ranks", str(ranks), "--device", "cpu", "--runs-dir",
                              folder / "runs", "--no-preflight"], check=True, capture_output=True, text=True).stdout.splitlines()[-1]
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        place = {"WORLD_SIZE": ranks, "LOCAL_WORLD_SIZE": ranks, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port,
                 "OMP_NUM_THREADS": max(1, 2 // ranks)}
        processes = [subprocess.Popen([arguments.bin / "ringmaster-engine", "--run", run], preexec_fn=limited(arguments),
                                      stderr=subprocess.DEVNULL,
                                      env={**os.environ, **{key: str(value) for key, value in {**place, "RANK": rank,
                                                                                               "LOCAL_RANK": rank}.items()}})
                     for rank in range(ranks)]
        return all_succeed(processes)


def planned_longest(ranks, arguments):
    """Returns the longest sequence that the planner predicts to fit. The search begins at this length."""
    with tempfile.TemporaryDirectory() as folder:
        config = write_config(8192, ranks, False, pathlib.Path(folder))
        said = subprocess.run([arguments.bin / "ringmaster", "advise", config, "--ranks", str(ranks), "--device", "cpu", "--device-memory",
                               str(arguments.limit_gib), "--json"], capture_output=True, text=True, check=True).stdout
    return json.loads(said)["longest_sequence_len"]


def bisected(name, trains, guess, step):
    """Returns the longest multiple of `step` that trains. Moves away from `guess` in strides that double until one
    length trains and another fails, then bisects."""
    fits, fails = 0, None
    at, stride = max(1, guess // step), 1
    while fails is None or fails - fits > 1:
        success = trains(at * step)
        print(f"{name}: {at * step:,} tokens {'train' if success else 'do not fit'}", flush=True)
        fits, fails = (at, fails) if success else (fits, at)
        near = fails is not None and fits > 0
        at = (fits + fails) // 2 if near else fits + stride if fails is None else max(1, fails - stride)
        stride *= 2
    return fits * step


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path)
    parser.add_argument("--limit-gib", type=float, default=6)
    parser.add_argument("--step", type=int, default=1024)
    parser.add_argument("--times", type=int, default=16)
    parser.add_argument("--dense", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--reference", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--tokens", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.reference:
        return reference_process(arguments.tokens)

    arguments.bin = arguments.bin.resolve()
    report = {"limit_gib": arguments.limit_gib}
    report["transformers"] = bisected("transformers", lambda tokens: reference_trains(tokens, arguments), 2048, arguments.step // 8)
    guess = arguments.times * report["transformers"]
    for name, ranks in (("one", 1), ("two", 2)):
        report[name] = bisected(f"ranks {ranks}", lambda tokens, ranks=ranks: ours_trains(tokens, ranks, False, arguments),
                                planned_longest(ranks, arguments), arguments.step)
    if arguments.dense:
        report["dense"] = {}
        for ranks, tokens in ((1, guess), (1, report["one"]), (2, report["two"])):
            report["dense"][f"{ranks} x {tokens}"] = ours_trains(tokens, ranks, True, arguments)
            print(f"full attention, {ranks} rank(s), {tokens:,} tokens: {report['dense'][f'{ranks} x {tokens}']}", flush=True)
    print(f"one rank {report['one'] / report['transformers']:.1f}x transformers, two ranks {report['two'] / report['one']:.2f}x one")
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
