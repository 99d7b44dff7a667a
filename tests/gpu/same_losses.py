#!/usr/bin/env python3
"""Trains on one GPU, and compares losses and gradient norms with a reference that was trained on the CPU.

    same_losses.py prepare --bin build/bin --to DIR [--device cuda|cpu] [--only NAME...]
    same_losses.py run --engine build/bin/ringmaster-engine --from DIR [--part models|kinds]

models: 20 steps of the training of tests/oracles/test_transformers.py, with its models and some of FAMILIES in
tests/oracles/test_families.py, whose layers together have every feature. transformers trains the reference.
kinds: kinds of training (KINDS) for which this engine trains the reference on the CPU; the tests in tests/oracles compare
the CPU with the libraries that define these kinds.

`prepare` trains the references and makes the run directories, preflight included; it needs the launcher, torch and transformers. `run`
needs only the engine, and may run on another machine. The last line of its stdout is JSON: for each run, the largest relative
differences of the losses and of the gradient norms. The exit status is 1 if one exceeds its bound (BOUNDS).
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Bounds of losses and norms. With 8-bit codes, a sum that rounds differently can move a number at a tie to the next
# code.
BOUNDS = {"fp32": (1e-5, 1e-4), "codes": (3e-4, 1e-2), "bf16": (1e-2, 1e-1), "fp16": (1e-2, 1e-1)}
PRECISIONS = {"fp32": {}, "bf16": {"bf16": True}}
# Together these layers have windows of several sizes, norms that add one, norms of whole rows, norms of outputs, scaled
# embeddings and scores, capped scores and logits, gelu, long-context factors, rotation of some dimensions, in halves and in
# adjacent pairs, LayerNorm with and without a bias, attention in parallel with the MLP, MLPs without a gate, and experts. Experts
# are compared in float32 only: bfloat16 may choose another expert.
FAMILIES = ["gemma3 full", "gemma2 full", "phi3 longrope", "olmo2", "granite", "glm4", "cohere2", "starcoder2", "stablelm full",
            "nemotron full", "phi full", "mixtral full", "qwen3_moe full"]
EXPERTS = ("mixtral-full", "qwen3_moe-full")


def kinds():
    """Returns, for each kind of training, its bounds, its keys, and the engine's arguments for the reference."""
    from test_device_on_host import DEFAULT, LORA, MORE, QLORA

    def bounds_of(keys):
        if "bf16" in keys:
            return "bf16"
        return "codes" if keys.get("optimizer", "").endswith("bit") else "fp32"

    found = {name.replace(" ", "-"): (bounds_of(keys), keys, []) for name, keys in {**DEFAULT, **MORE}.items()}
    return {**found, "fp16": ("fp16", {**LORA, "fp16": True}, []), "int8": ("codes", {**LORA, "load_in_8bit": True}, ["--int8", "gpu"]),
            "fp4": ("fp32", {**QLORA, "bnb_config_kwargs": {"bnb_4bit_quant_type": "fp4", "bnb_4bit_use_double_quant": False}}, []),
            "neftune": ("fp32", {"neftune_noise_alpha": 5}, []),
            "router-loss": ("fp32", {"model_config": {"output_router_logits": True, "router_aux_loss_coef": 0.3}}, [])}


def tokens_of(plan):
    """Returns the path of the token file that a plan names, or None if it names none. The file lies in the launcher's cache."""
    waiting = [plan]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str) and value.endswith("tokens.safetensors"):
            return pathlib.Path(value)
        waiting += value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return None


def models_in(folder):
    """Returns, for each model's name, a function that saves it in a subfolder and one that loads it from
    there."""
    import test_families as families
    import test_transformers as oracle
    from ringmaster_runs import make_model

    models = {kind: (lambda kind=kind, changes=changes: make_model(folder / kind, kind, **changes), oracle.load)
              for kind, changes in oracle.MODELS.items()}
    for family in FAMILIES:
        name = family.replace(" ", "-")
        models[name] = (lambda name=name, family=family: families.save_model(folder / name, family), families.load)
    return models


def prepare(given):
    os.environ["RINGMASTER_BIN"] = str(given.bin.resolve())
    sys.path += [str(ROOT / folder) for folder in ("tests/oracles", "tests/support", "tests/device_on_host")]
    import test_transformers as oracle
    from ringmaster_runs import make_config, make_model, make_rows, ringmaster

    folder, cases = given.to.resolve(), []
    folder.mkdir(parents=True, exist_ok=True)
    rows = make_rows(folder / "rows.jsonl", 44)

    def prepared(name, model, device, **keys):
        """Returns a run directory that names only files in this folder."""
        (folder / "of" / name).mkdir(parents=True)
        config = make_config(folder / "of" / name, model, folder / "rows.jsonl", **keys)
        ringmaster("prepare", config, "--runs-dir", folder, "--name", name, "--ranks", 1, "--device", device,
                   *(["--device-memory", 70] if device == "cuda" else []))
        plan = folder / name / "plan.json"
        tokens = tokens_of(json.loads(plan.read_text()))
        copy = folder / f"tokens-{tokens.parent.name}.safetensors"
        copy.write_bytes(tokens.read_bytes())
        plan.write_text(plan.read_text().replace(str(tokens), str(copy)))
        return folder / name

    def wanted(name):
        return not given.only or name in given.only

    for kind, (save, load) in models_in(folder).items():
        if not wanted(kind):
            continue
        model = save()
        history = oracle.train(load(model), rows)
        for precision, keys in PRECISIONS.items():
            if kind in EXPERTS and precision != "fp32":
                continue
            name = f"{kind}-{precision}"
            prepared(name, model, given.device, **oracle.TRAINING, **keys, micro_batch_size=2, gradient_accumulation_steps=4)
            cases.append({"run": name, "part": "models", "precision": precision, "history": history})
    for name, (precision, keys, arguments) in kinds().items():
        if not wanted(name):
            continue
        model = folder / ("for-router-loss" if name == "router-loss" else "for-kinds")
        if not model.exists():
            make_model(model, "mixtral" if name == "router-loss" else "llama", **({"num_local_experts": 4} if name == "router-loss" else {}))
        reference = prepared(f"{name}-reference", model, "cpu", **keys)
        subprocess.run([given.bin / "ringmaster-engine", "--run", reference, "--resume", "none", *arguments], check=True,
                       env=without_ranks(), timeout=240)
        prepared(name, model, given.device, **keys)
        cases.append({"run": name, "part": "kinds", "precision": precision, "history": steps_of(reference), "arguments": arguments})
    (folder / "cases.json").write_text(json.dumps({"folder": str(folder), "device": given.device, "cases": cases}))
    return 0


def without_ranks():
    return {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE")}


def steps_of(run):
    events = [json.loads(line) for line in (run / "events/rank-00000.jsonl").read_text().splitlines()]
    return [{key: event[key] for key in ("loss", "grad_norm")} for event in events if event["type"] == "step"]


def largest_difference(ours, theirs, key):
    return max(abs(a[key] / b[key] - 1) for a, b in zip(ours, theirs, strict=True))


def run_case(given, case):
    folder = given.folder / case["run"]
    arguments = case.get("arguments", []) if given.device == "cpu" else []
    result = {"run": case["run"]}
    try:
        done = subprocess.run([given.engine, "--run", folder, "--resume", "none", *arguments], capture_output=True, text=True,
                              env=without_ranks(), timeout=240)
    except subprocess.TimeoutExpired:
        return {**result, "ok": False, "failed": ["took more than 240 s"]}
    if done.returncode != 0:
        return {**result, "ok": False, "failed": done.stderr.strip().splitlines()[-3:]}
    found = [largest_difference(steps_of(folder), case["history"], key) for key in ("loss", "grad_norm")]
    return {**result, "ok": all(a <= b for a, b in zip(found, BOUNDS[case["precision"]])), "loss": found[0], "grad_norm": found[1]}


def run(given):
    listed = json.loads((given.folder / "cases.json").read_text())
    here = str(given.folder.resolve())
    for case in listed["cases"]:  # rewrites the paths, because the folder may have moved
        plan = given.folder / case["run"] / "plan.json"
        plan.write_text(plan.read_text().replace(listed["folder"], here))
    (given.folder / "cases.json").write_text(json.dumps({**listed, "folder": here}))
    given.device = listed["device"]
    results = [run_case(given, case) for case in listed["cases"] if given.part in (None, case["part"])]
    print(json.dumps(results))
    return 0 if all(it["ok"] for it in results) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tasks = parser.add_subparsers(dest="task", required=True)
    making, running = tasks.add_parser("prepare"), tasks.add_parser("run")
    making.add_argument("--bin", type=pathlib.Path, required=True)
    making.add_argument("--to", type=pathlib.Path, required=True)
    making.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    making.add_argument("--only", nargs="+", metavar="NAME")
    running.add_argument("--engine", type=pathlib.Path, required=True)
    running.add_argument("--from", type=pathlib.Path, required=True, dest="folder")
    running.add_argument("--part", choices=["models", "kinds"])
    given = parser.parse_args()
    return {"prepare": prepare, "run": run}[given.task](given)


if __name__ == "__main__":
    sys.exit(main())
