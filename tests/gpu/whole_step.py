#!/usr/bin/env python3
"""Whole training steps on one GPU beside transformers with sdpa on the same model: a Llama-8B's shape, random weights, 4 of its
32 layers, all in bfloat16, one row a step.

    whole_step.py prepare --bin build/bin --to DIR [--device cuda|cpu]
    whole_step.py run --engine build/bin/ringmaster-engine --from DIR [--device cuda|cpu] [--seconds 300] [--json FILE]

`prepare` makes a run directory a length, which needs the launcher; `run` needs the engine and python3 with torch and
transformers alone, on another machine too. On the CPU the shape and the lengths are tiny: it proves the way, no speed. The two
sides take turns in processes of their own; the first step is a warm-up, the best of the others counts. Gives, for each
length, tokens a second, peak bytes of tensors (the allocators' own counters), their ratios, the engine's predicted peak beside
its measured one, and causal model-FLOPs utilisation: 6 operations a weight of a matrix and token, 6 · heads · head_dim a visible
pair of attention and layer twice over, nothing for what is computed again, of the GPU's data-sheet peak.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

LLAMA_8B = dict(vocab_size=128256, hidden_size=4096, intermediate_size=14336, num_hidden_layers=4, num_attention_heads=32,
                num_key_value_heads=8, max_position_embeddings=1 << 20, tie_word_embeddings=False)
TINY = dict(vocab_size=256, hidden_size=64, intermediate_size=112, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
            max_position_embeddings=1 << 12, tie_word_embeddings=False)
LENGTHS = {"cuda": [8192, 32768, 131072], "cpu": [64]}
STEPS = 4
DENSE_BF16_FLOPS = {"H100": 989e12, "H200": 989e12, "A100": 312e12}  # of NVIDIA's data sheets


def shape_on(device):
    return LLAMA_8B if device == "cuda" else TINY


def flops_of_step(shape, tokens):
    hidden, layers = shape["hidden_size"], shape["num_hidden_layers"]
    head_dim = hidden // shape["num_attention_heads"]
    attention = hidden * head_dim * (2 * shape["num_attention_heads"] + 2 * shape["num_key_value_heads"])
    matrices = layers * (attention + 3 * hidden * shape["intermediate_size"]) + hidden * shape["vocab_size"]
    visible = tokens * (tokens + 1) / 2
    return 6 * matrices * tokens + 12 * visible * hidden * layers


def prepare(given):
    given.to = given.to.resolve()
    given.to.mkdir(parents=True, exist_ok=True)
    shape = shape_on(given.device)
    model = given.to / "model"
    model.mkdir(exist_ok=True)
    (model / "config.json").write_text(json.dumps({**shape, "model_type": "llama", "architectures": ["LlamaForCausalLM"],
                                                   "rms_norm_eps": 1e-5, "rope_theta": 500000.0, "hidden_act": "silu"}))
    cases = []
    for tokens in LENGTHS[given.device]:
        rows = given.to / f"rows-{tokens}.jsonl"
        row = json.dumps({"input_ids": [(i * 31) % shape["vocab_size"] for i in range(tokens)]})
        rows.write_text(row[:-1] + ', "labels": ' + row[len('{"input_ids": '):-1] + "}\n")
        config = {"base_model": str(model), "reinit_weights": True, "sequence_len": tokens, "flash_attention": True,
                  "datasets": [{"path": str(rows), "ds_type": "json", "type": ""}], "curriculum_sampling": True, "bfloat16": True,
                  "micro_batch_size": 1, "gradient_accumulation_steps": 1, "max_steps": STEPS, "learning_rate": 1e-4,
                  "optimizer": "adamw_torch", "lr_scheduler": "constant", "save_strategy": "no", "output_dir": str(given.to / f"out-{tokens}"),
                  "gradient_checkpointing": True, "tiled_mlp": True}
        file = given.to / f"{tokens}.yaml"
        file.write_text(json.dumps(config))
        memory = ["--device-memory", "139"] if given.device == "cuda" else []
        subprocess.run([given.bin / "ringmaster", "prepare", file, "--ranks", "1", "--device", given.device, *memory, "--runs-dir", given.to,
                        "--name", f"run-{tokens}", "--no-preflight"], check=True, stdout=subprocess.DEVNULL)
        # The token file is the cache's: the folder has to hold all that it needs.
        plan = json.loads((given.to / f"run-{tokens}/plan.json").read_text())
        source = next(pathlib.Path(path) for path in texts_in(plan) if path.endswith("tokens.safetensors"))
        copy = given.to / f"tokens-{tokens}.safetensors"
        copy.write_bytes(source.read_bytes())
        text = (given.to / f"run-{tokens}/plan.json").read_text().replace(str(source), str(copy))
        (given.to / f"run-{tokens}/plan.json").write_text(text)
        cases.append({"tokens": tokens, "run": f"run-{tokens}"})
    (given.to / "cases.json").write_text(json.dumps({"folder": str(given.to), "device": given.device, "cases": cases}))
    return 0


def texts_in(value):
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        yield from texts_in(inner)


def reference(given):
    """transformers in a process of its own; prints JSON."""
    import torch
    import transformers

    cuda = given.device == "cuda"
    shape = shape_on(given.device)
    torch.manual_seed(0)
    with torch.device(given.device):
        config = transformers.LlamaConfig(**shape, use_cache=False)
        model = transformers.LlamaForCausalLM._from_config(config, attn_implementation="sdpa", dtype=torch.bfloat16)
        ids = (torch.arange(given.tokens) * 31 % shape["vocab_size"]).unsqueeze(0)
    model.train()
    model.gradient_checkpointing_enable()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    seconds = []
    for _ in range(STEPS):
        start = time.perf_counter()
        model(input_ids=ids, labels=ids).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if cuda:
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"step_s": min(seconds[1:]), "peak_bytes": torch.cuda.max_memory_allocated() if cuda else None}))


def last_json(command, seconds, env=None):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=max(1, seconds), env=env)
    except subprocess.TimeoutExpired:
        return {"failed": f"took more than {seconds:.0f} s"}
    if done.returncode != 0:
        return {"failed": (done.stderr.strip().splitlines() or ["no word"])[-1]}
    return json.loads(done.stdout.splitlines()[-1]) if done.stdout.strip().endswith("}") else {}


def ours(given, run, seconds):
    env = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE")}
    failed = last_json([given.engine, "--run", run, "--resume", "none"], seconds, env).get("failed")
    if failed:
        return {"failed": failed}
    events = [json.loads(line) for line in (run / "events/rank-00000.jsonl").read_text().splitlines()]
    steps = [event for event in events if event["type"] == "step"][-STEPS:]
    of_rank = json.loads((run / "plan.json").read_text())["memory"]["per_rank"][0]
    return {"step_s": min(step["step_s"] for step in steps[1:]), "peak_bytes": max(step["peak_memory_bytes"] for step in steps),
            "predicted_bytes": of_rank["total"] - of_rank["runtime"]}


def ratio(a, b):
    return a / b if a and b else None


def run(given):
    listed = json.loads((given.folder / "cases.json").read_text())
    until = time.monotonic() + given.seconds
    results = []
    for case in listed["cases"]:
        tokens, folder = case["tokens"], given.folder / case["run"]
        plan = folder / "plan.json"
        plan.write_text(plan.read_text().replace(listed["folder"], str(given.folder.resolve())))
        own = ours(given, folder, until - time.monotonic())
        theirs = last_json(["python3" if given.python is None else given.python, __file__, "reference", "--tokens", str(tokens), "--device",
                            given.device], until - time.monotonic())
        peak = next((flops for name, flops in DENSE_BF16_FLOPS.items() if name in given.gpu), None)
        step_s = own.get("step_s")
        results.append({"tokens": tokens, "ours": own, "transformers": theirs,
                        "speed_ratio": ratio(theirs.get("step_s"), step_s),
                        "memory_ratio": ratio(own.get("peak_bytes"), theirs.get("peak_bytes")),
                        "predicted_over_measured": ratio(own.get("predicted_bytes"), own.get("peak_bytes")),
                        "model_flops_utilisation": flops_of_step(shape_on(given.device), tokens) / step_s / peak if step_s and peak else None})
        (given.folder / "cases.json").write_text(json.dumps({**listed, "folder": str(given.folder.resolve())}))
    if given.json:
        given.json.write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps(results))
    return 0 if all("failed" not in it["ours"] and "failed" not in it["transformers"] for it in results) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tasks = parser.add_subparsers(dest="task", required=True)
    making, running, other = tasks.add_parser("prepare"), tasks.add_parser("run"), tasks.add_parser("reference")
    making.add_argument("--bin", type=pathlib.Path, required=True)
    making.add_argument("--to", type=pathlib.Path, required=True)
    running.add_argument("--engine", type=pathlib.Path, required=True)
    running.add_argument("--from", type=pathlib.Path, required=True, dest="folder")
    running.add_argument("--seconds", type=float, default=300)
    running.add_argument("--python", help="with torch and transformers; python3 of PATH where it is not given")
    running.add_argument("--gpu", default="", help="its name, for the data sheet's peak")
    running.add_argument("--json", type=pathlib.Path)
    other.add_argument("--tokens", type=int, required=True)
    for task in (making, running, other):
        task.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    given = parser.parse_args()
    return {"prepare": prepare, "run": run, "reference": reference}[given.task](given)


if __name__ == "__main__":
    sys.exit(main())
