"""Reads checkpoints whose experts are stored in MXFP4, as on the hub, and compares their weights and losses with those of
transformers, which dequantises them on a CPU too."""

import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from ringmaster_runs import events_of, launch, make_config, make_model, make_rows, ringmaster, state_of

EXPERTS = ("gate_up_proj", "down_proj")
ZERO_3 = dict(fsdp_version=2, fsdp_config={"reshard_after_forward": True})


def quantized_model(folder, width=96):
    """Stores a small model's experts as random codes of MXFP4; the exponents differ from group to group."""
    import safetensors.torch
    import torch

    model = make_model(folder, "gpt_oss", num_local_experts=3, num_experts_per_tok=2, head_dim=16, hidden_size=64, intermediate_size=width,
                       sliding_window=24)
    state = safetensors.torch.load_file(folder / "model.safetensors")
    for name in [name for name in state if name.endswith(EXPERTS)]:
        experts, inputs, outputs = state.pop(name).shape
        state[name + "_blocks"] = torch.randint(0, 256, (experts, outputs, inputs // 32, 16), dtype=torch.uint8)
        state[name + "_scales"] = torch.randint(119, 124, (experts, outputs, inputs // 32), dtype=torch.uint8)
    safetensors.torch.save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    settings = json.loads((folder / "config.json").read_text())
    settings["quantization_config"] = {"quant_method": "mxfp4", "modules_to_not_convert": [
        "model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]}
    (folder / "config.json").write_text(json.dumps(settings))
    return model


def load(folder, **quantization):
    import torch
    import transformers

    return transformers.AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32, **quantization)


def load_dequantized(folder):
    import transformers

    return load(folder, quantization_config=transformers.Mxfp4Config(dequantize=True))


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mxfp4")
    make_rows(folder / "rows.jsonl", 8)
    return folder, quantized_model(folder / "model")


def config_of(tmp_path, base, **keys):
    folder, model = base
    return make_config(tmp_path, model, folder / "rows.jsonl", max_steps=1, micro_batch_size=4, warmup_steps=0, max_grad_norm=0.0,
                       pad_to_sequence_len=True, model_quantization_config="Mxfp4Config",
                       model_quantization_config_kwargs={"dequantize": True}, **keys)


def loss_of(model, rows_file):
    import torch

    rows = [json.loads(line) for line in rows_file.read_text().splitlines()]
    valid = sum(label != -100 for row in rows for label in row["labels"][1:])
    with torch.no_grad():
        return sum(torch.nn.functional.cross_entropy(model(torch.tensor([row["input_ids"]])).logits[0, :-1], torch.tensor(row["labels"][1:]),
                                                     ignore_index=-100, reduction="sum").item() for row in rows) / valid


def test_weights_are_dequantized_as_by_transformers_and_saved_so(base, tmp_path):
    """Each of two ranks reads a part of every parameter. The learning rate is 0, so the saved parameters are those that
    were read."""
    import torch

    theirs = load_dequantized(base[1])
    config = config_of(tmp_path, base, learning_rate=0.0, weight_decay=0.0, **ZERO_3)
    run = launch(config, tmp_path / "runs", "--ranks", 2)
    assert state_of(run)["state"] == "completed"
    assert events_of(run)[0]["loss"] == pytest.approx(loss_of(theirs, base[0] / "rows.jsonl"), rel=1e-5)
    assert "quantization_config" not in json.loads((tmp_path / "out" / "config.json").read_text())
    ours, expected = load(tmp_path / "out").state_dict(), theirs.state_dict()
    assert ours.keys() == expected.keys() and any(name.endswith(EXPERTS) for name in ours)
    assert all(torch.equal(ours[name], expected[name]) for name in ours)


def test_weights_are_refused_if_groups_do_not_divide_them(base, tmp_path):
    make_rows(tmp_path / "rows.jsonl", 8)
    config = config_of(tmp_path, (tmp_path, quantized_model(tmp_path / "model", width=80)))
    done = ringmaster("launch", config, "--runs-dir", tmp_path / "runs", "--ranks", 1, "--json", check=False)
    assert done.returncode == 1 and "MODEL-WEIGHTS" in done.stdout and "groups of 32 inputs" in done.stdout


def test_adapters_are_trained_on_dequantized_weights_and_merged_with_them(base, tmp_path):
    import peft
    import torch

    config = config_of(tmp_path, base, learning_rate=1e-2, gradient_accumulation_steps=2, adapter="lora", lora_r=4, lora_alpha=8, lora_target_linear=True,
                       lora_target_parameters=["mlp.experts.gate_up_proj", "mlp.experts.down_proj"])
    run = launch(config, tmp_path / "runs", "--ranks", 1)
    assert state_of(run)["state"] == "completed"
    theirs = load_dequantized(base[1])
    assert events_of(run)[0]["loss"] == pytest.approx(loss_of(theirs, base[0] / "rows.jsonl"), rel=1e-5)
    merged = peft.PeftModel.from_pretrained(theirs, tmp_path / "out").merge_and_unload()
    ringmaster("merge", tmp_path / "out", "--to", tmp_path / "merged", "--base", base[1])
    assert "quantization_config" not in json.loads((tmp_path / "merged" / "config.json").read_text())
    with torch.no_grad():
        ids = torch.arange(64)[None]
        difference = (load(tmp_path / "merged")(ids).logits - merged(ids).logits).abs().max().item()
    assert difference < 2e-2, "merged experts are saved in bfloat16"
