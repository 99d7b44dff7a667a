"""Tests what all subcommands have in common, and what they refuse without the engine."""

import json
import os
import shutil
import subprocess

import pytest

from conftest import BIN, make_incomplete_run, make_run, run

COMMANDS = ["plan", "prepare", "launch", "watch", "stop", "resume", "runs", "export", "setup", "calibrate", "nodes", "advise", "preflight", "adapt"]


def test_an_unknown_command_names_those_there_are():
    done = run("lanch")
    assert done.returncode == 2 and "did you mean launch?" in done.stderr
    assert all(command in done.stderr for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command):
    done = run(command, "--help")
    assert done.returncode == 0 and done.stdout.startswith(f"usage: ringmaster {command}")
    assert not done.stderr


def test_help_explains_a_code_and_refuses_other_topics():
    told = run("help", "cp-divisor")
    assert told.returncode == 0 and told.stdout.startswith("CP-DIVISOR: ") and "**Do:**" in told.stdout
    assert run("help", "launch").stdout == run("launch", "--help").stdout
    assert "QLoRA" in run("help", "families").stdout and "exposed communication" in run("help", "Overhead").stdout
    assert "security" in run("help").stdout and "What is protected" in run("help", "security").stdout
    assert run("help", "nothing").returncode == 2


def test_the_version_names_the_engines_libtorch():
    done = run("--version")
    assert done.returncode == 0 and done.stdout.startswith("ringmaster 0.")
    if (BIN / "ringmaster-engine").exists():
        assert "LibTorch 2.11.0" in done.stdout


def test_without_a_command_the_app_is_opened_or_missed(tmp_path):
    alone = tmp_path / "bin"
    alone.mkdir()
    shutil.copy(BIN / "ringmaster", alone)
    done = subprocess.run([alone / "ringmaster"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "ringmaster-gui" in done.stderr and "launch" in done.stderr
    (alone / "ringmaster-gui").write_text("#!/bin/sh\necho opened\nexit 7\n")
    (alone / "ringmaster-gui").chmod(0o755)
    done = subprocess.run([alone / "ringmaster"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (7, "opened\n")


@pytest.mark.parametrize("command", ["watch", "stop", "resume", "export"])
def test_a_run_that_is_not_there_is_exit_status_2(command, tmp_path):
    more = ["--format", "csv", "--to", tmp_path / "x.csv"] if command == "export" else []
    done = run(command, "nowhere", "--runs-dir", tmp_path, *more, "--json")
    assert done.returncode == 2
    told = json.loads(done.stdout)
    finding = told["finding"] if command in ("watch", "resume") else told["diagnostics"][0]
    assert finding["code"] == "RUN-MISSING" and "nowhere" in done.stderr


@pytest.mark.parametrize("elsewhere", [["--slurm", "partition=x"], ["--node", "a", "--node", "b", "--detach"]])
def test_restarts_are_refused_where_nothing_would_restart_the_run(make_config, elsewhere, tmp_path):
    done = run("launch", make_config(), "--runs-dir", tmp_path / "runs", "--restarts", "2", *elsewhere)
    assert done.returncode == 2 and "--restarts" in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("arguments", [["--trust-on-first-use"], ["--node", "a;b"], ["--node", "a", "--node", "a"], ["--node", "a", "--nodes", "2"]])
def test_nodes_that_make_no_sense_are_usage_errors(make_config, arguments, tmp_path):
    done = run("launch", make_config(), "--runs-dir", tmp_path / "runs", *arguments)
    assert done.returncode == 2 and "--" in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("name", ["", "a/b", "..", "a\nb", "x" * 101])
def test_a_name_that_is_no_folders_name_is_refused(make_config, name, tmp_path):
    done = run("launch", make_config(), "--runs-dir", tmp_path / "runs", "--name", name)
    assert done.returncode == 2 and "name" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_an_output_dir_of_somebody_else_is_refused(make_config, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/thesis.tex").write_text("x")
    done = run("launch", make_config(), "--runs-dir", tmp_path / "runs", "--json")
    assert done.returncode == 1 and "--overwrite" in done.stderr
    assert "thesis" not in json.dumps(json.loads(done.stdout)) and not (tmp_path / "runs").exists()
    done = run("launch", make_config(), "--runs-dir", tmp_path / "runs", "--overwrite", "--dry-run")
    assert done.returncode == 0


def test_a_plan_with_an_error_is_not_launched(make_config, tmp_path):
    done = run("launch", make_config(context_parallel_size=3), "--ranks", 4, "--runs-dir", tmp_path / "runs", "--json")
    line = json.loads(done.stdout)
    assert (done.returncode, line["type"], line["dir"], line["exit"]) == (1, "error", None, 1)
    assert line["finding"]["code"] in [entry["code"] for entry in line["diagnostics"]]
    assert "context_parallel_size" in done.stderr and not (tmp_path / "runs").exists()


def test_a_dry_run_prints_the_commands_and_makes_nothing(make_config, tmp_path):
    done = run("launch", make_config(), "--ranks", 3, "--runs-dir", tmp_path / "runs", "--name", "dry", "--dry-run", "--json")
    asked = json.loads(done.stdout)
    assert done.returncode == 0 and not (tmp_path / "runs").exists()
    assert asked["dir"] == str(tmp_path / "runs/dry")
    ranks = asked["nodes"][0]["ranks"]
    assert [rank["environment"]["RANK"] for rank in ranks] == ["0", "1", "2"]
    assert asked["nodes"][0]["agent"]["argv"][1:5] == ["--run", asked["dir"], "--ranks", "3"]
    assert asked["torchrun"].startswith("torchrun --no-python --nproc-per-node 3 -- ")
    text = run("launch", make_config(), "--ranks", 3, "--runs-dir", tmp_path / "runs", "--name", "dry", "--dry-run").stdout
    assert asked["torchrun"] in text and "LOCAL_RANK=2" in text


def test_a_model_folder_that_is_not_here_can_be_planned_but_not_launched(make_config, tmp_path):
    config = make_config(base_model="./later")
    planned = run("plan", config, "--ranks", 2, "--json")
    assert planned.returncode == 0 and json.loads(planned.stdout)["memory"] is None
    for command in ("prepare", "launch"):
        done = run(command, config, "--ranks", 2, "--runs-dir", tmp_path / "runs")
        assert done.returncode == 1 and str(tmp_path / "later") in done.stderr and "is no folder" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_an_adapters_folder_that_is_not_here_can_be_planned_but_not_launched(make_config, tmp_path):
    settings = {"adapter": "lora", "lora_r": 4, "lora_alpha": 8, "lora_target_modules": ["q_proj"]}
    config = make_config(lora_model_dir="./later", **settings)
    planned = json.loads(run("plan", config, "--ranks", 2, "--json").stdout)
    assert planned["ok"] and planned["memory"] and any(finding["key"] == "lora_model_dir" for finding in planned["diagnostics"])
    for command in ("prepare", "launch"):
        done = run(command, config, "--ranks", 2, "--runs-dir", tmp_path / "runs")
        assert done.returncode == 1 and str(tmp_path / "later") in done.stderr and "is no folder" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_prepare_prints_the_directory_alone_for_the_shell_to_take(make_config, tmp_path):
    done = run("prepare", make_config(), "--ranks", 2, "--runs-dir", tmp_path / "runs", "--name", "made", env={"XDG_CACHE_HOME": str(tmp_path)})
    assert (done.returncode, done.stdout) == (0, f"{tmp_path}/runs/made\n"), done.stderr
    assert "2 CPU ranks" in done.stderr and "12 rows" in done.stderr
    assert (tmp_path / "runs/made/plan.json").is_file()


def test_an_accelerate_file_alone_is_planned_but_not_launched(tmp_path):
    file = tmp_path / "accelerate.yaml"
    file.write_text("compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nnum_machines: 1\nnum_processes: 4\n"
                    "parallelism_config:\n  parallelism_config_cp_size: 2\n")
    assert run("plan", file).returncode == 0
    done = run("launch", file, "--runs-dir", tmp_path / "runs")
    assert done.returncode == 2 and "--accelerate" in done.stderr


def test_an_engine_that_does_not_start_is_exit_status_3(make_config, tmp_path):
    programs = tmp_path / "app/bin"
    programs.mkdir(parents=True)
    for name in ("ringmaster", "ringmaster-agent"):
        shutil.copy(BIN / name, programs)
    (tmp_path / "app/share").symlink_to(BIN.parent / "share")
    (programs / "ringmaster-engine").write_text("#!/bin/sh\necho cannot load libtorch_cpu.so\nexit 127\n")
    (programs / "ringmaster-engine").chmod(0o755)
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run([programs / "ringmaster", "launch", make_config(), "--runs-dir", tmp_path / "runs", "--name", "one"],
                          capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 3
    assert "cannot load libtorch_cpu.so" in done.stderr and "127" in done.stderr
    assert json.loads((tmp_path / "runs/one/run.json").read_text())["state"] == "failed"


def test_runs_are_listed_and_deleted(tmp_path):
    assert json.loads(run("runs", "--runs-dir", tmp_path / "runs", "--json").stdout) == []
    make_run(tmp_path / "runs/one", steps=4)
    listed = json.loads(run("runs", "--runs-dir", tmp_path / "runs", "--json").stdout)
    assert [(entry["name"], entry["state"], entry["step"], entry["loss"]) for entry in listed] == [("one", "completed", 4, 1.0)]
    assert set(listed[0]) == {"name", "dir", "state", "incomplete", "step", "total_steps", "loss", "started", "reason"}
    assert "one" in run("runs", "--runs-dir", tmp_path / "runs").stdout
    (tmp_path / "runs/photos").mkdir()
    assert run("runs", "--delete", "photos", "--runs-dir", tmp_path / "runs").returncode == 2
    done = run("runs", "--delete", "one", "--runs-dir", tmp_path / "runs")
    assert done.returncode == 0 and not (tmp_path / "runs/one").exists() and (tmp_path / "runs/photos").exists()


def test_a_completed_run_whose_events_end_early_is_listed_as_incomplete(tmp_path):
    make_incomplete_run(tmp_path / "runs/early")
    make_run(tmp_path / "runs/whole", 1)
    early, reason, whole = run("runs", "--runs-dir", tmp_path / "runs").stdout.splitlines()[1:]
    assert early.split()[:3] == ["early", "incomplete", "5/9"] and whole.split()[:2] == ["whole", "completed"]
    assert reason == "  Its events end at step 5, before the last."
    listed = json.loads(run("runs", "--runs-dir", tmp_path / "runs", "--json").stdout)
    assert [(one["state"], one["incomplete"]) for one in listed] == [("completed", True), ("completed", False)]
    for command in ("watch", "stop"):
        said = {name: run(command, name, "--runs-dir", tmp_path / "runs").stdout for name in ("early", "whole")}
        assert reason.strip() in said["early"] and "before the last" not in said["whole"]


def test_watching_a_run_that_is_over_shows_all_of_it(tmp_path):
    make_run(tmp_path / "runs/one", ranks=2, steps=5)
    done = run("watch", "one", "--runs-dir", tmp_path / "runs")
    assert done.returncode == 0
    assert [line.split()[1] for line in done.stdout.splitlines() if line.startswith("step ")] == ["1", "2", "2", "3", "4", "5"]
    assert "completed" in done.stdout and "evaluation at step 5: loss 2.5000 over 77 labels" in done.stdout
    lines = [json.loads(line) for line in run("watch", "one", "--runs-dir", tmp_path / "runs", "--json").stdout.splitlines()]
    assert lines[0] == {"type": "run", "dir": str(tmp_path / "runs/one")}
    assert sum(line["type"] == "step" for line in lines) == 2 * 6
    times = [line["t"] for line in lines[1:]]
    assert times == sorted(times)


def test_watching_more_ranks_than_fit_shows_their_spread(tmp_path):
    make_run(tmp_path / "runs/wide", ranks=64, steps=3)
    done = run("watch", "wide", "--runs-dir", tmp_path / "runs")
    last = [line for line in done.stdout.splitlines() if line.startswith("step 3")][0]
    assert "…" in last and len(last) < 200


def test_stopping_and_resuming_what_is_over(tmp_path):
    make_run(tmp_path / "runs/one")
    done = run("stop", "one", "--runs-dir", tmp_path / "runs")
    assert done.returncode == 0 and "over already" in done.stdout
    done = run("resume", "one", "--runs-dir", tmp_path / "runs")
    assert done.returncode == 0 and "already completed" in done.stderr
