"""Compares adapters on the parameters of experts with PEFT. Compares experts that are quantized along with the base with
axolotl, which applies bitsandbytes' functions to each parameter that holds the experts of a layer."""

import json

import pytest
from test_experts import MESHES, MODELS, assert_same, config_of, load, load_base, make_model, make_rows, train

from ringmaster_runs import events_of, launch, make_config, ringmaster, state_of, steps_to_train
from test_quantized import FORMATS

BOTH = ["mlp.experts.gate_up_proj", "mlp.experts.down_proj"]
# Maps a name to (model, target_modules, target_parameters, mesh).
ADAPTED = {
    "both, accumulated, recomputed, quick": ("qwen2_moe", ["q_proj", "gate_proj"], BOTH, "accumulated, recomputed"),
    "both, zigzag": ("mixtral", ["q_proj", "v_proj"], ["experts.gate_up_proj", "experts.down_proj"], "zigzag, accumulated"),
    "both, ZeRO 3, quick": ("qwen2_moe", [], BOTH, "2 x 2, ZeRO 3, accumulated"),
    "down": ("qwen3_moe", ["o_proj"], ["down_proj"], "1 rank"),
    "both, stored transposed": ("gpt_oss", ["q_proj", "o_proj"], BOTH, "2 x 2, ZeRO 3, accumulated"),
    "gate and up, tiled": ("qwen3_moe", ["o_proj"], ["mlp.experts.gate_up_proj"], "ulysses, tiled"),
}
STEPS = steps_to_train(20, 8)


def logits_of(model):
    import torch

    with torch.no_grad():
        return model(torch.arange(64)[None]).logits


@pytest.mark.parametrize("case", ADAPTED)
def test_adapters_on_experts_are_those_of_peft(case, tmp_path):
    import peft
    import torch

    kind, modules, parameters, mesh = ADAPTED[case]
    model_dir = make_model(tmp_path / "model", kind, **MODELS[kind])
    rows = make_rows(tmp_path / "rows.jsonl", STEPS * 8)
    torch.manual_seed(11)
    settings = peft.LoraConfig(task_type="CAUSAL_LM", r=4, lora_alpha=8, target_modules=modules, target_parameters=parameters)
    model = peft.get_peft_model(load(model_dir), settings)
    model.save_pretrained(tmp_path / "begun")
    history = train(model, rows, STEPS)
    ranks, keys = MESHES[mesh]
    config = config_of(tmp_path, model_dir, tmp_path, **{**keys, "max_steps": STEPS}, adapter="lora", lora_model_dir=str(tmp_path / "begun"))
    run = launch(config, tmp_path / "runs", "--ranks", ranks)
    assert state_of(run)["state"] == "completed"
    assert ranks == 1 or json.loads((run / "preflight.json").read_text())["ok"]
    assert_same(run, history)
    ours = peft.PeftModel.from_pretrained(load(model_dir), tmp_path / "out")
    assert (logits_of(ours) - logits_of(model)).abs().max().item() < 1e-4
    ringmaster("merge", tmp_path / "out", "--to", tmp_path / "merged", "--base", model_dir)
    assert (logits_of(load(tmp_path / "merged")) - logits_of(ours.merge_and_unload())).abs().max().item() < 1e-5


def quantize_experts(model, format):
    """Quantizes and dequantizes the experts' parameters once. axolotl's moe_quant.py, on a GPU, dequantizes a parameter at
    each use, with the same result."""
    import bitsandbytes.functional as bnb

    for name, parameter in model.named_parameters():
        if parameter.dim() != 3 or "experts" not in name:
            continue
        rows = parameter.data.flatten(0, 1)
        if format == "int8":
            codes, scales, _ = bnb.int8_vectorwise_quant(rows.half())
            values = bnb.int8_vectorwise_dequant(codes, scales)
        else:
            # On a CPU, bitsandbytes 0.50 misreads rows that end within a block; on a GPU a block continues in the next row.
            rows = rows.reshape(-1, 64)
            values = bnb.dequantize_4bit(*bnb.quantize_4bit(rows, blocksize=64, compress_statistics=True, quant_type="nf4"))
        assert not values.equal(rows)
        parameter.data = values.to(parameter.dtype).view(parameter.shape)


# Maps a name to (model, format, target_parameters, mesh).
QUANTIZED = {
    "nf4, quick": ("qwen2_moe", "nf4", BOTH, "2 x 2, ZeRO 3, accumulated"), "int8": ("qwen2_moe", "int8", [], "zigzag, accumulated"),
    "nf4, tiled": ("qwen2_moe", "nf4", [], "ulysses, tiled"), "int8, parameters": ("qwen2_moe", "int8", BOTH, "accumulated, recomputed"),
    "nf4, stored transposed": ("gpt_oss", "nf4", BOTH, "ulysses, tiled"), "int8, stored transposed": ("gpt_oss", "int8", [], "zigzag, accumulated"),
}


@pytest.mark.parametrize("case", QUANTIZED)
def test_quantized_experts_are_those_of_axolotl(case, tmp_path):
    import peft
    import torch

    kind, format, parameters, mesh = QUANTIZED[case]
    model_dir = make_model(tmp_path / "model", kind, **MODELS[kind])
    rows = make_rows(tmp_path / "rows.jsonl", 6 * 8)
    torch.manual_seed(11)
    base = load_base(model_dir, format)
    quantize_experts(base, format)
    settings = peft.LoraConfig(task_type="CAUSAL_LM", r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"], target_parameters=parameters)
    model = peft.get_peft_model(base, settings)
    model.save_pretrained(tmp_path / "begun")
    history = train(model, rows)
    ranks, keys = MESHES[mesh]
    config = config_of(tmp_path, model_dir, tmp_path, **keys, **FORMATS[format][0], quantize_moe_experts=True,
                       lora_model_dir=str(tmp_path / "begun"))
    run = launch(config, tmp_path / "runs", "--ranks", ranks)
    assert state_of(run)["state"] == "completed"
    assert ranks == 1 or json.loads((run / "preflight.json").read_text())["ok"]
    assert_same(run, history)


REFUSED = {
    "dropout": (dict(lora_target_parameters=BOTH, lora_dropout=0.1), ("CFG-CONFLICT", "lora_target_parameters")),
    "DoRA": (dict(lora_target_parameters=BOTH, peft_use_dora=True), ("CFG-CONFLICT", "lora_target_parameters")),
    "other parameter": (dict(lora_target_parameters=["mlp.gate.weight"]), ("KEY-UNSUPPORTED", "lora_target_parameters")),
    "no parameter": (dict(lora_target_parameters="experts.w9"), ("CFG-VALUE", "lora_target_parameters")),
    "not quantized": (dict(quantize_moe_experts=True), ("CFG-QUANTIZED", "quantize_moe_experts")),
    "all linear": (dict(quantize_moe_experts=True, adapter="qlora", load_in_4bit=True, lora_target_linear=True), ("CFG-QUANTIZED", "quantize_moe_experts")),
    "another format of the base": (dict(quantize_moe_experts=True, adapter="qlora", load_in_4bit=True, bnb_config_kwargs={"bnb_4bit_quant_type": "fp4"}),
                                   ("CFG-QUANTIZED", "quantize_moe_experts")),
}


def test_a_new_adapter_on_experts_begins_as_the_frozen_model_and_bad_ones_are_refused_quick(tmp_path):
    model = make_model(tmp_path / "model", "qwen2_moe", **MODELS["qwen2_moe"])
    make_rows(tmp_path / "rows.jsonl", 16)
    keys = dict(adapter="lora", lora_r=4, lora_alpha=8, lora_target_modules=["q_proj"], max_steps=2, warmup_steps=0)
    losses = []
    for name, more in {"plain": {}, "experts": dict(lora_target_parameters=BOTH, lora_target_modules=None)}.items():
        (tmp_path / name).mkdir()
        run = launch(make_config(tmp_path / name, model, tmp_path / "rows.jsonl", **{**keys, **more}), tmp_path / name / "runs", "--ranks", 1)
        losses.append([event["loss"] for event in events_of(run)])
    assert losses[0][0] == pytest.approx(losses[1][0], rel=1e-6) and losses[0][1] != losses[1][1]
    saved = json.loads((tmp_path / "experts" / "out" / "adapter_config.json").read_text())
    assert saved["target_parameters"] == BOTH and saved["target_modules"] == []
    for name, (more, expected) in REFUSED.items():
        (tmp_path / name).mkdir()
        config = make_config(tmp_path / name, model, tmp_path / "rows.jsonl", **{**keys, **more})
        plan = json.loads(ringmaster("plan", config, "--ranks", 1, "--json", check=False).stdout)
        errors = [(finding["code"], finding["key"]) for finding in plan["diagnostics"] if finding["severity"] == "error"]
        assert errors == [expected], name
