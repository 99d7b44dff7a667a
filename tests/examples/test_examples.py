"""Plans and adapts every example file of axolotl. verdicts.tsv lists which files can be planned, and what prevents a
plan for the others."""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import tarfile

import pytest

HERE = pathlib.Path(__file__).parent
ARCHIVE = HERE / "axolotl-0.18.0-examples.tar.xz"
VERDICTS = HERE / "verdicts.tsv"
RINGMASTER = pathlib.Path(os.environ["RINGMASTER_BIN"]) / "ringmaster"
PLANNED_AT_LEAST = 160
ADAPTED_AT_LEAST = 196


def ask(command, file):
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PARALLELISM_CONFIG_")}
    done = subprocess.run([RINGMASTER, command, file, "--ranks", "2", "--device", "cuda", "--device-memory", "80", "--json"], capture_output=True,
                          text=True, timeout=120, stdin=subprocess.DEVNULL, env={**clean, "CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1", "HF_HOME": "/nowhere"})
    assert done.returncode in (0, 1), f"{file}: {done.stderr}"
    return json.loads(done.stdout)


def reasons(findings):
    return sorted({f"{one['code']} {one['key']}".strip() for one in findings})


def errors(planned):
    return [one for one in planned["diagnostics"] if one["severity"] == "error"]


def judge(file):
    before = file.read_bytes()
    planned, adapted = ask("plan", file), ask("adapt", file)
    assert file.read_bytes() == before, "adapt without --write changes nothing"
    return planned, adapted


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("axolotl")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder)
    files = sorted((folder / "examples").rglob("*.y*ml"))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return {str(file.relative_to(folder / "examples")): both for file, both in zip(files, pool.map(judge, files))}


def written(judged):
    lines = []
    for name, (planned, adapted) in judged.items():
        lines.append("\t".join([name, "; ".join(reasons(errors(planned))) or "plans", "; ".join(reasons(adapted["missing"])) or "adapts"]))
    return "\n".join(lines) + "\n"


def test_the_files_are_those_of_the_release(judged):
    """The archive holds these 252 names, and the list has a verdict on each."""
    assert len(judged) == 252
    assert list(judged) == [line.split("\t")[0] for line in VERDICTS.read_text().splitlines()]


def test_no_file_plans_or_adapts_worse_than_it_did(judged, request, capsys):
    if request.config.getoption("--write-verdicts"):
        VERDICTS.write_text(written(judged))
    worse, better = [], 0
    for line, new in zip(VERDICTS.read_text().splitlines(), written(judged).splitlines()):
        name, planned, adapted = line.split("\t")
        _, planned_now, adapted_now = new.split("\t")
        for before, now, done in ((planned, planned_now, "plans"), (adapted, adapted_now, "adapts")):
            before, now = set(before.split("; ")) - {done}, set(now.split("; ")) - {done}
            worse += [f"{name}: {one}" for one in sorted(now - before)]
            better += now < before
    with capsys.disabled():
        print(f"\n{sum(planned['ok'] for planned, _ in judged.values())} of {len(judged)} examples plan, "
              f"{sum(adapted['ok'] for _, adapted in judged.values())} after adapt; {better} verdicts are better than verdicts.tsv says")
    assert not worse


def test_enough_files_plan_and_adapt(judged):
    assert sum(planned["ok"] for planned, _ in judged.values()) >= PLANNED_AT_LEAST
    assert sum(adapted["ok"] for _, adapted in judged.values()) >= ADAPTED_AT_LEAST


def test_each_file_runs_after_adapt_or_is_told_what_is_missing(judged):
    for name, (planned, adapted) in judged.items():
        assert adapted["ok"] or not planned["ok"] or planned["verdict"] == "will_not_fit", name
        assert adapted["verdict"] in (("fits", "tight", "unknown") if adapted["ok"] else ("invalid", "will_not_fit")), name
        assert adapted["ok"] or all(one["message"] for one in adapted["missing"]), name
        assert adapted["ok"] != bool(adapted["missing"]), name
        assert all(step["lines"] and step["finding"]["message"] for step in adapted["steps"]), name
