#!/usr/bin/env python3
"""Runs the training of tests/oracles/test_transformers.py on one GPU, and compares losses and gradient norms of 20 steps with transformers.

    same_losses.py prepare --bin build/bin --to DIR [--device cuda|cpu] [--only MODEL...]
    same_losses.py run --engine build/bin/ringmaster-engine --from DIR

The models are those of that test and some of FAMILIES in tests/oracles/test_families.py, whose layers together have every feature.
`prepare` trains each model with transformers, in float32 on the CPU, and makes its run directories, preflight included; it needs
the launcher, torch and transformers. `run` needs only the engine, and may run on another machine. The last line of its stdout is
JSON: for each run, the largest relative differences of the losses and of the gradient norms. The exit status is 1 if one exceeds its
bound: in float32 1e-5 and 1e-4, in bfloat16 (products rounded to 8 bits) 1e-2 and 1e-1.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BOUNDS = {"fp32": (1e-5, 1e-4), "bf16": (1e-2, 1e-1)}
PRECISIONS = {"fp32": {}, "bf16": {"bf16": True}}
# Together these layers have windows of several sizes, norms that add one, norms of whole rows, norms of
# outputs, scaled embeddings and scores, capped logits, gelu, long-context factors, and rotation of some
# dimensions, in halves and in adjacent pairs.
FAMILIES = ["gemma3 full", "phi3 longrope", "olmo2", "granite", "glm4"]


def tokens_of(plan):
    """Returns the token file's path in a plan; the launcher keeps the file in its cache."""
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
    sys.path += [str(ROOT / "tests/oracles"), str(ROOT / "tests/support")]
    import test_transformers as oracle
    from ringmaster_runs import make_config, make_rows, ringmaster

    folder, cases = given.to.resolve(), []
    folder.mkdir(parents=True, exist_ok=True)
    rows = make_rows(folder / "rows.jsonl", 44)
    for kind, (save, load) in models_in(folder).items():
        if given.only and kind not in given.only:
            continue
        model = save()
        history = oracle.train(load(model), rows)
        for precision, keys in PRECISIONS.items():
            name = f"{kind}-{precision}"
            (folder / "of" / name).mkdir(parents=True)
            config = make_config(folder / "of" / name, model, folder / "rows.jsonl", **oracle.TRAINING, **keys,
                                 micro_batch_size=2, gradient_accumulation_steps=4)
            ringmaster("prepare", config, "--runs-dir", folder, "--name", name, "--ranks", 1, "--device", given.device,
                       *(["--device-memory", 70] if given.device == "cuda" else []))
            plan = folder / name / "plan.json"
            tokens = tokens_of(json.loads(plan.read_text()))
            (folder / "tokens.safetensors").write_bytes(tokens.read_bytes())
            plan.write_text(plan.read_text().replace(str(tokens), str(folder / "tokens.safetensors")))
            cases.append({"run": name, "precision": precision, "history": history})
    (folder / "cases.json").write_text(json.dumps({"folder": str(folder), "cases": cases}))
    return 0


def largest_difference(ours, theirs, key):
    return max(abs(a[key] / b[key] - 1) for a, b in zip(ours, theirs, strict=True))


def run_case(given, case):
    folder = given.folder / case["run"]
    env = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE")}
    done = subprocess.run([given.engine, "--run", folder, "--resume", "none"], capture_output=True, text=True, env=env, timeout=240)
    result = {"run": case["run"]}
    if done.returncode != 0:
        return {**result, "ok": False, "failed": done.stderr.strip().splitlines()[-3:]}
    events = [json.loads(line) for line in (folder / "events/rank-00000.jsonl").read_text().splitlines()]
    steps = [event for event in events if event["type"] == "step"]
    found = [largest_difference(steps, case["history"], key) for key in ("loss", "grad_norm")]
    return {**result, "ok": all(a <= b for a, b in zip(found, BOUNDS[case["precision"]])), "loss": found[0], "grad_norm": found[1]}


def run(given):
    listed = json.loads((given.folder / "cases.json").read_text())
    here = str(given.folder.resolve())
    for case in listed["cases"]:  # rewrites the paths, because the folder may have moved
        plan = given.folder / case["run"] / "plan.json"
        plan.write_text(plan.read_text().replace(listed["folder"], here))
    (given.folder / "cases.json").write_text(json.dumps({**listed, "folder": here}))
    results = [run_case(given, case) for case in listed["cases"]]
    print(json.dumps(results))
    return 0 if all(it["ok"] for it in results) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tasks = parser.add_subparsers(dest="task", required=True)
    making, running = tasks.add_parser("prepare"), tasks.add_parser("run")
    making.add_argument("--bin", type=pathlib.Path, required=True)
    making.add_argument("--to", type=pathlib.Path, required=True)
    making.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    making.add_argument("--only", nargs="+", metavar="MODEL")
    running.add_argument("--engine", type=pathlib.Path, required=True)
    running.add_argument("--from", type=pathlib.Path, required=True, dest="folder")
    given = parser.parse_args()
    return {"prepare": prepare, "run": run}[given.task](given)


if __name__ == "__main__":
    sys.exit(main())
