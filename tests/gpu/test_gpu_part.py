"""Tests the CUDA part as far as is possible without a GPU: what the part contains, and what the engine reports on a machine without
a GPU."""

import json
import mmap
import os
import pathlib
import re
import shutil
import struct
import subprocess

import pytest

from ringmaster_runs import BIN, events_of, make_config, ringmaster

ROOT = pathlib.Path(__file__).resolve().parents[2]
NO_GPU = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1"}
PTX, MACHINE_CODE = 1, 2
with_cuda = pytest.mark.skipif(os.environ["RINGMASTER_HAS_CUDA"] == "0", reason="this build was configured with -DRINGMASTER_CUDA=off")


def engine(*arguments, env=NO_GPU):
    return subprocess.run([BIN / "ringmaster-engine", *arguments], capture_output=True, text=True, env=env, timeout=300)


def embedded_code(module, tmp_path):
    """Returns (kind, architecture) of everything that nvcc embedded, as `cuobjdump --list-elf --list-ptx` of the toolkit does. The
    section .nv_fatbin is a sequence of containers (magic, version, header's size, size of the entries), which hold entries (kind,
    ..., header's size, size, ..., architecture)."""
    raw = tmp_path / "fatbin"
    subprocess.run(["objcopy", "-O", "binary", "--only-section=.nv_fatbin", module, raw], check=True)
    data, at, found = raw.read_bytes(), 0, set()
    while at + 16 <= len(data):
        magic, _, header, size = struct.unpack_from("<IHHQ", data, at)
        if magic != 0xBA55ED50:
            at += 8  # containers are aligned to 8 bytes
            continue
        entry, at = at + header, at + header + size
        while entry < at:
            kind, _, entry_header, entry_size, _, _, _, _, architecture = struct.unpack_from("<HHIQIIHHI", data, entry)
            found.add((kind, architecture))
            entry += entry_header + entry_size
    return found


@with_cuda
def test_kernels_are_compiled_for_ampere_and_hopper_and_as_ptx_for_what_comes(tmp_path):
    assert embedded_code(BIN / "ringmaster_cuda.so", tmp_path) == {(MACHINE_CODE, 80), (MACHINE_CODE, 90), (PTX, 90)}


@with_cuda
def test_the_module_starts_on_the_runtime_that_libtorch_loads():
    """A second runtime, linked into the module, would not know LibTorch's devices and streams."""
    module = BIN / "ringmaster_cuda.so"
    symbols = subprocess.run(["nm", "-D", module], capture_output=True, text=True, check=True).stdout
    assert " U __cudaRegisterFatBinary" in symbols and " T ringmaster_launch_rows" in symbols


KERNELS = 8 * 3  # each in float32, bfloat16 and float16


@with_cuda
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_kernels_spill_no_register_and_read_sixteen_bytes_a_lane(architecture, tmp_path):
    """A thread may use 64 registers: then four blocks of 256 threads fill a multiprocessor's 65,536 registers."""
    env = pathlib.Path(os.environ["RINGMASTER_ENV"])
    nvcc = subprocess.run([ROOT / "packaging/nvcc", env], capture_output=True, text=True, check=True).stdout.strip()
    said = subprocess.run([nvcc, "-std=c++17", f"-arch={architecture}", "-cubin", "-Xptxas", "-v", "-diag-suppress=177", "-I", ROOT,
                           ROOT / "engine/kernels/row_kernels.cu", "-o", tmp_path / "rows.cubin"],
                          capture_output=True, text=True, check=True).stderr
    registers = [int(it) for it in re.findall(r"Used (\d+) registers", said)]
    assert len(registers) == said.count("0 bytes spill stores, 0 bytes spill loads") == KERNELS, said
    assert max(registers) <= 64, said
    disassembler = next(env.glob("lib/python3*/site-packages/triton/backends/nvidia/bin/nvdisasm"))
    code = subprocess.run([disassembler, "-c", tmp_path / "rows.cubin"], capture_output=True, text=True, check=True).stdout
    kernels = code.split(".section\t.text.")[1:]
    assert len(kernels) == KERNELS
    for kernel in kernels:
        name, loads = kernel.split(",")[0], set(re.findall(r"LDG\.\S+", kernel))
        of_rows = "NormBackwardWeight" not in name  # a lane's elements are not adjacent in this kernel
        assert ("LDG.E.128" in loads) == of_rows, (name, loads)
        assert loads <= {"LDG.E.128", "LDG.E.64", "LDG.E", "LDG.E.U16"}, (name, loads)


def test_libtorchs_attention_for_gpus_still_takes_no_softcap():
    """As long as this test passes, models that cap their scores need the slower attention in blocks of scores by LibTorch's
    operations."""
    torch = next(pathlib.Path(os.environ["RINGMASTER_ENV"]).glob("lib/python3*/site-packages/torch"))
    with (torch / "lib/libtorch_cuda.so").open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as code:
        assert code.find(b"This flash attention build does not support softcap.") > 0
    for operator in ("_flash_attention_forward", "_scaled_dot_product_cudnn_attention", "_scaled_dot_product_efficient_attention"):
        assert "softcap" not in (torch / f"include/ATen/ops/{operator}_ops.h").read_text()


@pytest.mark.parametrize("task", ["--calibrate", "--selftest"])
def test_the_engine_says_in_one_line_that_there_is_no_device(task):
    done = engine(task, "--device", "cuda")
    assert done.returncode == 3
    said = [line for line in done.stderr.splitlines() if line]
    assert len(said) == 1 and "CUDA" in said[0] and "--device cpu" in said[0], done.stderr


def test_a_launch_on_a_missing_device_is_refused_in_one_line_before_anything_starts(llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=2)
    done = ringmaster("launch", config, "--runs-dir", tmp_path / "runs", "--device", "cuda", "--ranks", 1, "--device-memory", 80,
                      check=False, env=NO_GPU)
    said = done.stderr.splitlines()
    assert done.returncode == 3 and "0 GPUs are seen here" in said[0] and said[1:] == ["  --device cpu"], done.stderr


def test_a_rank_of_another_launcher_says_in_its_event_that_there_is_no_device(llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=2)
    run = ringmaster("prepare", config, "--runs-dir", tmp_path / "runs", "--device", "cuda", "--ranks", 1, "--device-memory", 80,
                     env=NO_GPU).stdout.strip()
    assert engine("--run", run).returncode == 3
    message = events_of(pathlib.Path(run), kind="error")[-1]["message"]
    assert "CUDA" in message and "--device cpu" in message and "\n" not in message


def test_whole_steps_beside_transformers_can_be_carried_to_another_folder_and_run_there(tmp_path):
    script, python = ROOT / "tests/gpu/whole_step.py", pathlib.Path(os.environ["RINGMASTER_ENV"]) / "bin/python"
    subprocess.run([python, script, "prepare", "--bin", BIN, "--to", tmp_path / "made", "--device", "cpu"], check=True, timeout=120,
                   stdout=subprocess.DEVNULL, env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")})
    (tmp_path / "made").rename(tmp_path / "carried")
    shutil.rmtree(tmp_path / "cache")
    def run(kind):
        done = subprocess.run([python, script, "run", "--engine", BIN / "ringmaster-engine", "--from", tmp_path / "carried", "--kind", kind,
                               "--device", "cpu", "--python", python, "--gpu", "NVIDIA H200"], capture_output=True, text=True, timeout=240,
                              env={**os.environ, "OMP_NUM_THREADS": "1"})
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    for result in [*run("full"), *run("lora"), *run("long")]:
        assert 0.5 < result["predicted_over_measured"] < 2
        assert result["predicted_within_a_tenth"] == (abs(result["predicted_over_measured"] - 1) <= 0.1)
        assert 0 < result["model_flops_utilisation"] < 1 and result["tokens_per_s"] > 0
        if result["kind"] == "long":
            assert "transformers" not in result and result["longest_sequence_len"]["planned"] > 96
        else:
            assert result["speed_ratio"] > 0
        if result["kind"] == "lora":
            assert result["transformers"]["adapters"].startswith("peft") and result["transformers"]["trained_weights"] > 0


@pytest.mark.slow
def test_losses_beside_transformers_can_be_carried_to_another_folder_and_trained_there(tmp_path):
    """Gemma 3 has most of the features in which the families' layers differ; 8-bit weights are computed with a GPU's arithmetic."""
    script, python = ROOT / "tests/gpu/same_losses.py", pathlib.Path(os.environ["RINGMASTER_ENV"]) / "bin/python"
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    subprocess.run([python, script, "prepare", "--bin", BIN, "--to", tmp_path / "made", "--device", "cpu", "--only", "gemma3-full", "int8"],
                   check=True, timeout=240, stdout=subprocess.DEVNULL, env=one_thread)
    (tmp_path / "made").rename(tmp_path / "carried")
    shutil.rmtree(tmp_path / "cache")
    done = subprocess.run([python, script, "run", "--engine", BIN / "ringmaster-engine", "--from", tmp_path / "carried"],
                          capture_output=True, text=True, timeout=240, env=one_thread)
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads(done.stdout.splitlines()[-1])
    assert [it["run"] for it in results] == ["gemma3-full-fp32", "gemma3-full-bf16", "int8"]
    assert results[0]["loss"] < 1e-6 < results[1]["loss"], "bfloat16 rounds"


def test_the_selftest_proves_the_cpu_where_there_is_no_device_says_why_and_feeds_the_planner():
    done = engine("--selftest", "--seconds", "0.002")
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stderr.splitlines()
    assert len(said) == 1 and "CUDA" in said[0] and said[0].endswith("the CPU is tested"), done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    phases = [(line["done"], line["total"]) for line in lines if "phase" in line]
    assert [it for it, _ in phases] == sorted(it for it, _ in phases) and phases[-1][0] == phases[-1][1]
    found = lines[-1]["selftest"]
    assert found["ok"] and found["device"] == "cpu"
    assert {it["kernel"] for it in found["kernels"]} >= {"rms_norm_backward", "rope", "swiglu", "cross_entropy"}
    assert {it["head_dim"] for it in found["attention"]} == {64, 96, 128, 256}
    assert {it["softcap"] for it in found["attention"]} == {0, 1.5}
    assert found["ring"]["ranks"] == 8 and found["ring"]["worst"] <= found["ring"]["bound"] and found["ring"]["ratio"] > 0
    calibration = lines[-1]["result"]
    assert calibration["device"] == "cpu" and calibration["float32"]["product_flops"] > 0 and calibration["link_bytes_per_s"] > 0


def test_the_gpu_run_answers_in_one_line_where_there_is_no_gpu(tmp_path):
    done = subprocess.run([ROOT / "tests/gpu/run", "--json", tmp_path / "report.json"], capture_output=True, text=True, env=NO_GPU)
    assert done.returncode == 3 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and "no NVIDIA GPU" in done.stderr
