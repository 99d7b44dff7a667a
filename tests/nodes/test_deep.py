"""Tests that `ringmaster nodes --deep` tries the engine out on the machines and measures the links between them."""

import json
import os
import shutil
import signal
import subprocess

import pytest

from ringmaster_runs import BIN, wait_for
from test_network import NET, ip, network, pair  # noqa: F401  (fixtures)
from test_nodes_command import nodes
from test_remote_runs import processes_of

needs_root = pytest.mark.skipif(os.getuid() != 0 or shutil.which("ip") is None, reason="network namespaces need root and iproute2")


def deep(client, *names, **options):
    done = nodes(client, *(word for name in names for word in ("--node", name)), "--deep", "--json", timeout=180, **options)
    for server in client.servers:
        wait_for(lambda: not processes_of(server.home), "the end of all that ran there", 10)
    return done, json.loads(done.stdout)


@pytest.fixture
def three(client):
    for name in ("a", "b", "c"):
        client.host(name, client.serve(name))
    return client


def test_each_machine_is_tested_and_each_pair_measured(three):
    done, reports = deep(three, "a", "b", "c")
    assert done.returncode == 0 and [report["state"] for report in reports] == ["ready"] * 3, done.stdout + done.stderr
    rates = {}
    for report in reports:
        tried = report["deep"]
        assert tried["passed"] == ["attention and gradients", "two ranks"] and tried["libtorch"].startswith("2.11.0")
        assert (tried["towards"], tried["interface"], tried["address"]) == ("a", "lo", "127.0.0.1")
        for link in tried["links"]:
            assert link["bytes_per_s"] > 1e6 and 0 < link["latency_s"] < 1 and not link["problem"], link
            rates[report["host"], link["to"]] = link["bytes_per_s"]
    assert sorted(rates) == [(a, b) for a in "abc" for b in "abc" if a != b]
    assert all(rates[a, b] == rates[b, a] for a, b in rates)


@pytest.mark.slow
def test_people_read_it_with_units(three):
    done = nodes(three, "--node", "a", "--node", "b", "--deep", timeout=120)
    assert done.returncode == 0, done.stderr
    assert "self-test passed in " in done.stdout and "lo (127.0.0.1) leads to rank 0's node, a" in done.stdout
    assert "link with b  " in done.stdout and "B/s each way at once, " in done.stdout and "µs" in done.stdout
    assert "measuring links" in done.stderr


@pytest.mark.slow
def test_one_that_cannot_train_is_not_tried_and_the_others_are(three):
    done, reports = deep(three, "a", "nowhere.invalid", "b")
    assert done.returncode == 3 and [report["state"] for report in reports] == ["ready", "unreachable", "ready"]
    assert reports[1]["deep"] is None and [link["to"] for link in reports[0]["deep"]["links"]] == ["b"]


def test_an_engine_that_does_not_start_there_is_quoted(client, tmp_path):
    site = tmp_path / "env/lib/python3.11/site-packages/torch"
    (site / "lib").mkdir(parents=True)
    (site / "version.py").write_text("__version__ = '2.11.0'\n")
    (site / "lib/libtorch_cpu.so").write_bytes(b"no library")
    programs = tmp_path / "programs"  # has no LibTorch, so that the machine's is used
    programs.mkdir()
    for name in ("ringmaster", "ringmaster-engine", "ringmaster-agent"):
        shutil.copy(BIN / name, programs / name)
    client.host("broken", client.serve("broken", environment=f"VIRTUAL_ENV={tmp_path}/env"))
    done = subprocess.run([str(programs / "ringmaster"), "nodes", "--node", "broken", "--deep", "--json"], capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL, env=client.env(RINGMASTER_PYTHON_ENV=str(tmp_path / "none")))
    (report,) = json.loads(done.stdout)
    assert done.returncode == 3 and report["state"] == "unusable" and report["finding"]["code"] == "engine-fails", report
    assert "libtorch_cpu.so" in report["message"] and str(site / "lib") in report["next"]


def test_calling_it_off_ends_what_runs_there(three):
    asked = subprocess.Popen([str(BIN / "ringmaster"), "nodes", "--node", "a", "--node", "b", "--deep"], env=three.env(), stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, start_new_session=True)
    wait_for(lambda: any("--link" in command for command in commands()), "a link being measured", 60)
    asked.send_signal(signal.SIGINT)
    assert asked.wait(20) == 130
    wait_for(lambda: not any(processes_of(server.home) for server in three.servers), "the end of all that ran there", 10)


def commands():
    listed = subprocess.run(["ps", "-ewwo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if "ringmaster-engine" in line]


@needs_root
def test_the_interface_is_named_and_a_shaped_link_is_measured_as_it_is(pair, network):
    for space in network:
        subprocess.run(["ip", "netns", "exec", space, "tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", "20mbit", "burst", "64kb",
                        "latency", "50ms"], check=True)
    done, reports = deep(pair, "a", "b")
    assert done.returncode == 0, done.stdout + done.stderr
    for i, report in enumerate(reports):
        assert (report["deep"]["interface"], report["deep"]["address"]) == ("eth0", f"{NET}.{11 + i}")
    (link,) = reports[0]["deep"]["links"]
    assert 0.7 * 2.5e6 < link["bytes_per_s"] < 1.15 * 2.5e6, link


@needs_root
@pytest.mark.slow
def test_two_that_do_not_reach_each_other_are_told(pair, network):
    ip("route", "add", "blackhole", f"{NET}.12/32", inside=network[0])
    done, reports = deep(pair, "a", "b")
    assert done.returncode == 3 and reports[1]["state"] == "unusable" and reports[1]["finding"]["code"] == "link-fails", reports
    assert "do not reach those of a" in reports[1]["message"] and f"{NET}.12" in reports[1]["next"]


@needs_root
@pytest.mark.slow
def test_one_from_which_no_interface_leads_to_the_first_is_told(pair, network):
    ip("route", "add", "unreachable", f"{NET}.11/32", inside=network[1])
    done, reports = deep(pair, "a", "b")
    assert done.returncode == 3 and [report["state"] for report in reports] == ["ready", "unusable"]
    assert reports[1]["finding"]["code"] == "no-interface" and f"a ({NET}.11)" in reports[1]["message"], reports[1]
