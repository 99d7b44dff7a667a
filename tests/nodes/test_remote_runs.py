"""Tests runs on machines reached by SSH, which are two real sshd servers with their own homes. The client's run
directory has the same files as that of any run."""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "oracles"))
from ringmaster_runs import BIN, events_of, kept_model, launch, losses_of, make_config, state_of, wait_for
from sshd import nvidia_smi
from test_generate_command import make_tokenizer
from tiny import llama, rows_file  # noqa: F401  (fixtures)


@pytest.fixture
def pair(client):
    """Returns hosts a and b, and the environment of the user who reaches them."""
    for name in ("a", "b"):
        client.host(name, client.serve(name))
    client.a, client.b = client.servers
    return client


def run(client, *arguments, timeout=120, check=True, **environment):
    done = subprocess.run([str(BIN / "ringmaster"), *map(str, arguments)], capture_output=True, text=True, timeout=timeout,
                          stdin=subprocess.DEVNULL, env=client.env(OMP_NUM_THREADS="1", **environment), start_new_session=True)
    if check:
        assert done.returncode == 0, done.stdout + done.stderr
    return done


def launch_on(client, config, runs, *arguments, **options):
    done = run(client, "launch", config, "--runs-dir", runs, "--node", "a", "--node", "b", "--json", *arguments, **options)
    return pathlib.Path(json.loads(done.stdout.splitlines()[0])["dir"])


def there(server):
    """Returns the run directory on a node."""
    (found,) = server.home.glob("data/ringmaster/runs/*/*")
    return found


def agent_pid(server, node):
    file = there(server) / ("run.json" if node == 0 else f"node-{node}/run.json")
    return json.loads(file.read_text())["nodes"][0]["agent"]["pid"]


def processes_of(folder):
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if str(folder) in (process / "cmdline").read_bytes().decode(errors="replace").replace("\0", " "):
                found.append(int(process.name))
        except OSError:
            pass
    return [pid for pid in found if pid != os.getpid()]


def steps(run_dir, rank=0):
    try:
        return [event["step"] for event in events_of(run_dir, rank)]
    except FileNotFoundError:
        return []


def raw_steps(run_dir, rank):
    lines = (run_dir / "events" / f"rank-{rank:05d}.jsonl").read_text().split("\n")[:-1]
    return [event["step"] for event in map(json.loads, lines) if event["type"] == "step"]


def samples_of(run_dir):
    return [(line["step"], line["asked"], line["ids"]) for line in map(json.loads, (run_dir / "samples.jsonl").read_text().splitlines())]


def test_two_hosts_train_to_the_losses_of_one(pair, rows_file, tmp_path):
    llama = kept_model(tmp_path / "model", "llama", vocab_size=290)
    make_tokenizer(llama)
    keys = dict(max_steps=6, context_parallel_size=4, ring_attn_func="batch_zigzag", val_set_size=4, eval_steps=3,
                sample_prompts=["Once upon", "def"], sample_max_new_tokens=8)
    alone = make_config(tmp_path, llama, rows_file, **keys, output_dir=str(tmp_path / "alone"))
    local = launch(alone, tmp_path / "runs", "--ranks", 4, "--name", "alone", env={"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"})
    config = make_config(tmp_path, llama, rows_file, **keys, output_dir=str(tmp_path / "out"))
    remote = launch_on(pair, config, tmp_path / "runs", "--ranks", 4, "--name", "two")
    state = state_of(remote)
    assert state["state"] == "completed", state["reason"]
    assert [node["host"] for node in state["nodes"]] == ["a", "b"]
    assert [[rank["rank"] for rank in node["ranks"]] for node in state["nodes"]] == [[0, 1], [2, 3]]
    for rank in range(4):
        assert losses_of(remote, rank) == pytest.approx(losses_of(local, rank), abs=1e-6)
        assert raw_steps(remote, rank) == [1, 2, 3, 4, 5, 6]
        for file in (f"events/rank-{rank:05d}.jsonl", f"logs/rank-{rank:05d}.log"):  # the client's copy equals the node's file
            assert (remote / file).read_bytes() == (there(pair.b if rank > 1 else pair.a) / file).read_bytes()
    assert samples_of(remote) == samples_of(local) and [step for step, *_ in samples_of(remote)] == [3, 3, 6, 6]
    assert (remote / "samples.jsonl").read_bytes() == (there(pair.a) / "samples.jsonl").read_bytes()
    assert (tmp_path / "out/model.safetensors").stat().st_size == (tmp_path / "alone/model.safetensors").stat().st_size
    assert not list(pair.a.home.glob("data/ringmaster/runs/*/*/events/rank-00002*"))
    assert not processes_of(pair.a.home) and not processes_of(pair.b.home)


def test_gpus_whose_driver_is_too_old_are_refused_before_anything_is_sent(client, llama, rows_file, tmp_path):
    client.host("old", client.serve_with("old", "nvidia-smi", nvidia_smi("550.54.14", "12.4")))
    config = make_config(tmp_path, llama, rows_file, max_steps=1)
    done = run(client, "launch", config, "--runs-dir", tmp_path / "runs", "--node", "old", "--device", "cuda", "--ranks", 1,
               "--device-memory", 80, check=False)
    assert done.returncode == 3 and "550.54.14 is too old for CUDA 13.0" in done.stderr and "--device cpu" in done.stderr, done.stderr
    assert not (client.servers[0].home / "data/ringmaster/runs").exists()


def test_gpus_that_are_too_old_are_refused_before_anything_is_sent(client, llama, rows_file, tmp_path):
    client.host("old", client.serve_with("old", "nvidia-smi", nvidia_smi("580.65.06", "13.0", "Tesla V100-SXM2-32GB, 7.0")))
    config = make_config(tmp_path, llama, rows_file, max_steps=1)
    done = run(client, "launch", config, "--runs-dir", tmp_path / "runs", "--node", "old", "--device", "cuda", "--ranks", 1,
               "--device-memory", 80, check=False)
    assert done.returncode == 3 and "compute capability 7.0" in done.stderr and "--device cpu" in done.stderr, done.stderr
    assert not (client.servers[0].home / "data/ringmaster/runs").exists()


def test_a_second_launch_sends_the_model_no_more(pair, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=1)
    launch_on(pair, config, tmp_path / "runs", "--ranks", 2, "--name", "one")
    objects = sorted((file.name, file.stat().st_ino) for file in pair.a.home.glob("data/ringmaster/objects/*"))
    launch_on(pair, config, tmp_path / "runs", "--ranks", 2, "--name", "two")
    assert sorted((file.name, file.stat().st_ino) for file in pair.a.home.glob("data/ringmaster/objects/*")) == objects


def test_the_run_goes_on_without_client_and_sshd_and_watch_catches_up(pair, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=400)
    remote = launch_on(pair, config, tmp_path / "runs", "--ranks", 2, "--detach")
    wait_for(lambda: len(steps(there(pair.a))) >= 3, "step 3")
    pair.a.stop()
    pair.b.stop()
    before = len(steps(there(pair.a)))
    wait_for(lambda: len(steps(there(pair.a))) >= before + 20, "20 more steps")
    pair.a.start()
    pair.b.start()
    run(pair, "watch", remote)
    assert state_of(remote)["state"] == "completed"
    for rank in range(2):
        assert raw_steps(remote, rank) == list(range(1, 401))


def test_watch_survives_the_end_of_its_connection(pair, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=600)
    remote = launch_on(pair, config, tmp_path / "runs", "--ranks", 2, "--detach")
    watch = subprocess.Popen([str(BIN / "ringmaster"), "watch", str(remote)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             env=pair.env(), start_new_session=True)
    wait_for(lambda: len(steps(remote)) >= 5, "step 5 here")
    for server in (pair.a, pair.b):
        server.stop()
        server.start()
    assert watch.wait(120) == 0
    for rank in range(2):
        assert raw_steps(remote, rank) == list(range(1, 601))


def test_stop_saves_and_resume_goes_on_to_the_same_losses(pair, llama, rows_file, tmp_path):
    keys = dict(context_parallel_size=2, save_strategy=None, save_steps=1000)
    config = make_config(tmp_path, llama, rows_file, max_steps=300, **keys)
    remote = launch_on(pair, config, tmp_path / "runs", "--ranks", 2, "--detach")
    wait_for(lambda: len(steps(there(pair.a))) >= 3, "step 3")
    run(pair, "stop", remote)
    assert state_of(remote)["state"] == "stopped"
    stopped_at = len(steps(remote))
    assert 3 <= stopped_at < 300
    run(pair, "resume", remote)
    assert state_of(remote)["state"] == "completed"
    straight = make_config(tmp_path, llama, rows_file, max_steps=300, **keys, output_dir=str(tmp_path / "straight"))
    local = launch(straight, tmp_path / "runs", "--ranks", 2, "--name", "straight", env={"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"})
    assert losses_of(remote) == losses_of(local)


def test_stop_now_ends_every_process(pair, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=4000)
    remote = launch_on(pair, config, tmp_path / "runs", "--ranks", 2, "--detach")
    wait_for(lambda: len(steps(there(pair.a))) >= 3, "step 3")
    run(pair, "stop", "--now", remote)
    assert state_of(remote)["state"] == "stopped"
    wait_for(lambda: not processes_of(pair.a.home) + processes_of(pair.b.home), "the end of all processes", 15)


@pytest.mark.parametrize("victim", ["rank", "agent of node 1", "agent of node 0"])
def test_a_killed_process_ends_the_run_everywhere_with_its_reason(victim, pair, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=4000)
    remote = launch_on(pair, config, tmp_path / "runs", "--ranks", 2, "--detach")
    wait_for(lambda: len(steps(there(pair.a))) >= 3, "step 3")
    if victim == "rank":
        pid = json.loads((there(pair.a) / "run.json").read_text())["nodes"][1]["ranks"][0]["pid"]
    else:
        pid = agent_pid(pair.b, 1) if victim.endswith("1") else agent_pid(pair.a, 0)
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not processes_of(pair.a.home) + processes_of(pair.b.home), "the end of all processes", 30)
    assert run(pair, "watch", remote, check=False).returncode == 1
    state = state_of(remote)
    assert state["state"] == "failed"
    expected = {"rank": "rank 1 was killed by signal 9", "agent of node 1": "node 1", "agent of node 0": "supervisor"}[victim]
    assert expected in state["reason"], state["reason"]


def test_a_stopped_rank_ends_the_run_everywhere_and_every_log_names_it(pair, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=4000, context_parallel_size=2, ring_attn_func="batch_zigzag")
    remote = launch_on(pair, config, tmp_path / "runs", "--ranks", 2, "--detach")
    wait_for(lambda: len(steps(there(pair.a))) >= 3, "step 3")
    os.kill(json.loads((there(pair.a) / "run.json").read_text())["nodes"][1]["ranks"][0]["pid"], signal.SIGSTOP)
    wait_for(lambda: not processes_of(pair.a.home) + processes_of(pair.b.home), "the end of all processes", 30)
    assert run(pair, "watch", remote, check=False).returncode == 1
    state = state_of(remote)
    named = r"rank 1 was stopped by SIGSTOP and not continued for 10 s: it (waits|is at work) (in|after) layer \d+, hop \d+"
    assert state["state"] == "failed" and re.match(named, state["reason"]), state["reason"]
    assert re.search(r"\n  rank 0 waits (in|after) layer \d+, hop \d+, for ", state["reason"]), state["reason"]
    for rank in range(2):
        log = (remote / f"logs/rank-{rank:05d}.log").read_text()
        assert re.search(f"agent: the run failed: {named}", log), log


def test_the_exact_commands_are_shown_first(pair, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file)
    done = run(pair, "launch", config, "--runs-dir", tmp_path / "runs", "--node", "a", "--node", "b", "--ranks", 2, "--dry-run", "--json")
    plan = json.loads(done.stdout)
    assert [node["host"] for node in plan["nodes"]] == ["a", "b"]
    assert "--first-rank" in plan["nodes"][1]["agent"]["argv"] and "--nnodes 2" in plan["torchrun"]
    assert not list(pair.a.home.glob("data/ringmaster/runs/*"))


def test_a_node_that_is_not_there_is_status_3_and_nothing_is_left(pair, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file)
    done = run(pair, "launch", config, "--runs-dir", tmp_path / "runs", "--node", "a", "--node", "nowhere.invalid", check=False)
    assert done.returncode == 3 and "nowhere.invalid" in done.stderr
    assert not list(pair.a.home.glob("data/ringmaster/runs/*")) and not (tmp_path / "runs").exists()


def test_hostile_names_of_runs_and_folders_run_nothing(pair, llama, rows_file, tmp_path):
    folder = tmp_path / "it's $(touch r-canary) `touch r-canary`; touch r-canary &"
    folder.mkdir()
    config = make_config(folder, llama, rows_file, max_steps=1)
    remote = launch_on(pair, config, folder / "runs", "--ranks", 2, "--name", "x'; touch r-canary; $(touch r-canary) \"")
    assert state_of(remote)["state"] == "completed"
    for root in (tmp_path, pair.folder):
        assert not list(root.rglob("r-canary"))
    for folder in (pathlib.Path.home(), pathlib.Path.cwd(), pathlib.Path("/")):
        assert not (folder / "r-canary").exists()


def test_what_listens_is_on_the_stated_interface(pair, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file, max_steps=4000)
    remote = launch_on(pair, config, tmp_path / "runs", "--ranks", 2, "--detach")
    wait_for(lambda: len(steps(there(pair.a))) >= 3, "step 3")
    listening = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout.splitlines()
    ours = [line.split()[3] for line in listening if "ringmaster" in line]
    for line in listening:  # the agent rejects peers without the run's token
        if "ringmaster-agen" in line:
            with socket.create_connection(("127.0.0.1", int(line.split()[3].rsplit(":", 1)[1])), timeout=5) as stranger:
                stranger.sendall(b"hello 00000000000000000000000000000000 1 {}\nfailing\n")
                assert stranger.recv(1) == b""
    before = len(steps(there(pair.a)))
    wait_for(lambda: len(steps(there(pair.a))) > before + 3, "more steps")
    run(pair, "stop", "--now", remote)
    assert ours and all(address.startswith("127.0.0.1:") for address in ours), ours


def test_calibrate_measures_the_node_with_the_engine_brought_there(client, tmp_path):
    client.host("a", client.serve("a"))
    done = run(client, "calibrate", "--node", "a", "--device", "cpu", "--json", XDG_CACHE_HOME=str(tmp_path / "cache"))
    (figures,) = json.loads(done.stdout)
    assert figures["host"] == "a" and figures["device"] == "cpu" and figures["float32"]["product_flops"] > 1e8
    kept = pathlib.Path(figures["file"])
    assert kept.is_relative_to(tmp_path) and kept.exists() and kept.parent.name == "a", "for node a, and not for this machine"
    assert list(client.servers[0].home.glob("data/ringmaster/programs/*/bin/ringmaster-engine"))
    done = run(client, "calibrate", "--node", "nowhere.invalid", check=False)
    assert done.returncode == 3 and "nowhere.invalid" in done.stderr


def test_an_agent_that_names_no_meeting_place_is_ended(pair, llama, rows_file, tmp_path):
    programs = tmp_path / "build/bin"
    programs.mkdir(parents=True)
    (tmp_path / "build/share").symlink_to(BIN.parent / "share")
    shutil.copy(BIN / "ringmaster", programs)
    for name in ("ringmaster-engine", "libtorch"):
        (programs / name).symlink_to(BIN / name)
    agent = programs / "ringmaster-agent"
    agent.write_text(f"""#!/bin/sh
case "$*" in
*--listen*) exec {BIN}/ringmaster-agent "$@" >"$HOME/said" ;;
*) exec {BIN}/ringmaster-agent "$@" ;;
esac
""")
    agent.chmod(0o755)
    config = make_config(tmp_path, llama, rows_file, max_steps=1)
    done = subprocess.run([programs / "ringmaster", "launch", config, "--runs-dir", tmp_path / "runs", "--node", "a", "--node", "b", "--ranks", "2", "--no-preflight"],
                          capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, env=pair.env(OMP_NUM_THREADS="1"))
    assert done.returncode == 3 and "did not say where the others meet it" in done.stderr, done.stdout + done.stderr
    assert "meet " in (pair.a.home / "said").read_text(), "it was started"
    wait_for(lambda: not processes_of(pair.a.home), "the end of node 0's agent and ranks")
    state = state_of(there(pair.a))
    assert state["state"] == "stopped", f"it ended by itself, after a wait for the other nodes: {state['reason']}"


def test_a_folder_of_rollouts_is_refused_on_other_machines(pair, llama, tmp_path):
    config = make_config(tmp_path, llama, "", datasets=None, rl="grpo", trl={"rollout_folder": "incoming"}, max_steps=2)
    done = run(pair, "launch", config, "--runs-dir", tmp_path / "runs", "--node", "a", "--ranks", 1, "--json", check=False)
    found = json.loads(done.stdout.splitlines()[-1])["finding"]
    assert done.returncode == 1 and found["code"] == "ROLLOUT-FOLDER" and "not sent to other machines" in found["message"], done.stdout
