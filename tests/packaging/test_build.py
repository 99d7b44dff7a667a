"""Tests that the build creates every program, and the engine's CUDA part unless it is switched off."""

import os
import pathlib
import stat
import subprocess

import pytest

BUILD = pathlib.Path(os.environ["RINGMASTER_BIN"]).parent
ROOT = pathlib.Path(__file__).resolve().parents[2]
WHEELS_NVCC = "lib/python3.11/site-packages/nvidia/cu13/bin/nvcc"


def inputs_of(target):
    return set(subprocess.run(["ninja", "-C", BUILD, "-t", "query", target], check=True, capture_output=True, text=True).stdout.split())


@pytest.mark.skipif(os.environ["RINGMASTER_HAS_CUDA"] == "0", reason="this build was configured with -DRINGMASTER_CUDA=off")
def test_programs_are_all_that_an_installation_takes_from_the_build():
    installed = (BUILD / "cmake_install.cmake").read_text()
    binaries = [name for name in ("ringmaster", "ringmaster-gui", "ringmaster-agent", "ringmaster-engine", "ringmaster_cuda.so")
                if f'{BUILD}/bin/{name}"' in installed]
    assert len(binaries) == 5
    terminal = {f"bin/{name}" for name in binaries if name != "ringmaster-gui"}
    assert terminal <= inputs_of("terminal") and "bin/ringmaster-gui" not in inputs_of("terminal")  # the programs that train are built before the app
    assert {"terminal", "bin/ringmaster-gui"} <= inputs_of("programs")


def nvcc_that_says(file, release):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\necho 'Cuda compilation tools, release {release}, V{release}.88'\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


def found_nvcc(env, **environment):
    return subprocess.run([ROOT / "packaging/nvcc", env], capture_output=True, text=True,
                          env={"PATH": "/usr/bin:/bin", "CUDA_HOME": "/nonexistent", **environment})


def test_the_first_nvcc_of_the_wheels_release_is_taken(tmp_path):
    wheel = nvcc_that_says(tmp_path / "env" / WHEELS_NVCC, "13.0")
    older = nvcc_that_says(tmp_path / "old/nvcc", "12.4")
    newer = nvcc_that_says(tmp_path / "new/nvcc", "13.5")
    toolkit = nvcc_that_says(tmp_path / "toolkit/bin/nvcc", "13.0")
    env = tmp_path / "env"
    assert found_nvcc(env).stdout.strip() == str(wheel)
    assert found_nvcc(env, PATH=f"{older.parent}:/usr/bin:/bin").stdout.strip() == str(wheel)
    assert found_nvcc(env, PATH=f"{toolkit.parent}:/usr/bin:/bin").stdout.strip() == str(toolkit)
    assert found_nvcc(env, CUDA_HOME=str(toolkit.parents[1])).stdout.strip() == str(toolkit)
    named = found_nvcc(env, CUDACXX=str(newer))
    assert named.stdout.strip() == str(wheel) and str(newer) in named.stderr and "passed over" in named.stderr
    assert found_nvcc(env, CUDACXX=str(toolkit)).stdout.strip() == str(toolkit)


def test_without_any_there_is_none(tmp_path):
    older = nvcc_that_says(tmp_path / "old/nvcc", "12.4")
    done = found_nvcc(tmp_path / "env", PATH=f"{older.parent}:/usr/bin:/bin")
    assert done.returncode == 1 and done.stdout == ""


@pytest.fixture
def configure(tmp_path):
    """Configures the engine where no nvcc is found, neither in a toolkit nor in the wheels."""
    real, env = pathlib.Path(os.environ["RINGMASTER_ENV"]), tmp_path / "env"
    site = next((real / "lib").glob("python3*/site-packages"))
    (env / site.relative_to(real)).mkdir(parents=True)
    (env / site.relative_to(real) / "torch").symlink_to(site / "torch")
    (env / "bin").symlink_to(real / "bin")

    def start(*options):
        return subprocess.run(["cmake", "-S", ROOT, "-B", tmp_path / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                               f"-DRINGMASTER_PYTHON_ENV={env}", "-DRINGMASTER_ENGINE_ONLY=ON", *options],
                              capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "CUDA_HOME": "/nonexistent"})
    return start


def test_a_missing_nvcc_is_an_error_that_says_what_to_do(configure):
    done = configure()
    said = " ".join(done.stderr.split())
    assert done.returncode != 0 and "No nvcc of CUDA 13.0" in said
    assert "run packaging/setup" in said and "-DRINGMASTER_CUDA=off" in said


def test_only_an_explicit_choice_builds_without_cuda(configure, tmp_path):
    done = configure("-DRINGMASTER_CUDA=off")
    assert done.returncode == 0, done.stderr
    targets = subprocess.run(["ninja", "-C", tmp_path / "build", "-t", "targets", "all"], capture_output=True, text=True, check=True).stdout
    assert "ringmaster-engine" in targets and "ringmaster_cuda" not in targets and ".cu.o" not in targets
