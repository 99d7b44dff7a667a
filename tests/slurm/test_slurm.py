"""Tests runs as jobs of a real Slurm, from this machine and through SSH: they are submitted, watched, cancelled, and requeued after
Slurm's time-limit warning."""

import json
import os
import pathlib
import signal
import subprocess
import time

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from ringmaster_runs import BIN, events_of, launch, losses_of, make_config, ringmaster, state_of, wait_for
from slurm import ONE_THREAD, job_of, steps

KEYS = dict(context_parallel_size=2, ring_attn_func="batch_zigzag", save_strategy=None, save_steps=1000)


@pytest.fixture(scope="module")
def straight(llama, rows_file, tmp_path_factory):
    """Returns the losses of 80 steps on this machine, without Slurm."""
    folder = tmp_path_factory.mktemp("straight")
    config = make_config(folder, llama, rows_file, max_steps=80, **KEYS)
    return losses_of(launch(config, folder / "runs", "--ranks", 2, env=ONE_THREAD))


@pytest.fixture(scope="module", autouse=True)
def short_of_time(slurm, llama, rows_file, tmp_path_factory):
    """Submits a job with a time limit of one minute, which runs during the other tests. Slurm checks time limits twice a minute."""
    folder = tmp_path_factory.mktemp("short")
    config = make_config(folder, llama, rows_file, max_steps=100000, save_strategy=None, save_steps=100000)
    done = ringmaster("launch", config, "--ranks", 1, "--runs-dir", folder / "runs", "--detach", "--json", "--slurm", "time=1", "--slurm",
                      "signal=USR1@1", env=slurm.env(**ONE_THREAD))
    return pathlib.Path(json.loads(done.stdout.splitlines()[0])["dir"])


@pytest.fixture
def ask(slurm, tmp_path):
    """Returns a function that runs the command line with this Slurm and a separate folder of runs."""
    def run(command, *arguments, env=None, **options):
        return ringmaster(command, *arguments, "--runs-dir", tmp_path / "runs", env={**slurm.env(**ONE_THREAD), **(env or {})}, **options)
    return run


def submit(ask, config, *arguments, **options):
    done = ask("launch", config, "--ranks", 2, "--detach", "--json", "--slurm", "partition=main", *arguments, **options)
    return pathlib.Path(json.loads(done.stdout.splitlines()[0])["dir"])


def test_a_job_of_two_ranks_trains_to_the_losses_of_this_machine(slurm, ask, straight, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=80, **KEYS)
    done = ask("launch", config, "--ranks", 2, "--slurm", "partition=main", "--slurm", "time=10")
    (run,) = (tmp_path / "runs").iterdir()
    assert "#SBATCH --partition=" in done.stdout and f"submitted as Slurm job {job_of(run)}" in done.stdout
    state = state_of(run)
    assert (state["state"], state["attempt"], state["ranks"]) == ("completed", 1, 2)
    assert losses_of(run, 0) == losses_of(run, 1) == straight
    assert (run / "submit.sbatch").read_text() in done.stdout
    assert (tmp_path / "out/model.safetensors").exists()
    listed = json.loads(ask("runs", "--json").stdout)
    assert [(one["state"], one["step"]) for one in listed] == [("completed", 80)]


def test_a_warned_job_saves_is_queued_again_and_goes_on_to_the_same_losses(slurm, ask, straight, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=80, use_tensorboard=True, **KEYS)
    run = submit(ask, config)
    watch = subprocess.Popen([BIN / "ringmaster", "watch", run], env=slurm.env(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wait_for(lambda: len(steps(run)) >= 3, "step 3")
    slurm.say("scancel", "--signal=USR1", job_of(run))
    wait_for(lambda: state_of(run)["state"] == "queued", "the saved run in the queue")
    assert "its time was nearly over" in state_of(run)["reason"]
    saved = max(steps(run))
    assert 3 <= saved < 80
    said, _ = watch.communicate(timeout=60)
    assert watch.returncode == 0, said
    assert (state_of(run)["state"], state_of(run)["attempt"]) == ("completed", 2)
    assert [(event["attempt"], event["start_step"]) for event in events_of(run, kind="hello")] == [(1, 0), (2, saved)]
    assert losses_of(run, 0) == losses_of(run, 1) == straight
    wait_for(lambda: (run / "tracking/tensorboard.done").exists(), "the last step at TensorBoard")
    board = EventAccumulator(str(tmp_path / "out/runs" / run.name), size_guidance={"scalars": 0}).Reload()
    assert [point.step for point in board.Scalars("train/loss")] == list(range(1, len(straight) + 1))  # each step once


@pytest.mark.parametrize("partition", ["low", "patient", "cheap"])
def test_a_preempted_job_says_so_and_goes_on(partition, slurm, ask, straight, llama, rows_file, tmp_path):
    """Tests jobs that are preempted in three ways: requeued at once, requeued after a grace time in which the ranks save, or
    cancelled and then resumed by the user."""
    config = make_config(tmp_path, llama, rows_file, max_steps=80, **{**KEYS, "save_steps": 2})
    run = submit(ask, config, "--slurm", f"partition={partition}")
    wait_for(lambda: len(steps(run)) >= 3, "step 3")
    slurm.say("sbatch", "--partition=urgent", "--ntasks=7", "--output=/dev/null", "--wrap=sleep 3")
    told = []

    def over():
        told.extend((one["state"], one["reason"]) for one in json.loads(ask("runs", "--json").stdout) if one["dir"] == str(run))
        return told[-1][0] in ("completed", "failed", "stopped") and slurm.state_of(job_of(run)) not in ("PENDING", "COMPLETING", "RUNNING", "SIGNALING")
    wait_for(over, "the end")
    if partition == "cheap":
        assert told[-1][0] == "failed" and "was preempted" in told[-1][1] and "resume RUN" in told[-1][1], told
        ask("resume", run, "--slurm", "partition=main")
    else:
        assert any(state == "queued" and "was preempted: Slurm put it back" in reason for state, reason in told), told
    assert state_of(run)["state"] == "completed" and state_of(run)["attempt"] == 2
    assert losses_of(run, 0) == losses_of(run, 1) == straight


def test_stop_saves_and_resume_submits_again(slurm, ask, straight, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=80, **KEYS)
    run = submit(ask, config)
    wait_for(lambda: len(steps(run)) >= 3, "step 3")
    ask("stop", run)
    assert state_of(run)["state"] == "stopped"
    first = job_of(run)
    done = ask("resume", run, "--slurm", "comment=again")
    assert state_of(run)["state"] == "completed" and f"submitted as Slurm job {job_of(run)}" in done.stdout
    assert job_of(run) != first and '--comment="again"' in (run / "submit.sbatch").read_text()
    assert losses_of(run) == straight


def test_a_job_that_waits_is_cancelled_and_one_that_was_cancelled_says_so(slurm, ask, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=100000, **KEYS)
    run = submit(ask, config, "--slurm", "hold")
    assert state_of(run)["state"] == "queued"
    assert ask("runs", "--delete", run, check=False).returncode == 1
    assert ask("resume", run, check=False).returncode == 1
    ask("stop", run)
    assert state_of(run)["state"] == "stopped" and slurm.state_of(job_of(run)) == "CANCELLED"

    other = submit(ask, config, "--slurm", "hold", "--overwrite")
    slurm.say("scancel", job_of(other))
    (listed,) = [one for one in json.loads(ask("runs", "--json").stdout) if one["dir"] == str(other)]
    assert listed["state"] == "stopped" and "was cancelled" in listed["reason"]
    assert ask("watch", other).returncode == 0


def test_a_killed_rank_is_the_reason(slurm, ask, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=100000, **KEYS)
    run = submit(ask, config)
    wait_for(lambda: len(steps(run)) >= 3, "step 3")
    os.kill(events_of(run, 1, "hello")[0]["pid"], signal.SIGKILL)
    done = ask("watch", run, check=False)
    assert done.returncode == 1 and "rank 1 on" in done.stderr and ": Killed" in done.stderr
    assert state_of(run)["state"] == "failed" and slurm.state_of(job_of(run)) == "FAILED"


def test_a_prepared_script_can_be_submitted_by_hand(slurm, ask, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=2, **KEYS)
    run = pathlib.Path(ask("prepare", config, "--slurm", "ntasks-per-node=2").stdout.strip())
    job = slurm.say("sbatch", "--parsable", run / "submit.sbatch").stdout.strip()
    wait_for(lambda: slurm.state_of(job) == "COMPLETED", "the end")
    assert state_of(run)["state"] == "completed"
    assert [event["step"] for event in events_of(run, 1)] == [1, 2]
    ask("runs", "--delete", run.name, env={"PATH": str(tmp_path)})
    assert not run.exists()


def test_a_job_started_again_goes_on_from_the_newest_checkpoint_of_its_own(ask, llama, rows_file, tmp_path):
    """Runs the script itself with an srun that records its arguments. At the first start the engine sets
    aside newer checkpoints of other attempts."""
    config = make_config(tmp_path, llama, rows_file, **KEYS)
    run = pathlib.Path(ask("prepare", config, "--slurm", "ntasks-per-node=2").stdout.strip())
    srun = tmp_path / "bin/srun"
    srun.parent.mkdir()
    srun.write_text('#!/bin/sh\necho "$RINGMASTER_ATTEMPT $*"\n')
    srun.chmod(0o755)

    def started(count):
        env = {**os.environ, "PATH": f"{srun.parent}:{os.environ['PATH']}", "SLURM_JOB_ID": "1", "SLURM_JOB_NODELIST": "n", "SLURM_JOB_NUM_NODES": "1",
               "SLURM_CPUS_ON_NODE": "2", "SLURM_RESTART_COUNT": str(count)}
        said = subprocess.run(["bash", run / "submit.sbatch"], env=env, capture_output=True, text=True, timeout=20).stdout.splitlines()[1].split()
        return int(said[0]), said[-1]

    def save(step, seconds):
        complete = run / f"checkpoints/step-{step:08d}/complete"
        complete.parent.mkdir(parents=True)
        complete.touch()
        made = (run / "submit.sbatch").stat().st_mtime + seconds
        os.utime(complete, (made, made))

    save(50, -60)
    assert started(0) == (1, "none") and started(1) == (2, "none")
    save(8, 60)
    save(9, 61)
    assert started(2) == (3, "latest")


def test_a_partition_that_is_not_there_is_slurms_own_words_and_leaves_nothing(ask, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, **KEYS)
    done = ask("launch", config, "--ranks", 2, "--slurm", "partition=nowhere", check=False)
    assert done.returncode == 3 and "invalid partition specified: nowhere" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_a_job_that_is_refused_after_all_is_the_runs_reason(ask, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, **KEYS)
    fake = tmp_path / "bin/sbatch"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\n[ "$1" = --test-only ] && exec cat >/dev/null\necho "sbatch: error: too many jobs" >&2\nexit 1\n')
    fake.chmod(0o755)
    done = ask("launch", config, "--ranks", 2, "--slurm", "partition=main", check=False, env={"PATH": f"{fake.parent}:{os.environ['PATH']}"})
    assert done.returncode == 3 and "sbatch: error: too many jobs" in done.stderr
    (run,) = (tmp_path / "runs").iterdir()
    assert state_of(run)["state"] == "failed" and "too many jobs" in state_of(run)["reason"]


def test_ctrl_c_takes_a_job_that_waits_out_of_the_queue(slurm, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, **KEYS)
    person = subprocess.Popen([BIN / "ringmaster", "launch", config, "--ranks", "2", "--runs-dir", tmp_path / "runs", "--name", "held", "--slurm",
                               "hold"], env=slurm.env(**ONE_THREAD), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    run = tmp_path / "runs/held"
    wait_for(lambda: (run / "slurm.json").exists() and slurm.state_of(job_of(run)) == "PENDING", "the job in the queue")
    time.sleep(1)
    person.send_signal(signal.SIGINT)
    said, _ = person.communicate(timeout=60)
    assert person.returncode == 0 and "JobHeldUser" in said, said
    assert state_of(run)["state"] == "stopped" and slurm.state_of(job_of(run)) == "CANCELLED"


def test_without_slurm_it_says_so(ask, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, **KEYS)
    done = ask("launch", config, "--ranks", 2, "--slurm", "partition=main", check=False, env={"PATH": str(tmp_path)})
    assert done.returncode == 3 and "sbatch is not there" in done.stderr


def test_a_dry_run_prints_the_script_and_makes_nothing(slurm, ask, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, **KEYS)
    options = ["--slurm", "partition=gpu", "--slurm", "account=ann", "--slurm", "time=4:00:00", "--slurm", "nodes=2", "--slurm",
               "ntasks-per-node=4", "--slurm", "exclusive"]
    done = ask("launch", config, "--dry-run", *options, "--set", "context_parallel_size=8", "--json")
    told = json.loads(done.stdout)
    lines = told["script"].splitlines()
    for line in ["--nodes=2", "--ntasks=8", "--ntasks-per-node=4", '--partition="gpu"', '--account="ann"', '--time="4:00:00"', "--exclusive",
                 "--signal=USR1@120", "--requeue"]:
        assert f"#SBATCH {line}" in lines
    assert told["submit"][0] == "sbatch" and any(line.startswith("srun ") for line in lines)
    assert subprocess.run(["bash", "-n"], input=told["script"], text=True).returncode == 0
    assert told["script"] in ask("launch", config, "--dry-run", *options, "--set", "context_parallel_size=8").stdout
    assert not (tmp_path / "runs").exists()


HOSTILE = ["$(touch CANARY)", "`touch CANARY`", "';touch CANARY;'", '";touch CANARY;"', "a b #c%j%%", "--wrap=touch CANARY", "*|>CANARY&", "ü 中"]


def test_hostile_names_do_nothing_but_name_the_run(slurm, ask, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=1)
    runs = []
    for name in HOSTILE:
        name = name.replace("CANARY", "canary")
        runs.append(submit(ask, config, "--ranks=1", f"--name={name}", f"--slurm=comment={name}",
                           f"--set=output_dir={tmp_path / 'out' / str(len(runs))}"))
        assert runs[-1].name == name
    comments = slurm.say("squeue", "--noheader", "--states=all", "--format=%k").stdout.splitlines()
    for run in runs:
        ask("watch", f"{run}")
        assert state_of(run)["state"] == "completed", (run / "agent.log").read_text()
        assert run.name in comments
    assert not list(tmp_path.rglob("canary*")) and not pathlib.Path("canary").exists()
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {run.name for run in runs}


@pytest.mark.parametrize("option, words", [
    ("partition=$(touch canary)", "invalid partition"), ("a b=1", "no option of sbatch"), ("partition=a\nb", "control character"),
    ("wrap=touch canary", "cannot be chosen"), ("time=soon", "is no time"), ("signal=KILL@9", "not be understood"),
    ("nodes=many", "no whole number"), ("no-such-option=1", "unrecognized option"),
])
def test_what_cannot_be_an_option_is_refused(option, words, ask, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, **KEYS)
    done = ask("launch", config, "--ranks", 2, "--slurm", option, check=False, cwd=tmp_path)
    assert done.returncode in (2, 3) and words in done.stderr
    assert not (tmp_path / "runs").exists() and not (tmp_path / "canary").exists()


def test_through_ssh_a_login_node_takes_the_job(slurm, client, straight, llama, rows_file, tmp_path):
    client.host("login", client.serve("login", environment=f"SLURM_CONF={slurm.conf}"))
    config = make_config(tmp_path, llama, rows_file, max_steps=80, **KEYS)

    def ask(command, *arguments, check=True):
        done = subprocess.run([BIN / "ringmaster", command, *map(str, arguments), "--runs-dir", tmp_path / "runs"], capture_output=True, text=True,
                              timeout=120, stdin=subprocess.DEVNULL, env=client.env(), start_new_session=True)
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    refused = ask("launch", config, "--ranks", 2, "--node", "login", "--slurm", "partition=nowhere", check=False)
    assert refused.returncode == 3 and "invalid partition specified: nowhere" in refused.stderr
    done = ask("launch", config, "--ranks", 2, "--node", "login", "--slurm", "partition=main", "--detach", "--json")
    run = pathlib.Path(json.loads(done.stdout.splitlines()[0])["dir"])
    (there,) = client.servers[0].home.glob("data/ringmaster/runs/*/*")
    wait_for(lambda: len(steps(there)) >= 3, "step 3 there")
    ask("stop", run)
    assert state_of(run)["state"] == "stopped", state_of(run)
    ask("resume", run)
    assert (state_of(run)["state"], state_of(run)["attempt"]) == ("completed", 2)
    assert losses_of(run, 0) == losses_of(run, 1) == straight
    assert (tmp_path / "out/model.safetensors").exists()


def test_slurm_itself_warns_before_the_time_is_over(slurm, short_of_time):
    wait_for(lambda: len(events_of(short_of_time, kind="hello")) > 1, "the second start", 90)
    ringmaster("stop", short_of_time, "--now", env=slurm.env())
    starts = [(event["attempt"], event["start_step"]) for event in events_of(short_of_time, kind="hello")]
    assert [attempt for attempt, _ in starts] == list(range(1, len(starts) + 1)) and starts[1][1] > 0
    assert state_of(short_of_time)["state"] == "stopped" and state_of(short_of_time)["attempt"] == len(starts)
    # If the stop comes while the ranks save after the time-limit warning, the job completes by itself.
    assert slurm.state_of(job_of(short_of_time)) in ("CANCELLED", "COMPLETED")
