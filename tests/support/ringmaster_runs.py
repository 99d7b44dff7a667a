"""Provides what the Python tests share: tiny models and rows, runs of the real programs, and their events."""

import contextlib
import hashlib
import importlib.metadata
import inspect
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import time

BIN = pathlib.Path(os.environ["RINGMASTER_BIN"])
VOCABULARY = 256


def steps_to_train(whole, fewer):
    """Returns the number of steps for which a comparison trains: `fewer` in the tests that run by default."""
    return fewer if "RINGMASTER_FEWER_STEPS" in os.environ else whole


def save_disturbed(model, folder):
    """Saves the model with random biases, corrections, norms, scales and sinks, so that they matter; returns the folder."""
    import torch

    with torch.no_grad():
        for module in model.modules():
            # Sharp attention amplifies rounding errors: with a factor of 1 in place of 0.25, gemma4's losses in float32 and
            # float64 differ by 8.7e-4 after ten steps of transformers, not by 1.2e-7.
            if hasattr(module, "q_norm") and getattr(module, "scaling", None) == 1:
                module.q_norm.weight.mul_(0.25)
        for key, parameter in model.named_parameters():
            if key.endswith("bias") or "norm" in key:
                parameter.add_(0.1 * torch.randn_like(parameter))
            if key.endswith("scale"):
                parameter.mul_(1 + 0.3 * torch.randn_like(parameter))
            if key.endswith("router.scale"):  # else rounding errors would choose between experts of almost equal probability
                parameter.mul_(20)
            if key.endswith("sinks"):
                parameter.add_(torch.randn_like(parameter))
        for key, buffer in model.named_buffers():
            if key.endswith("e_score_correction_bias"):
                buffer.add_(0.1 * torch.randn_like(buffer))
            if key.endswith("layer_scalar"):
                buffer.mul_(0.5 + torch.rand_like(buffer))
    model.save_pretrained(folder)
    return folder


def make_model(folder, kind, **changes):
    """Saves a random transformers model of a kind (llama, qwen2, … or any model_type) that base_model can
    point to."""
    import torch
    import transformers

    shape = dict(vocab_size=VOCABULARY, hidden_size=64, intermediate_size=112, num_hidden_layers=3, num_attention_heads=4,
                 num_key_value_heads=2, max_position_embeddings=512, tie_word_embeddings=False)
    classes = {"llama": "Llama", "qwen2": "Qwen2", "qwen3": "Qwen3", "mistral": "Mistral"}
    if kind == "qwen3":
        shape["head_dim"] = 32
    if kind == "mistral":
        shape["sliding_window"] = None
    shape.update(changes)
    torch.manual_seed(7)
    if kind in classes:
        config = getattr(transformers, classes[kind] + "Config")(**shape)
        model = getattr(transformers, classes[kind] + "ForCausalLM")(config)
    elif "text_config" in changes:  # a multimodal model; the shape is that of its text part
        parts = {name: shape.pop(name) for name in list(shape) if name.endswith("_config")}
        parts["text_config"] = {**shape, "pad_token_id": None, "bos_token_id": None, "eos_token_id": None, **parts["text_config"]}
        config = transformers.AutoConfig.for_model(kind, **parts)
        model = transformers.AutoModelForMultimodalLM.from_config(config)
    else:
        config = transformers.AutoConfig.for_model(kind, pad_token_id=None, bos_token_id=None, eos_token_id=None, **shape)
        model = transformers.AutoModelForCausalLM.from_config(config)
    return save_disturbed(model, folder)


def kept_model(folder, kind, **changes):
    """Copies the model that make_model saves to `folder`, from the build folder, in which each model is created once.
    Importing transformers takes longer than most tests, so tests that need transformers only for a model call this."""
    made_by = [inspect.getsource(one) for one in (make_model, save_disturbed)]
    versions = [importlib.metadata.version(name) for name in ("torch", "transformers")]
    key = hashlib.sha256(json.dumps([kind, changes, made_by, versions], sort_keys=True).encode()).hexdigest()
    kept = BIN.parent / "tests/models" / key
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as new:
            model = make_model(pathlib.Path(new) / "model", kind, **changes)
            with contextlib.suppress(OSError):  # another test has made the same model meanwhile
                model.rename(kept)
    shutil.copytree(kept, folder, dirs_exist_ok=True)
    return folder


def make_rows(file, count, seed=1, longest=96, masked=True):
    """Writes pre-tokenized rows of many lengths with a learnable pattern. Some labels are masked, and every eleventh row
    has no labels, unless `masked` is false."""
    source = random.Random(seed)
    rows = []
    for index in range(count):
        length = source.randint(5, longest)
        start, stride = source.randint(0, VOCABULARY - 1), source.choice([1, 2, 3, 5])
        ids = [(start + stride * i) % VOCABULARY for i in range(length)]
        labels = list(ids)
        if masked:
            for i in range(source.randint(0, length // 2)):
                labels[i] = -100
            if index % 11 == 5:
                labels = [-100] * length
        rows.append({"input_ids": ids, "labels": labels})
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return rows


def next_fit(documents, length):
    """Packs documents into rows of at most `length` tokens, in file order."""
    rows, room = [], 0
    for document in documents:
        if len(document["input_ids"]) > room:
            rows.append([])
            room = length
        rows[-1].append(document)
        room -= len(document["input_ids"])
    return rows


def make_config(folder, model, rows_file, **keys):
    """Writes an axolotl YAML (JSON is YAML) in `folder`; a key set to None is left out."""
    config = {
        "base_model": str(model),
        "datasets": [{"path": str(rows_file), "ds_type": "json", "type": ""}],
        "sequence_len": 96, "curriculum_sampling": True, "micro_batch_size": 2, "gradient_accumulation_steps": 1,
        "max_steps": 6, "optimizer": "adamw_torch", "learning_rate": 1e-3, "lr_scheduler": "cosine", "warmup_steps": 2,
        "weight_decay": 0.01, "seed": 3, "save_strategy": "no", "output_dir": str(folder / "out"),
        "flash_attention": True,
    }
    config.update(keys)
    file = folder / "config.yaml"
    file.write_text(json.dumps({key: value for key, value in config.items() if value is not None}, indent=1))
    return file


def ringmaster(*arguments, check=True, timeout=300, env=None, **options):
    """Runs the command line; returns the finished process."""
    done = subprocess.run([str(BIN / "ringmaster"), *map(str, arguments)], capture_output=True, text=True, timeout=timeout,
                          stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})}, **options)
    if check and done.returncode != 0:
        raise AssertionError(f"ringmaster {arguments} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def launch(config, runs, *arguments, **options):
    """Trains on this machine and waits for the end; returns the run directory."""
    done = ringmaster("launch", config, "--runs-dir", runs, "--json", *arguments, **options)
    return pathlib.Path(json.loads(done.stdout.splitlines()[0])["dir"])


def events_of(run, rank=0, kind="step"):
    """Returns a rank's events of one kind: the last event of each step, or all events of another kind. Leaves out a line
    that is still being written."""
    found = []
    for line in (run / "events" / f"rank-{rank:05d}.jsonl").read_text().split("\n")[:-1]:
        event = json.loads(line)
        if event["type"] == kind:
            found.append(event)
    if kind != "step":
        return found
    return [event for _, event in sorted({event["step"]: event for event in found}.items())]


def losses_of(run, rank=0):
    return [event["loss"] for event in events_of(run, rank)]


def state_of(run):
    return json.loads((run / "run.json").read_text())


def wait_for(condition, what, seconds=90):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.05)
