"""Tests that every fault is caught: by preflight, by the run's first wrong step, whose error names the cause, or by a
test. A fault is a patch of the engine's sources, NN-name.patch. faults.json lists the meshes on which it has an effect,
the words that name it, and the test that catches it. `tests/faults/run PATCH…` tries one fault."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from faulty_build import BUILD, ROOT, apply, faulty_program
from ways import BIN, PRECISIONS, Runs

HERE = pathlib.Path(__file__).parent
TABLE = json.loads((HERE / "faults.json").read_text())
PATCHES = {patch.stem: patch for patch in sorted(HERE.glob("*.patch"))}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return Runs(tmp_path_factory.mktemp("runs"))


def test_the_table_names_every_patch_and_each_still_applies(tmp_path):
    assert sorted(TABLE) == sorted(PATCHES)
    assert all("ways" in entry or "test" in entry for entry in TABLE.values())
    for name, patch in PATCHES.items():
        apply([patch], tmp_path / name)


def tried(runs, engine, entry, folder):
    """Returns how a faulty engine's runs ended, one result for each mesh, precision and weights. Runs in which the
    fault was not caught come first."""
    results = []
    for way in entry["ways"]:
        for precision in PRECISIONS:
            for weights in ("fresh", "trained"):
                state = runs.run(engine, entry.get("model", "tied"), way, precision, weights, folder)
                named = all(re.search(words, state["reason"]) for words in entry["words"])
                caught = state["state"] == "failed" and named
                results.append((caught, f"{way}, {precision}, {weights}: {state['state']}: {state['reason'][:300]}"))
    return sorted(results)


@pytest.mark.parametrize("name", [name for name, entry in TABLE.items() if "ways" in entry])
def test_exhaustive_a_fault_is_refused_wherever_it_has_an_effect(name, runs, tmp_path):
    engine = faulty_program([PATCHES[name]], tmp_path / "build")
    results = tried(runs, engine, TABLE[name], tmp_path / "run")
    for caught, line in results:
        print("caught" if caught else "MISSED", name, line, flush=True)
    assert all(caught for caught, _ in results), "\n".join(line for caught, line in results if not caught)


def copy_other_programs(folder):
    """Copies the other programs to the folder of the faulty engine. Through a link, a program would find the build's
    engine instead."""
    for file in (BUILD / "bin").iterdir():
        if not (folder / file.name).exists():
            shutil.copy2(file, folder / file.name)


@pytest.mark.parametrize("name", [name for name, entry in TABLE.items() if "test" in entry])
def test_exhaustive_a_fault_is_caught_by_its_test(name, tmp_path):
    program, select = (TABLE[name]["test"].get(key) for key in ("program", "select"))
    if not program.endswith(".py"):
        faulty = faulty_program([PATCHES[name]], tmp_path / "build", program)
        done = subprocess.run([faulty, f"--gtest_filter={select or '*'}:-*Gpu*:*Exhaustive*"], capture_output=True, text=True,
                              timeout=900)
        assert done.returncode == 1 and "[  FAILED  ]" in done.stdout, done.stdout[-2000:]
        return
    faulty_program([PATCHES[name]], tmp_path / "build")
    copy_other_programs(tmp_path / "build")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k", select,
                           pathlib.Path(program).name], cwd=ROOT / "tests/e2e", capture_output=True, text=True, timeout=900,
                          env={**os.environ, "RINGMASTER_BIN": str(tmp_path / "build")})
    assert done.returncode == 1 and " failed" in done.stdout, done.stdout[-2000:]
