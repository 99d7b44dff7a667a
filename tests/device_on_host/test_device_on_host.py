"""Runs the engine's own CUDA path on a device that the CPU emulates (host_device.h): an operator refuses a mix of host
and device tensors, new memory holds NaN, and copies on other streams happen late. The losses must equal those of
`--device cpu`.

These tests cannot check CUDA's own arithmetic, its speed, or NCCL."""

import json
import os
import pathlib
import shutil
import socket
import subprocess

import pytest

from ringmaster_runs import BIN, events_of, kept_model, make_config, make_rows, ringmaster

LORA = {"adapter": "lora", "lora_r": 4, "lora_alpha": 8, "lora_target_linear": True}
QLORA = {**LORA, "adapter": "qlora", "load_in_4bit": True}
DEFAULT = {
    "offloaded": {"gradient_checkpointing": True, "activation_offloading": True, "tiled_mlp": True, "sequence_chunks": 3,
                  "optimizer": "paged_adamw_8bit"},
    "all in host memory": {"gradient_checkpointing": True, "activation_offloading": True, "gradient_accumulation_steps": 2,
                           "deepspeed": "deepspeed_configs/zero3_bf16_cpuoffload_all.json"},
    "packed in bf16": {"sample_packing": True, "bf16": True, "gradient_accumulation_steps": 2},
    "qlora": {**QLORA, "lora_dropout": 0.1},
}
MORE = {
    "all in bf16": {"bf16": "full"},
    "optimizer in host memory": {"bf16": True, "deepspeed": "deepspeed_configs/zero2.json"},
    "qlora in host memory": {**QLORA, "deepspeed": "deepspeed_configs/zero3_bf16_cpuoffload_all.json"},
    "muon in host memory": {"optimizer": "muon", "deepspeed": "deepspeed_configs/zero3_bf16_cpuoffload_all.json"},
    "lora": {**LORA, "bf16": True},
    "qlora in bf16": {**QLORA, "bf16": True},
    "packed": {"sample_packing": True},
    "evaluated": {"val_set_size": 0.1, "eval_steps": 1, "save_strategy": "steps", "save_steps": 1},
    **{name: {"optimizer": name} for name in
       ["adamw_bnb_8bit", "adamw_torch_8bit", "adamw_torch_4bit", "paged_adamw_32bit", "lion", "lion_8bit", "adafactor", "muon", "sgd",
        "rmsprop", "ademamix", "schedule_free_adamw", "came_pytorch"]},
}
# Gemma 2 caps its attention scores and uses windows in every second layer, so a GPU computes its attention in blocks of
# scores.
CAPPED = {
    "capped in bf16": {"bf16": True},
    "capped and packed in chunks": {"sample_packing": True, "gradient_checkpointing": True, "sequence_chunks": 2, "micro_batch_size": 2},
}
CAPPED_RANKS = {
    "zigzag": {"ring_attn_func": "batch_zigzag", "bf16": True},
    "gathered heads, packed": {"ring_attn_func": "varlen_llama3", "sample_packing": True, "heads_k_stride": 1},
    "ulysses": {"ulysses_size": 2, "bf16": True},
    "stripe": {"ring_attn_func": "batch_stripe"},
}
# Lists the kernels in the order of RowKernel (engine/kernels/row_kernels.h). Merges occur only in rings.
KERNELS = ["merge", "norm", "norm_backward_input", "norm_backward_weight", "rope", "gate", "gate_backward", "cross_entropy"]


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    """Puts the emulated device in place of the engine's CUDA part."""
    folder = tmp_path_factory.mktemp("engine")
    shutil.copy2(BIN / "ringmaster-engine", folder)
    (folder / "libtorch").symlink_to((BIN / "libtorch").resolve())
    (folder / "ringmaster_cuda.so").symlink_to(os.environ["RINGMASTER_DEVICE_ON_HOST"])
    return folder / "ringmaster-engine"


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return kept_model(tmp_path_factory.mktemp("models") / "llama", "llama")


@pytest.fixture(scope="module")
def gemma2(tmp_path_factory):
    return kept_model(tmp_path_factory.mktemp("models") / "gemma2", "gemma2", head_dim=24, sliding_window=24, query_pre_attn_scalar=40,
                      attn_logit_softcapping=0.5)


@pytest.fixture(scope="module")
def nemotron(tmp_path_factory):
    """Saves a model with LayerNorm that has biases and weights stored as w for 1 + w. The hidden states are wide, so
    attention needs little of the memory."""
    return kept_model(tmp_path_factory.mktemp("models") / "nemotron", "nemotron", hidden_size=512, intermediate_size=512,
                      num_attention_heads=1, num_key_value_heads=1, head_dim=16)


def train(engine, folder, model, device, env=None, arguments=(), **keys):
    """Trains on one rank and returns the step events."""
    folder.mkdir()
    make_rows(folder / "rows.jsonl", 44)
    config = make_config(folder, model, folder / "rows.jsonl", **{"max_steps": 3, **keys})
    ringmaster("prepare", config, "--runs-dir", folder, "--name", "run", "--ranks", 1, "--device", device,
               *(["--device-memory", 70] if device == "cuda" else []))
    done = subprocess.run([engine, "--run", folder / "run", "--resume", "none", *arguments], capture_output=True, text=True, timeout=240,
                          env={**os.environ, "OMP_NUM_THREADS": "1", **(env or {})})
    assert done.returncode == 0, done.stderr
    return events_of(folder / "run")


def train_on_ranks(engine, folder, model, device, ranks, **keys):
    """Trains on several ranks and returns the step events of rank 0. On a device, transfers go through host memory."""
    folder.mkdir()
    make_rows(folder / "rows.jsonl", 44)
    config = make_config(folder, model, folder / "rows.jsonl", **{"max_steps": 3, **keys})
    ringmaster("prepare", config, "--runs-dir", folder, "--name", "run", "--ranks", ranks, "--device", device,
               *(["--device-memory", 70] if device == "cuda" else []))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    env = {**os.environ, "OMP_NUM_THREADS": "1", "WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port,
           "RINGMASTER_SHARE_GPUS": "1", "RINGMASTER_TEST_LAUNCHES": str(folder / "launches")}
    running = [subprocess.Popen([engine, "--run", folder / "run", "--resume", "none"], stderr=subprocess.PIPE, text=True,
                                env={**env, "RANK": str(rank), "LOCAL_RANK": str(rank)}) for rank in range(ranks)]
    said = [rank.communicate(timeout=240)[1] for rank in running]
    assert [rank.returncode for rank in running] == [0] * ranks, said
    return events_of(folder / "run")


@pytest.mark.parametrize("case", ["zigzag", "zigzag in bf16", "packed and sharded", "sharded in host memory"])
def test_ranks_that_share_the_device_train_what_the_cpu_trains(engine, llama, tmp_path, case):
    keys = {"context_parallel_size": 2, "ring_attn_func": "batch_zigzag"}
    if case == "zigzag in bf16":
        keys["bf16"] = True
    if case == "sharded in host memory":
        keys.update(gradient_checkpointing=True, deepspeed="deepspeed_configs/zero3_bf16_cpuoffload_all.json")
    if case == "packed and sharded":
        keys = {"context_parallel_size": 2, "ring_attn_func": "varlen_zigzag", "sample_packing": True, "optimizer": "adamw_bnb_8bit",
                "deepspeed": "deepspeed_configs/zero3.json"}
    on_device = train_on_ranks(engine, tmp_path / "cuda", llama, "cuda", 2, **keys)
    on_cpu = train_on_ranks(engine, tmp_path / "cpu", llama, "cpu", 2, **keys)
    bound = 1e-3 if "bf16" in keys else 1e-5
    assert [step["loss"] for step in on_device] == pytest.approx([step["loss"] for step in on_cpu], rel=bound)
    counts = [int(it) for it in (tmp_path / "cuda/launches").read_text().split()]
    assert counts[len(KERNELS) if "bf16" in keys else 0] > 0, "no merge by our own kernel"


@pytest.mark.parametrize("case", CAPPED_RANKS)
def test_ranks_that_share_the_device_cap_scores_as_the_cpu_does(engine, gemma2, tmp_path, case):
    keys = {"context_parallel_size": 2, **CAPPED_RANKS[case]}
    on_device = train_on_ranks(engine, tmp_path / "cuda", gemma2, "cuda", 2, **keys)
    on_cpu = train_on_ranks(engine, tmp_path / "cpu", gemma2, "cpu", 2, **keys)
    bounds = {"loss": 1e-3, "grad_norm": 1e-2} if "bf16" in keys else {"loss": 1e-6, "grad_norm": 1e-5}
    for ours, theirs in zip(on_device, on_cpu, strict=True):
        for key, bound in bounds.items():
            assert ours[key] == pytest.approx(theirs[key], rel=bound), (key, ours["step"])


@pytest.mark.parametrize("case", CAPPED)
def test_a_run_on_the_device_caps_scores_as_the_cpu_does(engine, gemma2, tmp_path, case):
    expect_same(engine, tmp_path, gemma2, CAPPED[case])


def test_the_blocks_of_scores_take_the_memory_that_the_plan_predicts(engine, gemma2, tmp_path):
    """The emulated device counts the memory of tensors as a GPU's allocator does. In this run, blocks of scores take
    most of the memory."""
    steps = train(engine, tmp_path / "cuda", gemma2, "cuda", max_steps=1, sequence_len=512, pad_to_sequence_len=True, bf16=True,
                  gradient_checkpointing=True, gradient_accumulation_steps=1)
    rank = json.loads((tmp_path / "cuda/run/plan.json").read_text())["memory"]["per_rank"][0]
    assert steps[0]["peak_memory_bytes"] == pytest.approx(rank["total"] - rank["runtime"], rel=0.01)
    assert rank["workspace"] > 14 * 4 * 512**2, "a backward has 14 bytes for each of a block's scores"


@pytest.mark.parametrize("bf16", [True, False])
def test_layer_norms_run_in_our_own_kernels(engine, nemotron, tmp_path, bf16):
    expect_same(engine, tmp_path, nemotron, {"bf16": True} if bf16 else {})
    counts, _ = launches(engine, tmp_path / "counted", nemotron, None)
    assert counts["norm"] > 0 and counts["norm_backward_input"] > 0 and counts["norm_backward_weight"] > 0


def test_layer_norms_take_the_memory_that_the_plan_predicts(engine, nemotron, tmp_path):
    def peak(name, **env):
        steps = train(engine, tmp_path / name, nemotron, "cuda", env=env, max_steps=1, sequence_len=512, pad_to_sequence_len=True,
                      bf16=True, gradient_checkpointing=True, micro_batch_size=4, gradient_accumulation_steps=1)
        rank = json.loads((tmp_path / name / "run/plan.json").read_text())["memory"]["per_rank"][0]
        return steps[0]["peak_memory_bytes"], rank["total"] - rank["runtime"]

    measured, planned = peak("ours")
    assert measured == pytest.approx(planned, rel=0.01)
    by_libtorch, _ = peak("libtorch", RINGMASTER_CUDA_KERNELS="none")
    assert by_libtorch > 1.5 * measured, "norms by LibTorch's operations make the peak, so that this test can fail"


def expect_same(engine, tmp_path, model, keys):
    on_device = train(engine, tmp_path / "cuda", model, "cuda", **keys)
    on_cpu = train(engine, tmp_path / "cpu", model, "cpu", **keys)
    assert len(on_device) == len(on_cpu) == 3
    bounds = {"loss": 1e-3, "grad_norm": 1e-2} if "bf16" in keys else {"loss": 1e-6, "grad_norm": 1e-5}
    for ours, theirs in zip(on_device, on_cpu):
        for key, bound in bounds.items():
            assert ours[key] == pytest.approx(theirs[key], rel=bound), (key, ours["step"])


@pytest.mark.parametrize("case", DEFAULT)
def test_a_run_on_the_device_trains_what_the_cpu_trains(engine, llama, tmp_path, case):
    expect_same(engine, tmp_path, llama, DEFAULT[case])


@pytest.mark.slow
@pytest.mark.parametrize("case", MORE)
def test_every_kind_of_run_on_the_device_trains_what_the_cpu_trains(engine, llama, tmp_path, case):
    expect_same(engine, tmp_path, llama, MORE[case])


def test_the_device_multiplies_8_bit_weights_by_8_bit_inputs(engine, tmp_path):
    """Compares the device with a CPU that computes in the same way (--int8 gpu). No size is a multiple of 8. There is
    one layer, so that few numbers lie at a tie between two codes."""
    model = kept_model(tmp_path / "model", "llama", hidden_size=72, intermediate_size=108, num_hidden_layers=1, initializer_range=0.08)
    keys = {**LORA, "load_in_8bit": True, "gradient_checkpointing": True, "tiled_mlp": True}
    on_device = train(engine, tmp_path / "cuda", model, "cuda", **keys)
    on_cpu = train(engine, tmp_path / "cpu", model, "cpu", arguments=["--int8", "gpu"], **keys)
    dequantized = train(engine, tmp_path / "dequantized", model, "cpu", **keys)
    assert on_device[0]["loss"] == pytest.approx(on_cpu[0]["loss"], rel=1e-6)
    assert abs(on_device[0]["loss"] / dequantized[0]["loss"] - 1) > 1e-5
    for ours, theirs in zip(on_device, on_cpu, strict=True):
        assert ours["loss"] == pytest.approx(theirs["loss"], rel=3e-4), ours["step"]
        assert ours["grad_norm"] == pytest.approx(theirs["grad_norm"], rel=1e-2), ours["step"]


def launches(engine, folder, model, kernels):
    """Trains one step; returns how often each kernel was launched, and the losses."""
    file = folder.with_suffix(".launches")
    steps = train(engine, folder, model, "cuda", max_steps=1, bf16=True,
                  env={"RINGMASTER_TEST_LAUNCHES": str(file), **({"RINGMASTER_CUDA_KERNELS": kernels} if kernels else {})})
    counts = [int(it) for it in pathlib.Path(file).read_text().split()]
    assert len(counts) == 3 * len(KERNELS)  # all in float32, in bfloat16 and in float16
    return {name: sum(counts[at::len(KERNELS)]) for at, name in enumerate(KERNELS)}, [step["loss"] for step in steps]


def test_a_device_uses_our_own_kernels_unless_they_are_switched_off(engine, llama, tmp_path):
    ours, losses = launches(engine, tmp_path / "ours", llama, None)
    assert all(ours[name] > 0 for name in KERNELS[1:]), ours
    none, same = launches(engine, tmp_path / "none", llama, "none")
    assert not any(none.values()), none
    assert losses == pytest.approx(same, rel=1e-3)
    some, _ = launches(engine, tmp_path / "some", llama, "rope,cross_entropy")
    assert {name for name, count in some.items() if count} == {"rope", "cross_entropy"}
