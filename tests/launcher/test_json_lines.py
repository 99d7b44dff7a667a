"""Tests --json on failures: one line with a code for commands that stream, one document for the others, and
the exit status of both."""

import json
import os
import re
import shutil
import subprocess

import pytest

from conftest import BIN, make_run, run

FIELDS = {"severity", "code", "key", "line", "message", "hint", "parameters", "fixes"}
CODE = re.compile(r"[A-Z]{2,}-[A-Z][A-Z0-9-]*")
ON_A_CONFIG = ["launch", "preflight", "prepare", "plan", "advise"]
ON_A_RUN = ["watch", "resume", "stop", "export", "fetch"]
STREAMS = {"launch", "preflight", "watch", "resume"}


def assert_finding(finding):
    assert FIELDS <= set(finding), finding
    assert CODE.fullmatch(finding["code"]), finding
    assert finding["message"] and isinstance(finding["parameters"], dict) and isinstance(finding["fixes"], list)


def lines_of(done):
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(isinstance(line, dict) and line["type"] for line in lines), done.stdout
    return lines


def failure_of(command, done):
    """Checks the properties that every failure has; returns the failed command's finding."""
    if command in STREAMS:
        last = lines_of(done)[-1]
        assert last["type"] == "error" and last["exit"] == done.returncode != 0, done.stdout + done.stderr
        assert "dir" in last
        finding = last["finding"]
    else:
        document = json.loads(done.stdout)
        assert document["ok"] is False if "error" in document else document["verdict"] == "invalid"
        for diagnostic in document["diagnostics"]:
            assert_finding(diagnostic)
        finding = next(entry for entry in document["diagnostics"] if entry["severity"] == "error")
    assert_finding(finding)
    assert finding["severity"] == "error" and done.returncode != 0
    return finding


def ask(tmp_path, command, *arguments, **options):
    runs = [] if command in ("plan", "advise", "preflight") else ["--runs-dir", tmp_path / "runs"]
    environment = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_DATA_HOME": str(tmp_path / "data")}
    return run(command, *arguments, *runs, "--json", env=environment, **options)


@pytest.mark.parametrize("command", ON_A_CONFIG)
def test_a_missing_file_is_exit_status_2(command, tmp_path):
    done = ask(tmp_path, command, tmp_path / "nowhere.yaml")
    assert done.returncode == 2 and failure_of(command, done)["code"] == "CFG-FILE"


@pytest.mark.parametrize("command", ON_A_CONFIG)
def test_malformed_yaml_is_exit_status_2_with_its_line(command, tmp_path):
    (tmp_path / "broken.yaml").write_text("base_model: x\nlist: [1,\nb: }\n")
    done = ask(tmp_path, command, tmp_path / "broken.yaml")
    finding = failure_of(command, done)
    assert done.returncode == 2 and finding["code"] == "YAML-SYNTAX" and finding["line"] > 0


@pytest.mark.parametrize("command", [*ON_A_CONFIG, *ON_A_RUN, "runs", "nodes", "calibrate", "setup"])
def test_an_unknown_option_is_exit_status_2(command, tmp_path):
    done = run(command, *(["x"] if command in ON_A_CONFIG + ON_A_RUN else []), "--jsno", "--json")
    assert done.returncode == 2 and failure_of(command, done)["code"] == "ARGUMENT-UNKNOWN"


@pytest.mark.parametrize("command", ON_A_CONFIG)
def test_a_value_that_an_option_does_not_take_names_the_option(command, tmp_path):
    done = ask(tmp_path, command, "x.yaml", "--ranks", "many")
    finding = failure_of(command, done)
    assert (done.returncode, finding["code"]) == (2, "ARGUMENT-VALUE")
    assert finding["parameters"] == {"option": "--ranks"} and "many" in finding["message"]


@pytest.mark.parametrize("command", ON_A_RUN)
def test_a_run_that_is_not_there_is_exit_status_2(command, tmp_path):
    more = ["--format", "csv", "--to", tmp_path / "x.csv"] if command == "export" else []
    done = run(command, "nobody", *more, "--runs-dir", tmp_path, "--json")
    assert (done.returncode, failure_of(command, done)["code"]) == (2, "RUN-MISSING")


@pytest.mark.parametrize("command", ["launch", "preflight", "prepare"])
def test_a_plan_with_an_error_says_all_of_them(command, make_config, tmp_path):
    done = ask(tmp_path, command, make_config(context_parallel_size=3, learning_rate="fast"), "--ranks", 4)
    failure_of(command, done)
    told = lines_of(done)[-1] if command in STREAMS else json.loads(done.stdout)
    codes = {entry["code"] for entry in told["diagnostics"] if entry["severity"] == "error"}
    assert done.returncode == 1 and {"CFG-TYPE"} < codes | {"CFG-VALUE"}, codes
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("command", ["launch", "preflight"])
def test_a_model_without_weights_is_refused(command, make_config, tmp_path):
    done = ask(tmp_path, command, make_config(reinit_weights=None), "--ranks", 1)
    assert (done.returncode, failure_of(command, done)["code"]) == (1, "MODEL-WEIGHTS")


def test_an_output_dir_of_somebody_else_is_refused(make_config, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/thesis.tex").write_text("x")
    done = ask(tmp_path, "launch", make_config(), "--ranks", 1)
    finding = failure_of("launch", done)
    assert (done.returncode, finding["code"]) == (1, "OUTPUT-OCCUPIED")
    assert finding["parameters"]["file"] == str(tmp_path / "out")


@pytest.mark.parametrize("command", ["launch", "prepare"])
def test_a_runs_dir_that_cannot_be_written_is_refused(command, make_config, tmp_path):
    (tmp_path / "runs").write_text("a file")
    done = ask(tmp_path, command, make_config(), "--ranks", 1)
    assert (done.returncode, failure_of(command, done)["code"]) == (1, "FILE-WRITE")
    if command == "launch":
        assert lines_of(done)[-1]["dir"] is None


def test_a_node_that_cannot_be_reached_is_exit_status_3(make_config, tmp_path):
    done = ask(tmp_path, "launch", make_config(), "--ranks", 1, "--node", "127.0.0.1:1")
    finding = failure_of("launch", done)
    assert (done.returncode, finding["code"]) == (3, "NODE-UNREACHABLE")
    assert finding["message"] and not (tmp_path / "runs").exists()


@pytest.mark.parametrize("command", ["launch", "prepare"])
def test_what_fails_after_the_run_directory_was_made_names_it(command, make_config, tmp_path):
    config = make_config()
    (tmp_path / "rows.jsonl").write_text("no row\n")
    done = ask(tmp_path, command, config, "--ranks", 1, "--name", "one")
    told = lines_of(done)[-1] if command in STREAMS else json.loads(done.stdout)
    assert (done.returncode, failure_of(command, done)["code"]) == (1, "DATA-TOKENIZE")
    assert told["dir"] == str(tmp_path / "runs/one")
    state = json.loads((tmp_path / "runs/one/run.json").read_text())
    assert (state["state"], state["code"]) == ("failed", "DATA-TOKENIZE")


@pytest.fixture
def failing_engine(tmp_path):
    """Returns a function that starts commands of an installation whose engine is a script."""
    programs = tmp_path / "app/bin"
    programs.mkdir(parents=True)
    for name in ("ringmaster", "ringmaster-agent"):
        shutil.copy(BIN / name, programs)
    (tmp_path / "app/share").symlink_to(BIN.parent / "share")

    def start(script, *arguments):
        (programs / "ringmaster-engine").write_text("#!/bin/sh\n" + script)
        (programs / "ringmaster-engine").chmod(0o755)
        environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "XDG_CACHE_HOME": str(tmp_path / "cache")}
        return subprocess.run([programs / "ringmaster", *map(str, arguments), "--json"], env=environment, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60)

    return start


@pytest.mark.parametrize("script, code, status", [("exit 7", "RANK-FAILED", 1), ("exit 127", "PROGRAM-START", 3), ("kill -SEGV $$", "RANK-KILLED", 1)])
def test_a_rank_that_fails_ends_the_stream_with_its_code(script, code, status, failing_engine, make_config, tmp_path):
    done = failing_engine(script, "launch", make_config(), "--ranks", 2, "--runs-dir", tmp_path / "runs", "--name", "one", "--no-preflight")
    lines = lines_of(done)
    assert lines[0] == {"type": "run", "dir": str(tmp_path / "runs/one")}
    finding = failure_of("launch", done)
    assert (done.returncode, finding["code"]) == (status, code)
    assert finding["parameters"]["run"] == "one" and finding["parameters"]["rank"] in (0, 1)
    assert lines[-1]["dir"] == lines[0]["dir"] and sum(line["type"] == "error" and "finding" in line for line in lines) == 1

    watched = run("watch", tmp_path / "runs/one", "--json")
    assert lines_of(watched)[-1]["finding"]["code"] == code and watched.returncode == status


def test_a_preflight_whose_engine_fails_ends_with_its_code(failing_engine, make_config):
    done = failing_engine("exit 7", "preflight", make_config(), "--ranks", 1)
    assert (done.returncode, failure_of("preflight", done)["code"]) == (1, "RANK-FAILED")


def test_a_run_that_completed_has_no_line_of_a_failure(tmp_path):
    done = run("watch", make_run(tmp_path / "r"), "--json")
    lines = lines_of(done)
    assert lines[0]["type"] == "run" and not any("finding" in line for line in lines)


def test_a_dry_run_is_one_line(make_config, tmp_path):
    done = ask(tmp_path, "launch", make_config(), "--ranks", 1, "--dry-run")
    (line,) = lines_of(done)
    assert line["type"] == "preview" and done.returncode == 0
