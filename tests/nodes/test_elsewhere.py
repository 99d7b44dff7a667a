"""Tests runs that another machine launched, restarts over several nodes, and `ringmaster fetch`, with real sshd
servers that have their own homes."""

import hashlib
import json
import os
import signal
import subprocess

from ringmaster_runs import BIN, launch, losses_of, make_config, state_of
from test_remote_runs import launch_on, pair, run, steps, there, wait_for  # noqa: F401
from sshd import Client
from tiny import llama, rows_file  # noqa: F401  (fixtures)

ALONE = {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}


def second_machine(pair, folder, **hosts):
    """Returns another user's ~/.ssh, with the same key and other names for the hosts."""
    other = Client(folder)
    other.key = pair.key
    other.known_hosts.write_text(pair.known_hosts.read_text())
    other.set_config("")
    for name, server in hosts.items():
        other.host(name, server)
    return other


def follow(who, *words, out=subprocess.PIPE):
    return subprocess.Popen([BIN / "ringmaster", *map(str, words)], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, text=True,
                            env=who.env(OMP_NUM_THREADS="1"), start_new_session=True)


def rank_pid(server, rank):
    nodes = json.loads((there(server) / "run.json").read_text())["nodes"]
    return next(one["pid"] for node in nodes for one in node["ranks"] if one["rank"] == rank)


def hashes(folder):
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir() if file.name != "ringmaster-run.json"}


def straight(folder, llama, rows_file, ranks, **keys):
    folder.mkdir()
    config = make_config(folder, llama, rows_file, **keys)
    return losses_of(launch(config, folder / "runs", "--ranks", ranks, env=ALONE))


def test_another_machine_finds_a_run_by_its_name_watches_stops_resumes_and_fetches_it(pair, llama, rows_file, tmp_path):
    keys = dict(max_steps=400, context_parallel_size=2, save_strategy=None, save_steps=1000)
    config = make_config(tmp_path, llama, rows_file, **keys)
    mine = launch_on(pair, config, tmp_path / "runs", "--ranks", 2, "--detach", "--name", "shared")
    wait_for(lambda: len(steps(there(pair.a))) >= 3, "step 3")
    other = second_machine(pair, tmp_path / "other", first=pair.a, second=pair.b)
    for node, rank in (("first", 0), ("second", 1)):
        (listed,) = json.loads(run(other, "runs", "--node", node, "--json").stdout)
        assert (listed["name"], listed["state"], listed["total_steps"]) == ("shared", "running", 400) and listed["step"] >= 1, (rank, listed)
    run(other, "stop", "shared", "--node", "first", "--node", "second")
    theirs = other.folder / "data/ringmaster/runs/shared"
    assert state_of(theirs)["state"] == "stopped"
    nobody = run(other, "watch", "shard", "--node", "first", check=False)
    assert nobody.returncode == 2 and "did you mean shared?" in nobody.stderr
    (saved,) = (there(pair.a) / "checkpoints").iterdir()
    done = json.loads(run(other, "fetch", "shared", "--checkpoint", str(int(saved.name[5:])), "--to", tmp_path / "kept", "--json").stdout)
    assert hashes(tmp_path / "kept" / saved.name) == hashes(saved) and done["bytes"] == done["received_bytes"] > 0
    early = run(other, "fetch", "shared", check=False)
    assert early.returncode == 1 and "has no final model" in early.stderr

    third = second_machine(pair, tmp_path / "third", a=pair.a, b=pair.b)
    resumed = follow(other, "resume", "shared")
    wait_for(lambda: state_of(theirs)["state"] == "running", "the resumed run")
    seen = follow(third, "watch", "shared", "--node", "a", "--node", "b")
    alone = second_machine(pair, tmp_path / "alone", b=pair.b)  # this client knows only node 1, as host b
    heard = follow(alone, "watch", "shared", "--node", "b")
    said = resumed.communicate(timeout=120)[0]
    assert resumed.returncode == 0 and "first:" in said and "ringmaster fetch" in said, said
    said = seen.communicate(timeout=120)[0]
    assert seen.returncode == 0 and "found on a" in said, said
    said = heard.communicate(timeout=120)[0]
    assert heard.returncode == 0 and "found on b" in said, said
    assert "node 0 of 2, which its launcher calls a, is not contacted" in said and "`ringmaster watch shared --node a --node b`" in said, said
    theirs_alone = alone.folder / "data/ringmaster/runs/shared"
    assert state_of(theirs_alone)["state"] == "completed" and len(losses_of(theirs_alone, 1)) == 400
    assert not (theirs_alone / "events/rank-00000.jsonl").exists()
    refused = run(alone, "fetch", "shared", check=False)
    assert refused.returncode == 2 and "needs node 0 of the run" in refused.stderr and "--node a --node b" in refused.stderr
    assert json.loads(run(other, "fetch", "shared", "--json").stdout)["received_bytes"] > 0
    assert hashes(theirs / "output") == hashes(there(pair.a) / "output")
    assert json.loads(run(other, "fetch", "shared", "--json").stdout)["received_bytes"] == 0
    # A file that was cut off is continued where it ends. A file with a wrong beginning is sent again.
    model = (theirs / "output/model.safetensors").read_bytes()
    for begun, received in ((model[:1000], len(model) - 1000), (bytes(1000), 2 * len(model) - 1000)):
        (theirs / "output/model.safetensors").unlink()
        (theirs / "output/model.safetensors.part").write_bytes(begun)
        assert json.loads(run(other, "fetch", "shared", "--json").stdout)["received_bytes"] == received
        assert hashes(theirs / "output") == hashes(there(pair.a) / "output")
    # The machine that launched the run catches up with what the other machines did, and gets the model.
    run(pair, "watch", "shared", "--runs-dir", tmp_path / "runs", "--node", "a")
    assert state_of(mine)["state"] == "completed" and (tmp_path / "out/model.safetensors").exists()
    for folder in (mine, theirs, third.folder / "data/ringmaster/runs/shared"):
        for rank in range(2):
            assert len(losses_of(folder, rank)) == 400
            file = f"events/rank-{rank:05d}.jsonl"
            assert (folder / file).read_bytes() == (there([pair.a, pair.b][rank]) / file).read_bytes()


def test_a_run_over_two_nodes_starts_again_by_itself(pair, llama, rows_file, tmp_path):
    keys = dict(max_steps=120, context_parallel_size=2, save_strategy=None, save_steps=20)
    config = make_config(tmp_path, llama, rows_file, **keys)
    person = follow(pair, "launch", config, "--runs-dir", tmp_path / "runs", "--node", "a", "--node", "b", "--ranks", 2, "--name", "again",
                    "--restarts", 1)
    wait_for(lambda: len(steps_of(pair.a)) >= 25, "step 25")
    os.kill(rank_pid(pair.a, 1), signal.SIGKILL)
    said = person.communicate(timeout=120)[0]
    assert person.returncode == 0 and "restart 1 of 1" in said and "goes on after step" in said, said
    remote = tmp_path / "runs/again"
    assert (state_of(remote)["state"], state_of(remote)["attempt"]) == ("completed", 2)
    expected = straight(tmp_path / "straight", llama, rows_file, 2, **keys)
    assert losses_of(remote, 0) == losses_of(remote, 1) == expected


def steps_of(server):
    try:
        return steps(there(server))
    except ValueError:
        return []


def test_restarts_and_shrink_refuse_what_they_cannot_mean(pair, llama, rows_file, tmp_path):
    config = make_config(tmp_path, llama, rows_file)
    for words, said in ((["--node", "a", "--node", "b", "--restarts", "1", "--detach"], "leave --detach away"), (["--shrink"], "--shrink"),
                        (["--restarts", "1", "--slurm", "time=5"], "not for jobs of Slurm")):
        done = run(pair, "launch", config, "--runs-dir", tmp_path / "runs", *words, check=False)
        assert done.returncode == 2 and said in done.stderr, done.stderr
    assert not (tmp_path / "runs").exists()
