"""Compares quantized base weights with those of bitsandbytes, byte by byte and in checkpoints, and compares training
with PEFT."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

os.environ["TORCHDYNAMO_DISABLE"] = "1"  # bitsandbytes would compile a kernel for each shape

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from ringmaster_runs import BIN, launch, make_config, make_model, make_rows, ringmaster, state_of
from test_lora import ALL, adapter_keys, trainers_adamw
from test_transformers import TRAINING, assert_same_steps, train

QUANTIZE = BIN.parent / "tests/quantize_tensors"


def same(one, other):
    import torch

    return one.dtype == other.dtype and torch.equal(one.flatten(), other.flatten())


def cases_of_bytes():
    """Returns (format, block, nested, dtype, rows, columns): 1,152 cases of 4 bits, 96 of 8."""
    import random

    source = random.Random(2)
    for number in range(1152):
        yield (source.choice(["nf4", "fp4"]), source.choice([32, 64, 64, 128, 256, 1024, 4096]), number % 2, source.choice(["float32", "bfloat16"]),
               source.randint(1, 96), source.choice([2, 16, 64, 64]) * source.randint(1, 12))
    for number in range(96):
        yield "int8", 64, 0, source.choice(["float32", "bfloat16"]), source.randint(1, 96), source.randint(1, 300)


def random_matrix(torch, number, dtype, rows, columns):
    values = torch.randn(rows, columns) * 10.0 ** (number % 7 - 4)
    if number % 5 == 1:
        values = values.uniform_(-1, 1)
    if number % 5 == 2:
        values[torch.rand_like(values) < 0.5] = 0
    if number % 5 == 3:
        values = (values * 4 / values.abs().max()).round()  # makes ties
    if number % 37 == 4:
        values[: rows // 2 + 1] = 0
    return values.to(getattr(torch, dtype))


@pytest.fixture(scope="module")
def one_thread():
    """Limits torch to one thread, because bitsandbytes' mean of the scales depends on the number of threads."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("share", [1, 8], ids=["all", "quick, every eighth"])
def test_bytes_are_those_of_bitsandbytes(share, one_thread, tmp_path):
    import bitsandbytes.functional as bnb
    import safetensors.torch
    import torch

    torch.manual_seed(1)
    matrices = {}
    for number, (format, block, nested, dtype, rows, columns) in enumerate(cases_of_bytes()):
        if number % share == 0:
            matrices[f"{format} {block} {nested} : {number}"] = random_matrix(torch, number, dtype, rows, columns)
    matrices["nf4 64 1 : large"] = (torch.randn(1024, 2752) * 0.02).to(torch.bfloat16)
    matrices["fp4 64 1 : large"] = torch.randn(2048, 1100) * 0.02
    safetensors.torch.save_file(matrices, tmp_path / "from.safetensors")
    subprocess.run([QUANTIZE, tmp_path / "from.safetensors", tmp_path / "to.safetensors"], check=True)
    ours = safetensors.torch.load_file(tmp_path / "to.safetensors")
    wrong = []
    for name, matrix in matrices.items():
        format, block, nested = name.split()[:3]
        if format == "int8":
            codes, scales, _ = bnb.int8_vectorwise_quant(matrix.to(torch.float16))
            codes[scales == 0] = 0  # 0 / 0 gives NaN
            expected = {"codes": codes, "scales": scales,
                        "back": codes.to(matrix.dtype).mul_(scales.unsqueeze(1).mul(1.0 / 127.0))}
        else:
            codes, state = bnb.quantize_4bit(matrix, blocksize=int(block), compress_statistics=nested == "1", quant_type=format)
            expected = {"codes": codes, "scales": state.absmax}
            # bitsandbytes 0.50.2 reads the wrong scales on AVX-512 if rows are not whole blocks.
            if matrix.shape[1] % int(block) == 0 or matrix.shape[1] % 16 != 0:
                expected["back"] = bnb.dequantize_4bit(codes, state)
            if nested == "1":
                expected |= {"nested": state.state2.absmax, "offset": state.offset}
        assert same(ours[f"{name} back"], ours[f"{name} plainly"]), name
        wrong += [f"{name} {part}" for part, values in expected.items() if not same(ours[f"{name} {part}"], values)]
    assert not wrong, f"{len(wrong)} of {len(matrices)}: {wrong[:10]}"


# ------------------------------------------------------------------------------------------- training

FORMATS = {
    "nf4": (dict(adapter="qlora", load_in_4bit=True), dict(bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True)),
    "fp4": (dict(adapter="qlora", load_in_4bit=True,
                 bnb_config_kwargs={"bnb_4bit_quant_type": "fp4", "bnb_4bit_use_double_quant": False}),
            dict(bnb_4bit_quant_type="fp4", bnb_4bit_use_double_quant=False)),
    "int8": (dict(adapter="lora", load_in_8bit=True), None),
    "nf4 with DoRA": (dict(adapter="qlora", load_in_4bit=True), dict(bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True)),
}
MESHES = {
    "1 rank": (1, dict(micro_batch_size=2, gradient_accumulation_steps=4)),
    "ring, weights sharded, recomputed": (2, dict(
        context_parallel_size=2, micro_batch_size=2, gradient_accumulation_steps=4, fsdp_version=2,
        fsdp_config={"reshard_after_forward": True}, gradient_checkpointing=True)),
    "ulysses, tiles": (2, dict(context_parallel_size=2, ulysses_size=2, micro_batch_size=4, gradient_accumulation_steps=2,
                                      tiled_mlp=True, tiled_mlp_num_shards=3)),
    "data parallel": (2, dict(micro_batch_size=1, gradient_accumulation_steps=4)),
    "2 x 2, weights sharded": (4, dict(context_parallel_size=2, micro_batch_size=2, gradient_accumulation_steps=2, fsdp_version=2,
                                       fsdp_config={"reshard_after_forward": True})),
}
# By default, each format and each base runs on some mesh; under the label exhaustive, all combinations run.
QUICK = {("nf4", "model", "ring, weights sharded, recomputed"), ("nf4", "quantized", "1 rank"), ("int8", "model", "1 rank"), ("fp4", "model", "ulysses, tiles"),
         ("nf4 with DoRA", "model", "ring, weights sharded, recomputed")}
CASES = [(format, "model", mesh) for format in FORMATS for mesh in MESHES] + [(format, "quantized", "1 rank") for format in FORMATS]


def name_of(case):
    return ("quick, " if case in QUICK else "") + ", ".join(case)


def load_quantized(model_dir, kwargs, attention="sdpa"):
    import torch
    import transformers

    settings = dict(load_in_8bit=True) if kwargs is None else dict(load_in_4bit=True, bnb_4bit_compute_dtype=torch.float32, **kwargs)
    return transformers.AutoModelForCausalLM.from_pretrained(
        model_dir, attn_implementation=attention, dtype=torch.float32, device_map="cpu",
        quantization_config=transformers.BitsAndBytesConfig(**settings))


@pytest.fixture(scope="module")
def reference(request, one_thread, tmp_path_factory):
    """Returns what PEFT and bitsandbytes train from an adapter that PEFT initialised."""
    import peft
    import torch

    keys, kwargs = FORMATS[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    model_dir = make_model(folder / "model", "llama", hidden_size=128, intermediate_size=192)
    rows = make_rows(folder / "rows.jsonl", 44)
    torch.manual_seed(11)
    base = load_quantized(model_dir, kwargs)
    base.save_pretrained(folder / "quantized")
    model = peft.get_peft_model(base, peft.LoraConfig(task_type="CAUSAL_LM", r=8, lora_alpha=16, target_modules=ALL,
                                                       use_dora="DoRA" in request.param))
    model.save_pretrained(folder / "begun")
    return folder, keys, model, train(model, rows, trainers_adamw)


@pytest.mark.parametrize("reference, base, mesh", CASES, ids=map(name_of, CASES), indirect=["reference"])
def test_losses_are_those_of_peft_and_bitsandbytes(reference, base, mesh, tmp_path):
    folder, keys, trained, history = reference
    ranks, sizes = MESHES[mesh]
    config = make_config(tmp_path, folder / base, folder / "rows.jsonl", **TRAINING, **sizes, **keys, lora_model_dir=str(folder / "begun"))
    run = launch(config, tmp_path / "runs", "--ranks", ranks)
    assert state_of(run)["state"] == "completed"
    assert ranks == 1 or json.loads((run / "preflight.json").read_text())["ok"]
    assert_same_steps(run, history)
    import safetensors.torch

    ours = safetensors.torch.load_file(tmp_path / "out/adapter_model.safetensors")
    import peft

    theirs = peft.get_peft_model_state_dict(trained)
    assert set(ours) == set(theirs)
    for name, values in theirs.items():
        assert (ours[name] - values).abs().max().item() < 2e-5 + 1e-3 * values.abs().max().item(), name


# ------------------------------------------------------------------------------------------- merging


def weights_of(folder):
    import safetensors.torch

    weights = {}
    for file in sorted(pathlib.Path(folder).glob("*.safetensors")):
        weights |= safetensors.torch.load_file(file)
    return weights


@pytest.fixture(scope="module", params=["float32", "bfloat16", "float32 DoRA", "bfloat16 DoRA"])
def begun(request, tmp_path_factory):
    """Saves a model in a dtype, and a PEFT adapter that changes its output."""
    import peft
    import torch
    import transformers

    folder = tmp_path_factory.mktemp(request.param)
    make_model(folder / "made", "llama", hidden_size=128, intermediate_size=192)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder / "made", dtype=getattr(torch, request.param.split()[0]))
    model.save_pretrained(folder / "model")
    torch.manual_seed(4)
    adapted = peft.get_peft_model(model, peft.LoraConfig(task_type="CAUSAL_LM", r=8, lora_alpha=24, use_rslora=True, use_dora="DoRA" in request.param,
                                                         target_modules=["q_proj", "o_proj", "down_proj"]))
    with torch.no_grad():
        for name, parameter in adapted.named_parameters():
            if "lora_B" in name:
                parameter.normal_(0, 0.1)
            if "lora_magnitude_vector" in name:
                parameter.mul_(1 + 0.1 * torch.randn_like(parameter))
    adapted.save_pretrained(folder / "adapter")
    return folder, adapted


def test_merged_weights_are_those_of_peft_quick(begun, tmp_path):
    folder, adapted = begun
    ringmaster("merge", folder / "adapter", "--to", tmp_path / "merged", "--base", folder / "model")
    import copy

    theirs = copy.deepcopy(adapted).merge_and_unload().state_dict()
    ours = weights_of(tmp_path / "merged")
    assert set(ours) == set(theirs)
    different = [name for name in ours if not same(ours[name], theirs[name])]
    assert not [name for name in different if (ours[name].float() - theirs[name].float()).abs().max() > 2e-7], different
    assert not (set(different) & {"model.embed_tokens.weight", "lm_head.weight"})
    assert ours["model.layers.0.self_attn.q_proj.weight"].ne(weights_of(folder / "model")["model.layers.0.self_attn.q_proj.weight"]).any()
    import transformers

    transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "merged")
    again = ringmaster("merge", folder / "adapter", "--to", tmp_path / "merged", "--base", folder / "model", check=False)
    assert again.returncode == 1 and "is there already" in again.stderr


def test_a_merged_qlora_run_is_its_base_dequantized_and_its_adapter_quick(one_thread, tmp_path):
    import bitsandbytes.functional as bnb
    import torch

    model_dir = make_model(tmp_path / "model", "llama", hidden_size=128, intermediate_size=192)
    make_rows(tmp_path / "rows.jsonl", 12)
    config = make_config(tmp_path, model_dir, tmp_path / "rows.jsonl", **adapter_keys(adapter="qlora", load_in_4bit=True), max_steps=2, learning_rate=1e-2)
    run = launch(config, tmp_path / "runs", "--ranks", 1)
    ringmaster("merge", run, "--to", tmp_path / "merged")
    base, adapter, merged = (weights_of(tmp_path / folder) for folder in ("model", "out", "merged"))
    assert set(merged) == set(base)
    for name, weight in base.items():
        expected = weight
        if "proj" in name:
            codes, state = bnb.quantize_4bit(weight, compress_statistics=True, quant_type="nf4")
            module = "base_model.model." + name.removesuffix("weight")
            expected = bnb.dequantize_4bit(codes, state) + 2.0 * adapter[module + "lora_B.weight"] @ adapter[module + "lora_A.weight"]
        assert torch.allclose(merged[name], expected, rtol=0, atol=1e-6), name
    assert "quantization_config" not in json.loads((tmp_path / "merged/config.json").read_text())
