#!/usr/bin/env python3
"""Measures whole training steps on one GPU: Llama-8B's shape with random weights, all in bfloat16, one row per step.

    whole_step.py prepare --bin build/bin --to DIR [--device cuda|cpu]
    whole_step.py run --engine build/bin/ringmaster-engine --from DIR [--kind full|lora|long] [--device cuda|cpu] [--seconds 300]

full: 4 of the 32 layers, all weights trained, with selective checkpointing (the attention's output is kept), compared with
transformers with sdpa and its gradient checkpointing. lora: all 32 layers, low-rank adapters on every linear module, compared with
transformers with sdpa and PEFT (if PEFT is not installed, this file's own adapters, which the result says). long: one forward and
backward over 600 thousand tokens through 4 layers, without transformers; it also prints the longest sequence that the planner
predicts for all 32 layers with adapters on this device.

`prepare` makes a run directory for each length, and needs the launcher. `run` needs only the engine and python3 with
torch and transformers, and may run on another machine. On the CPU the shape and the lengths are tiny, which tests the
procedure, not the speed. The two sides take turns in separate processes; if a side trains several steps, the first
one is a warm-up, and the fastest of the others counts. For each length it prints tokens per second, peak bytes of
tensors (from the allocators' counters), their ratios, the engine's predicted and measured peak and whether they
differ by at most a tenth, and causal model-FLOPs utilisation relative to the GPU's data-sheet peak. That counts 6
operations per weight of a matrix and token (4 if it is frozen) and 2 · 6 · heads · head_dim per visible pair of
attention and layer, and nothing for recomputation.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

LLAMA_8B = dict(vocab_size=128256, hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
                num_key_value_heads=8, max_position_embeddings=1 << 20, tie_word_embeddings=False)
TINY = dict(vocab_size=256, hidden_size=64, intermediate_size=112, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2,
            max_position_embeddings=1 << 12, tie_word_embeddings=False)
LORA = dict(adapter="lora", lora_r=16, lora_alpha=32, lora_dropout=0.0, lora_target_linear=True)
# For each kind: layers (None: all), whether only adapters are trained, whether transformers runs too, and
# {tokens: steps}. A step of all layers over 128k tokens takes a minute or more.
KINDS = {
    "cuda": {"full": (4, False, True, {8192: 4, 32768: 4, 131072: 4}), "lora": (None, True, True, {8192: 4, 32768: 3, 131072: 2}),
             "long": (4, False, False, {600000: 1})},
    "cpu": {"full": (2, False, True, {64: 4}), "lora": (None, True, True, {64: 2}), "long": (2, False, False, {96: 1})},
}
DENSE_BF16_FLOPS = {"H100": 989e12, "H200": 989e12, "A100": 312e12}  # from NVIDIA's data sheets
DEVICE_GIB = 139  # memory of an H200


def shape_of(device, layers):
    shape = LLAMA_8B if device == "cuda" else TINY
    return {**shape, "num_hidden_layers": layers or shape["num_hidden_layers"]}


def flops_of_step(shape, tokens, adapters):
    hidden, layers = shape["hidden_size"], shape["num_hidden_layers"]
    head_dim = hidden // shape["num_attention_heads"]
    attention = hidden * head_dim * (2 * shape["num_attention_heads"] + 2 * shape["num_key_value_heads"])
    matrices = layers * (attention + 3 * hidden * shape["intermediate_size"]) + hidden * shape["vocab_size"]
    visible = tokens * (tokens + 1) / 2
    return (4 if adapters else 6) * matrices * tokens + 12 * visible * hidden * layers


def config_of(given, kind, tokens):
    layers, adapters, _, lengths = KINDS[given.device][kind]
    shape = shape_of(given.device, layers)
    model = given.to / f"model-{shape['num_hidden_layers']}"
    model.mkdir(exist_ok=True)
    (model / "config.json").write_text(json.dumps({**shape, "model_type": "llama", "architectures": ["LlamaForCausalLM"],
                                                   "rms_norm_eps": 1e-5, "rope_theta": 500000.0, "hidden_act": "silu"}))
    rows = given.to / f"rows-{tokens}.jsonl"
    row = json.dumps({"input_ids": [(i * 31) % shape["vocab_size"] for i in range(tokens)]})
    rows.write_text(row[:-1] + ', "labels": ' + row[len('{"input_ids": '):-1] + "}\n")
    config = {"base_model": str(model), "reinit_weights": True, "sequence_len": tokens, "flash_attention": True,
              "datasets": [{"path": str(rows), "ds_type": "json", "type": ""}], "curriculum_sampling": True, "bfloat16": True,
              "micro_batch_size": 1, "gradient_accumulation_steps": 1, "max_steps": lengths[tokens], "learning_rate": 1e-4,
              "optimizer": "adamw_torch", "lr_scheduler": "constant", "save_strategy": "no",
              "output_dir": str(given.to / f"out-{kind}-{tokens}"), "gradient_checkpointing": True, "tiled_mlp": True,
              **(LORA if adapters else {"selective_checkpointing": True} if kind == "full" else {})}
    file = given.to / f"{kind}-{tokens}.yaml"
    file.write_text(json.dumps(config))
    return file


def options_of(given):
    return ["--ranks", "1", "--device", given.device, *(["--device-memory", str(DEVICE_GIB)] if given.device == "cuda" else [])]


def prepare_run(given, kind, tokens):
    name = f"{kind}-{tokens}"
    subprocess.run([given.bin / "ringmaster", "prepare", config_of(given, kind, tokens), *options_of(given), "--runs-dir", given.to,
                    "--name", name, "--no-preflight"], check=True, stdout=subprocess.DEVNULL)
    # Copies the token file into the folder, because the plan names the file in the cache and the folder has to be
    # complete.
    plan = given.to / name / "plan.json"
    source = next(pathlib.Path(path) for path in texts_in(json.loads(plan.read_text())) if path.endswith("tokens.safetensors"))
    copy = given.to / f"tokens-{tokens}.safetensors"
    copy.write_bytes(source.read_bytes())
    plan.write_text(plan.read_text().replace(str(source), str(copy)))
    return {"kind": kind, "tokens": tokens, "run": name}


def longest_sequence(given):
    """Returns the longest sequence that the planner predicts for all layers with adapters."""
    config = config_of(given, "lora", min(KINDS[given.device]["lora"][3]))
    asked = subprocess.run([given.bin / "ringmaster", "advise", config, *options_of(given), "--json"], capture_output=True, text=True,
                           check=True)
    return json.loads(asked.stdout)["longest_sequence_len"]


def prepare(given):
    given.to = given.to.resolve()
    given.to.mkdir(parents=True, exist_ok=True)
    cases = [prepare_run(given, kind, tokens) for kind, (_, _, _, lengths) in KINDS[given.device].items() for tokens in lengths]
    listed = {"folder": str(given.to), "device": given.device, "cases": cases, "longest_sequence_len": longest_sequence(given)}
    (given.to / "cases.json").write_text(json.dumps(listed))
    return 0


def texts_in(value):
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        yield from texts_in(inner)


def written_out_adapters(model):
    """Adds adapters as PEFT does, for machines without PEFT: y + (alpha ÷ r) · B A x on every linear module of
    the layers."""
    import torch

    def adapt(linear):
        down = torch.nn.Linear(linear.in_features, LORA["lora_r"], bias=False)
        up = torch.nn.Linear(LORA["lora_r"], linear.out_features, bias=False)
        down, up = (it.to(linear.weight.device, linear.weight.dtype) for it in (down, up))
        torch.nn.init.zeros_(up.weight)
        linear.down, linear.up = down, up
        scale = LORA["lora_alpha"] / LORA["lora_r"]
        linear.register_forward_hook(lambda it, inputs, y: y + it.up(it.down(inputs[0])) * scale)

    for weight in model.parameters():
        weight.requires_grad_(False)
    for linear in [it for it in model.model.layers.modules() if isinstance(it, torch.nn.Linear)]:
        adapt(linear)
    model.enable_input_require_grads()
    return model


def with_adapters(model):
    """Returns the model with adapters, and whether the adapters are PEFT's or this file's."""
    try:
        import peft
    except ImportError:
        return written_out_adapters(model), "written out"
    config = peft.LoraConfig(r=LORA["lora_r"], lora_alpha=LORA["lora_alpha"], target_modules="all-linear", task_type="CAUSAL_LM")
    model.enable_input_require_grads()
    return peft.get_peft_model(model, config, autocast_adapter_dtype=False), f"peft {peft.__version__}"


def reference(given):
    """Runs transformers in a separate process; prints JSON."""
    import torch
    import transformers

    cuda = given.device == "cuda"
    layers, adapters, _, lengths = KINDS[given.device][given.kind]
    shape = shape_of(given.device, layers)
    torch.manual_seed(0)
    with torch.device(given.device):
        config = transformers.LlamaConfig(**shape, use_cache=False)
        model = transformers.LlamaForCausalLM._from_config(config, attn_implementation="sdpa", dtype=torch.bfloat16)
        ids = (torch.arange(given.tokens) * 31 % shape["vocab_size"]).unsqueeze(0)
    model.train()
    model.gradient_checkpointing_enable()
    model, whose = with_adapters(model) if adapters else (model, None)
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-4, fused=True)
    seconds = []
    causal = model.get_base_model() if hasattr(model, "get_base_model") else model

    def chunk_loss(hidden, labels):
        return torch.nn.functional.cross_entropy(causal.lm_head(hidden).float(), labels, reduction="sum")

    def loss():
        if not given.in_chunks:
            return model(input_ids=ids, labels=ids).loss
        hidden, total = causal.model(input_ids=ids).last_hidden_state[0, :-1], 0
        for h, l in zip(hidden.split(1024), ids[0, 1:].split(1024)):
            total = total + torch.utils.checkpoint.checkpoint(chunk_loss, h, l, use_reentrant=False)
        return total / (given.tokens - 1)

    for _ in range(lengths[given.tokens]):
        start = time.perf_counter()
        loss().backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if cuda:
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"step_s": min(seconds[1:] or seconds), "logits": "in chunks" if given.in_chunks else "whole",
                      "peak_bytes": torch.cuda.max_memory_allocated() if cuda else None,
                      **({"adapters": whose, "trained_weights": sum(it.numel() for it in trained)} if adapters else {})}))


def last_json(command, seconds, env=None):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=max(1, seconds), env=env)
    except subprocess.TimeoutExpired:
        return {"failed": f"took more than {seconds:.0f} s"}
    if done.returncode != 0:
        return {"failed": " ".join(done.stderr.strip().splitlines()[-3:]) or "no word"}
    return json.loads(done.stdout.splitlines()[-1]) if done.stdout.strip().endswith("}") else {}


def ours(given, run, steps, seconds):
    env = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE")}
    failed = last_json([given.engine, "--run", run, "--resume", "none"], seconds, env).get("failed")
    if failed:
        return {"failed": failed}
    events = [json.loads(line) for line in (run / "events/rank-00000.jsonl").read_text().splitlines()]
    done = [event for event in events if event["type"] == "step"][-steps:]
    of_rank = json.loads((run / "plan.json").read_text())["memory"]["per_rank"][0]
    return {"step_s": min(step["step_s"] for step in done[1:] or done), "peak_bytes": max(step["peak_memory_bytes"] for step in done),
            "predicted_bytes": of_rank["total"] - of_rank["runtime"]}


def ratio(a, b):
    return a / b if a and b else None


def others(given, kind, tokens, until):
    """Runs transformers. If the logits of all tokens do not fit into memory, computes them for 1,024 tokens at a
    time, which transformers itself cannot do."""
    command = ["python3" if given.python is None else given.python, __file__, "reference", "--kind", kind, "--tokens", str(tokens),
               "--device", given.device]
    found = last_json(command, until - time.monotonic())
    if "out of memory" not in found.get("failed", ""):
        return found
    return last_json([*command, "--in-chunks"], until - time.monotonic())


def run_case(given, case, until):
    tokens, kind, folder = case["tokens"], case["kind"], given.folder / case["run"]
    layers, adapters, has_other, lengths = KINDS[given.device][kind]
    own = ours(given, folder, lengths[tokens], until - time.monotonic())
    theirs = others(given, kind, tokens, until) if has_other else None
    peak = next((flops for name, flops in DENSE_BF16_FLOPS.items() if name in given.gpu), None)
    step_s, predicted = own.get("step_s"), ratio(own.get("predicted_bytes"), own.get("peak_bytes"))
    used = flops_of_step(shape_of(given.device, layers), tokens, adapters) / step_s if step_s else None
    beside = {"transformers": theirs, "speed_ratio": ratio(theirs.get("step_s"), step_s),
              "memory_ratio": ratio(own.get("peak_bytes"), theirs.get("peak_bytes"))} if has_other else {}
    return {"kind": kind, "tokens": tokens, "ours": own, **beside,
            "tokens_per_s": ratio(tokens, step_s), "predicted_over_measured": predicted,
            "predicted_within_a_tenth": abs(predicted - 1) <= 0.1 if predicted else None,
            "model_flops_per_s": used, "model_flops_utilisation": used / peak if used and peak else None}


def run(given):
    listed = json.loads((given.folder / "cases.json").read_text())
    until = time.monotonic() + given.seconds
    for case in listed["cases"]:  # rewrites the paths, because the folder may have moved
        plan = given.folder / case["run"] / "plan.json"
        plan.write_text(plan.read_text().replace(listed["folder"], str(given.folder.resolve())))
    (given.folder / "cases.json").write_text(json.dumps({**listed, "folder": str(given.folder.resolve())}))
    results = [run_case(given, case, until) for case in listed["cases"] if case["kind"] == given.kind]
    if given.kind == "long":
        for result in results:
            planned, off = listed["longest_sequence_len"], result["predicted_over_measured"]
            result["longest_sequence_len"] = {"planned": planned, "planned_over_measured_peak": off}
    if given.json:
        given.json.write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps(results))
    return 0 if results and all("failed" not in side for it in results for side in (it["ours"], it.get("transformers", {}))) else 1


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
    other.add_argument("--in-chunks", action="store_true", help="logits of 1,024 tokens at a time")
    for task in (running, other):
        task.add_argument("--kind", choices=list(KINDS["cuda"]), default="full")
    for task in (making, running, other):
        task.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    given = parser.parse_args()
    return {"prepare": prepare, "run": run, "reference": reference}[given.task](given)


if __name__ == "__main__":
    sys.exit(main())
