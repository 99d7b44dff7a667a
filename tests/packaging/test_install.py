"""Tests an installed copy in a separate folder. The copy does not use the build's folders, and finds LibTorch where
the user has it."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

BIN = pathlib.Path(os.environ["RINGMASTER_BIN"])


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    subprocess.run(["cmake", "--install", BIN.parent, "--prefix", folder], check=True, stdout=subprocess.DEVNULL)
    return folder


@pytest.fixture
def run(prefix, tmp_path):
    """Returns a function that runs a program as a new user of the machine would."""
    def start(program, *arguments, **environment):
        env = {"PATH": f"{prefix}/bin:/usr/bin:/bin", "HOME": str(tmp_path), "LC_ALL": "C.UTF-8", "CUDA_VISIBLE_DEVICES": "", **environment}
        return subprocess.run([program, *map(str, arguments)], env=env, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    return start


def make_environment(folder):
    """Fills a folder so that it looks like an environment with LibTorch, and returns its library folder. Its Python
    is the one that runs the test."""
    libraries = folder / "lib/python3.11/site-packages/torch/lib"
    libraries.mkdir(parents=True)
    (libraries / "libtorch_cpu.so").touch()
    (folder / "bin").mkdir()
    (folder / "bin/python").symlink_to(sys.executable)
    return libraries


def engine_prints_its_library_path(prefix):
    engine = prefix / "libexec/ringmaster/ringmaster-engine"
    engine.unlink(missing_ok=True)
    engine.write_text('#!/bin/sh\necho "$LD_LIBRARY_PATH" "$@"\n')
    engine.chmod(0o755)


def test_the_example_is_planned_where_it_was_installed(run, prefix):
    done = run("ringmaster", "plan", prefix / "share/ringmaster/example/example.yaml", "--ranks", 2, "--device", "cpu", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ok"] is True


def test_without_libtorch_each_program_says_what_to_run(run, prefix):
    for command in (["ringmaster-engine", "--version"], ["ringmaster-tokenize", "--help"],
                    ["ringmaster", "launch", prefix / "share/ringmaster/example/example.yaml", "--device", "cpu"]):
        done = run(*command)
        assert done.returncode == 3 and "`ringmaster setup`" in done.stderr, (command, done)
        assert len(done.stderr.strip().splitlines()) <= 2
    assert run("ringmaster", "--version").returncode == 0


def test_no_program_knows_the_folders_of_its_builder(prefix):
    home = os.path.expanduser("~").encode() + b"/.cache/ringmaster"
    for program in ("bin/ringmaster", "bin/ringmaster-agent", "bin/ringmaster-engine", "bin/ringmaster-tokenize"):
        assert home not in (prefix / program).read_bytes(), program
    assert not os.path.lexists(prefix / "share/ringmaster/python-env")


@pytest.mark.parametrize("environment", [{}, {"XDG_CACHE_HOME": "/nowhere/cache"}, {"XDG_CACHE_HOME": "relative"}])
def test_scripts_and_programs_look_in_the_same_place(run, prefix, tmp_path, environment):
    cache = "/nowhere/cache" if environment.get("XDG_CACHE_HOME") == "/nowhere/cache" else f"{tmp_path}/.cache"
    config = prefix / "share/ringmaster/example/example.yaml"
    for command in (["ringmaster-engine"], ["ringmaster-tokenize"], ["ringmaster", "launch", config, "--device", "cpu", "--name", "never"]):
        assert f"{cache}/ringmaster/venv-torch-2.11.0" in run(*command, **environment).stderr, command


@pytest.mark.parametrize("variable, folder", [
    ("", ".cache/ringmaster/venv-torch-2.11.0"), ("XDG_CACHE_HOME", "elsewhere/ringmaster/venv-torch-2.11.0"),
    ("RINGMASTER_PYTHON_ENV", "my env")])
def test_libtorch_is_found_where_this_user_has_it(run, prefix, tmp_path, variable, folder):
    engine_prints_its_library_path(prefix)
    libraries = make_environment(tmp_path / folder)
    environment = {"XDG_CACHE_HOME": {"XDG_CACHE_HOME": str(tmp_path / "elsewhere")},
                   "RINGMASTER_PYTHON_ENV": {"RINGMASTER_PYTHON_ENV": str(tmp_path / folder)}}.get(variable, {})
    done = run("ringmaster-engine", "--run", "a folder", LD_LIBRARY_PATH="/opt/mine", **environment)
    assert (done.returncode, done.stdout) == (0, f"{libraries}:/opt/mine --run a folder\n"), done.stderr
    done = run("ringmaster-engine", **environment)
    assert done.stdout == f"{libraries}\n"
    done = run("ringmaster-tokenize", "--help", **environment)
    assert done.returncode == 0 and "--fetch-model" in done.stdout
