import json
import os
import pathlib
import subprocess

import pytest

BIN = pathlib.Path(os.environ["RINGMASTER_BIN"])


def run(*arguments, env=None, **options):
    """Runs the command line in an isolated environment: no display, no GPU, no variables of other
    launchers."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PARALLELISM_CONFIG_", "NO_COLOR", "COLUMNS"))}
    return subprocess.run([str(BIN / "ringmaster"), *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL, env={**clean, "CUDA_VISIBLE_DEVICES": "", **(env or {})}, **options)


MODEL = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "intermediate_size": 112, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 256, "max_position_embeddings": 512, "rms_norm_eps": 1e-6,
         "rope_theta": 10000.0, "tie_word_embeddings": False, "hidden_act": "silu"}


@pytest.fixture
def make_config(tmp_path):
    """Returns a function that writes a YAML file (as JSON) that can be launched; keys set to None are left out."""
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text(json.dumps(MODEL))
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"input_ids": list(range(20)), "labels": list(range(20))}) + "\n" for _ in range(12)))

    def make(name="tiny.yaml", **keys):
        config = {"base_model": str(model), "reinit_weights": True, "datasets": [{"path": str(rows), "ds_type": "json", "type": ""}],
                  "sequence_len": 64, "curriculum_sampling": True, "micro_batch_size": 2, "gradient_accumulation_steps": 1, "max_steps": 4,
                  "optimizer": "adamw_torch", "learning_rate": 1e-3, "output_dir": "out", "flash_attention": True, **keys}
        file = tmp_path / name
        file.write_text(json.dumps({key: value for key, value in config.items() if value is not None}, indent=1))
        return file

    return make


def make_incomplete_run(folder, steps=5):
    """Writes a run that is recorded as completed, but whose events end before the last of its 9 steps."""
    make_run(folder, 1, steps)
    events = folder / "events/rank-00000.jsonl"
    events.write_text("".join(line for line in events.read_text().splitlines(True) if json.loads(line)["type"] != "done"))
    config = folder / "config.yaml"
    config.write_text(json.dumps({"base_model": "Qwen/Qwen2.5-0.5B", "max_steps": 9, "output_dir": "out"}))
    (folder / "plan.json").write_text(run("plan", config, "--ranks", 1, "--json").stdout)


def make_run(folder, ranks=2, steps=5):
    """Writes a run directory with the events that write_run.cpp describes; returns the directory."""
    subprocess.run([BIN.parent / "tests/write_run", folder, str(ranks), str(steps)], check=True)
    return folder
