"""Compares products of 8-bit inputs and weights (LLM.int8), computed on a CPU, with those of bitsandbytes on a GPU.

bitsandbytes 0.50.2 uses another function on a CPU, so its MatMul8bitLt is called directly, with its own PyTorch operations. One of them
differs from the CUDA kernel: int8_mm_dequant scales by 6.200124e-05 (a slip in 1 / 127²) and never passes through float16. as_on_cuda replaces
it by what kdequant_mm_int32_fp16 of csrc/ops.cu does: fmaf(acc · row · column, 6.200012e-05f, 0), rounded to float16, then the bias.
"""

import difflib
import json
import os
import pathlib
import socket
import subprocess
import sys

import pytest

os.environ["TORCHDYNAMO_DISABLE"] = "1"

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from ringmaster_runs import BIN, events_of, launch, make_config, make_model, make_rows, ringmaster, state_of
from test_fp16 import TRAINING as SCALED, train as train_scaled
from test_lora import ALL
from test_transformers import TRAINING, train

PRODUCTS = BIN.parent / "tests/int8_products"
THRESHOLD = 6.0


def dequantized_as_on_cuda(sums, row_stats, col_stats, dtype=None, bias=None):
    import torch

    out = sums.float() * row_stats.reshape(-1, 1) * col_stats.reshape(1, -1)
    out = (out * 6.200012e-05).half()
    if bias is not None:
        out.add_(bias)
    return out.to(dtype or torch.float16)


@pytest.fixture
def as_on_cuda():
    import bitsandbytes  # noqa: F401
    import torch

    library = torch.library.Library("bitsandbytes", "IMPL")
    library.impl("int8_mm_dequant", dequantized_as_on_cuda, "CPU")
    yield
    library._destroy()


def cases(torch):
    """Yields (threshold, inputs, weight, bias): with and without outliers, ties, rows of zeros, odd sizes, all dtypes."""
    torch.manual_seed(5)
    for number in range(48):
        dtype = torch.float32 if number % 2 else torch.bfloat16 if number // 2 % 2 else torch.float16
        rows, inputs, outputs = torch.randint(1, 70, ()).item(), torch.randint(2, 300, ()).item(), torch.randint(1, 200, ()).item()
        x = torch.randn(rows, inputs) * 10.0 ** (number % 4 - 2)
        if number % 3 == 0:
            x[:, ::17] *= 30
        if number % 5 == 0:
            x = (x * 8).round() / 8
        if number % 7 == 0:
            x[rows // 2] = 0
        bias = torch.randn(outputs).to(dtype) if number % 4 == 0 else None
        yield 0.0 if number % 11 == 10 else THRESHOLD, x.to(dtype), (torch.randn(outputs, inputs) * 0.1).to(dtype), bias


def theirs(x, weight, bias, dy, threshold):
    """Returns bitsandbytes' results: the output, the gradient of the inputs, and the codes and scales of the inputs."""
    import bitsandbytes as bnb
    import torch

    codes, scales, _ = bnb.functional.int8_vectorwise_quant(weight.half())
    state = bnb.MatmulLtState(CB=codes, SCB=scales)
    state.threshold, state.has_fp16_weights = threshold, False
    x = x.clone().requires_grad_(True)
    y = bnb.autograd._functions.MatMul8bitLt.apply(x, codes, None, bias, state)
    y.backward(dy)
    input_codes, input_scales, _ = bnb.functional.int8_vectorwise_quant(x.detach().half(), threshold=threshold)
    return {"y": y.detach(), "dx": x.grad, "codes": input_codes, "scales": input_scales}


def products_of(tmp_path, given):
    import safetensors.torch

    safetensors.torch.save_file(given, tmp_path / "from.safetensors")
    subprocess.run([PRODUCTS, tmp_path / "from.safetensors", tmp_path / "to.safetensors"], check=True)
    return safetensors.torch.load_file(tmp_path / "to.safetensors")


def given_cases(torch):
    given, asked = {}, {}
    for number, (threshold, x, weight, bias) in enumerate(cases(torch)):
        name = f"{threshold} {number}"
        asked[name] = (x, weight, bias, torch.randn(len(x), len(weight)).to(x.dtype), threshold)
        given |= {f"{name} {part}": value for part, value in zip(["x", "weight", "bias", "dy"], asked[name]) if value is not None}
    return given, asked


def relative(ours, expected):
    return ((ours.double() - expected.double()).norm() / expected.double().norm().clamp_min(1e-30)).item()


def test_products_are_those_of_bitsandbytes_on_a_gpu(as_on_cuda, tmp_path):
    import torch

    given, asked = given_cases(torch)
    ours = products_of(tmp_path, given)
    outliers = 0
    for name, (x, weight, bias, dy, threshold) in asked.items():
        expected = theirs(x, weight, bias, dy, threshold)
        assert torch.equal(ours[f"{name} codes"], expected["codes"]), name
        assert torch.equal(ours[f"{name} scales"], expected["scales"]), name
        kept = threshold > 0 and bool((x.half().abs() >= threshold).any())
        outliers += kept
        # LibTorch computes the float products on both sides, but the engine widens bfloat16 to float32 on a CPU without bfloat16 instructions.
        bound = 0 if x.dtype == torch.float32 else 4e-3
        assert relative(ours[f"{name} y"], expected["y"]) <= (bound if kept else 0), name
        assert relative(ours[f"{name} dx"], expected["dx"]) <= bound, name
    assert 10 < outliers < len(asked) - 10


def test_bitsandbytes_own_operations_differ_by_their_constant_and_float16(tmp_path):
    import torch

    given, asked = given_cases(torch)
    ours = products_of(tmp_path, given)
    for name, case in asked.items():
        bound = 2e-5 + 2.0 ** -11 if case[0].dtype == torch.float32 else 2.0 ** -7
        assert relative(ours[f"{name} y"], theirs(*case)["y"]) <= bound, name


# ------------------------------------------------------------------------------------------- training

# These bounds are relative. Before the first update only the order of sums differs. Later the weights differ by rounding, which can change the
# code of a number at a tie between two codes, and then codes of the next layer. With dequantised products, the first loss is off by 1e-4.
FIRST_LOSS, LOSS, NORM = 1e-6, 3e-4, 1e-2
ROWS = 44
KEYS = dict(adapter="lora", load_in_8bit=True, lora_r=8, lora_alpha=16, lora_target_linear=True)
MESHES = {
    "ring": (2, dict(context_parallel_size=2, ring_attn_func="batch_ring", micro_batch_size=1, gradient_accumulation_steps=8)),
    "zigzag, weights sharded, recomputed": (2, dict(
        context_parallel_size=2, ring_attn_func="batch_zigzag", micro_batch_size=1, gradient_accumulation_steps=8, fsdp_version=2,
        fsdp_config={"reshard_after_forward": True}, gradient_checkpointing=True)),
    "ulysses, tiles": (2, dict(context_parallel_size=2, ulysses_size=2, micro_batch_size=1, gradient_accumulation_steps=8,
                               tiled_mlp=True, tiled_mlp_num_shards=3)),
    "data parallel": (2, dict(micro_batch_size=1, gradient_accumulation_steps=4)),
}


def with_outliers(model_dir):
    """Changes the model so that some columns of the normed states hold outliers in all rows, and others in some rows."""
    import torch
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(model_dir, dtype=torch.float32)
    with torch.no_grad():
        for layer in model.model.layers:
            for norm in (layer.input_layernorm, layer.post_attention_layernorm):
                norm.weight[[3, 40]] *= 8
                norm.weight[10:20] *= 2.2
    model.save_pretrained(model_dir)
    return model_dir


def with_adapter(base):
    import peft
    import torch

    torch.manual_seed(11)
    return peft.get_peft_model(base, peft.LoraConfig(task_type="CAUSAL_LM", r=8, lora_alpha=16, target_modules=ALL))


def quantized(model_dir):
    import torch
    import transformers

    return transformers.AutoModelForCausalLM.from_pretrained(model_dir, attn_implementation="sdpa", dtype=torch.float32, device_map="cpu",
                                                             quantization_config=transformers.BitsAndBytesConfig(load_in_8bit=True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("int8")
    # There is only one layer: rounding changes a few codes that lie at a tie, and a second layer would change many
    # more.
    with_outliers(make_model(folder / "model", "llama", hidden_size=128, intermediate_size=192, num_hidden_layers=1, initializer_range=0.08))
    make_rows(folder / "rows.jsonl", ROWS)
    with_adapter(quantized(folder / "model")).save_pretrained(folder / "begun")
    return folder


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def configured(folder, tmp_path, **keys):
    return make_config(tmp_path, folder / "model", folder / "rows.jsonl", **{**TRAINING, **KEYS, "lora_model_dir": str(folder / "begun"), **keys})


def prepared(config, tmp_path, ranks):
    return pathlib.Path(ringmaster("prepare", config, "--runs-dir", tmp_path / "runs", "--ranks", ranks).stdout.strip())


def start(run, ranks, engine=BIN / "ringmaster-engine"):
    """Trains a run that was planned for this CPU with a GPU's arithmetic; returns the exit status and output of each rank."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("SLURM_")}
    port, started = str(free_port()), []
    for rank in range(ranks):
        env = {**clean, "RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(ranks),
               "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "OMP_NUM_THREADS": "1"}
        started.append(subprocess.Popen([engine, "--run", run, "--int8", "gpu"], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True))
    words = [process.communicate(timeout=200)[0] for process in started]
    return [(process.returncode, text) for process, text in zip(started, words)]


def trained_as_on_gpu(folder, tmp_path, ranks, **keys):
    tmp_path.mkdir(exist_ok=True)
    run = prepared(configured(folder, tmp_path, **keys), tmp_path, ranks)
    assert [status for status, _ in start(run, ranks)] == [0] * ranks
    assert state_of(run)["state"] == "completed"
    if ranks > 1:
        report = json.loads((run / "preflight.json").read_text())
        assert report["ok"] and report["proved"].endswith("8-bit inputs")
    return events_of(run)


def check(events, expected):
    assert events[0]["loss"] == pytest.approx(expected[0]["loss"], rel=FIRST_LOSS)
    for event, other in zip(events, expected, strict=True):
        assert event["loss"] == pytest.approx(other["loss"], rel=LOSS), event["step"]
        assert event["grad_norm"] == pytest.approx(other["grad_norm"], rel=NORM), event["step"]


@pytest.fixture(scope="module")
def one_rank(folder, tmp_path_factory):
    return trained_as_on_gpu(folder, tmp_path_factory.mktemp("one"), 1, micro_batch_size=1, gradient_accumulation_steps=8)


def test_losses_are_those_of_peft_and_bitsandbytes_on_a_gpu(folder, one_rank, as_on_cuda, monkeypatch):
    import bitsandbytes.autograd._functions as functions

    monkeypatch.setattr(functions, "MatMul8bitFp", functions.MatMul8bitLt)  # the function for a GPU
    history = train(with_adapter(quantized(folder / "model")), make_rows(folder / "rows.jsonl", ROWS), one_by_one=True)
    check(one_rank, history)


def in_float16(folder, dtype):
    """Returns what PEFT trains on this base: float16 with torch's GradScaler, as in test_fp16.py, or float32."""
    import peft
    import torch
    import transformers

    base = transformers.AutoModelForCausalLM.from_pretrained(folder / "model", attn_implementation="sdpa", dtype=dtype, device_map="cpu",
                                                             quantization_config=transformers.BitsAndBytesConfig(load_in_8bit=True))
    model = peft.PeftModel.from_pretrained(base, folder / "begun", is_trainable=True)
    return [step["loss"] for step in train_scaled(model, make_rows(folder / "rows.jsonl", ROWS), SCALED["learning_rate"], dtype == torch.float16)]


@pytest.mark.parametrize("way", ["dequantized", "as on a GPU"])
def test_float16_losses_are_those_of_peft_and_bitsandbytes(folder, way, as_on_cuda, monkeypatch, tmp_path):
    import bitsandbytes.autograd._functions as functions
    import torch

    def trained(name, **keys):
        keys = {**SCALED, "micro_batch_size": 8, "gradient_accumulation_steps": 1, **keys}
        if way != "dequantized":
            return [event["loss"] for event in trained_as_on_gpu(folder, tmp_path / name, 1, **keys)]
        (tmp_path / name).mkdir()
        return [event["loss"] for event in events_of(launch(configured(folder, tmp_path / name, **keys), tmp_path / name / "runs", "--ranks", 1))]

    class OfACopy:  # copies the inputs, because bitsandbytes temporarily sets outliers of float16 inputs to 0 in place
        apply = staticmethod(lambda x, *others: functions.MatMul8bitLt.apply(x.clone(), *others))

    if way != "dequantized":
        monkeypatch.setattr(functions, "MatMul8bitFp", OfACopy)
    narrow, wide = in_float16(folder, torch.float16), in_float16(folder, torch.float32)
    theirs = [abs(one - other) for one, other in zip(narrow, wide, strict=True)]
    here = trained("narrow", fp16=True)
    ours = [abs(one - other) for one, other in zip(here, trained("wide"), strict=True)]
    assert here == pytest.approx(narrow, rel=2e-3)
    assert 0 < max(theirs) < 1e-2 and sum(ours) <= 1.5 * sum(theirs), (ours, theirs)


def test_dequantized_products_give_other_losses(folder, one_rank, tmp_path):
    """Proves that the comparisons of this file can fail."""
    config = configured(folder, tmp_path, micro_batch_size=1, gradient_accumulation_steps=8)
    other = events_of(launch(config, tmp_path / "runs", "--ranks", 1))
    assert abs(one_rank[0]["loss"] - other[0]["loss"]) > 10 * FIRST_LOSS * other[0]["loss"]


@pytest.mark.parametrize("mesh", MESHES)
def test_the_mesh_and_tiles_change_nothing(folder, one_rank, mesh, tmp_path):
    ranks, keys = MESHES[mesh]
    check(trained_as_on_gpu(folder, tmp_path, ranks, **keys), one_rank)


def test_packed_rows_are_the_same_on_every_mesh(folder, tmp_path):
    packed = dict(sample_packing=True, pad_to_sequence_len=True, sequence_len=192, micro_batch_size=1)
    alone = trained_as_on_gpu(folder, tmp_path / "alone", 1, gradient_accumulation_steps=2, **packed)
    check(trained_as_on_gpu(folder, tmp_path / "ring", 2, context_parallel_size=2, ring_attn_func="varlen_zigzag",
                            gradient_accumulation_steps=2, **packed), alone)


FAULTS = {
    "own tokens only": ("engine/model/sequence_shard.cpp", "    ranks.ring().all_reduce(values, Reduce::Max).wait();\n", "", "not those of all ranks"),
    "outliers left out": ("engine/model/int8_product.cpp", "if (has_outliers) add_product", "if (false) add_product", "differs from its definition"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_preflight_finds_a_fault(folder, fault, tmp_path):
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "faults"))
    from faulty_build import ROOT, faulty_program

    file, right, wrong, message = FAULTS[fault]
    text = (ROOT / file).read_text()
    assert text.count(right) == 1
    patch = tmp_path / "fault.patch"
    patch.write_text("".join(difflib.unified_diff(text.splitlines(True), text.replace(right, wrong).splitlines(True), f"a/{file}", f"b/{file}")))
    (tmp_path / "build").mkdir()
    engine = faulty_program([patch], tmp_path / "build")
    run = prepared(configured(folder, tmp_path, **MESHES["ring"][1]), tmp_path, 2)
    assert all(status != 0 for status, _ in start(run, 2, engine))
    assert message in json.loads((run / "preflight.json").read_text())["failure"]
