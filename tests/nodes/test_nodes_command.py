"""Tests that `ringmaster nodes`, with real sshd servers, reports everything that keeps a machine from training, and
for each problem what to do."""

import json
import os
import pathlib
import socket
import subprocess
import time

import pytest

from asking_sshd import at_terminal, serve_asking
from ringmaster_runs import BIN
from sshd import fingerprint, free_port, make_key, nvidia_smi


def nodes(client, *arguments, env=None, timeout=60, programs=BIN):
    return subprocess.run([str(programs / "ringmaster"), "nodes", *map(str, arguments)], capture_output=True, text=True, timeout=timeout,
                          stdin=subprocess.DEVNULL, env=client.env(**(env or {})), start_new_session=True)


def traces(client):
    """Lists the files in the servers' homes. A check must leave none there."""
    return sorted(str(file) for server in client.servers for file in server.home.rglob("*"))


def report_of(client, name, *arguments, **options):
    before = traces(client)
    done = nodes(client, "--node", name, "--json", *arguments, **options)
    assert traces(client) == before
    (report,) = json.loads(done.stdout)
    assert {"host", "state", "devices", "message", "next"} <= set(report)
    assert report["message"] and (report["state"] == "ready" or report["next"]), report
    assert report["finding"]["code"], "every finding has a code, by which the app knows it in other languages"
    assert done.returncode == (0 if report["state"] in ("ready", "warning") else 3), done.stderr
    return report


def test_a_machine_with_all_it_needs_is_ready(client):
    client.host("gpu1", client.serve("gpu1"))
    report = report_of(client, "gpu1")
    assert report["state"] == "ready", report
    assert report["host"] == "gpu1" and report["devices"] == [] and report["next"] == ""
    assert report["facts"]["host_name"] == socket.gethostname()
    assert report["facts"]["libtorch"].endswith("torch/lib")


def test_several_machines_are_asked_at_once_and_told_in_order(client):
    for name in ("c", "a", "b"):
        client.host(name, client.serve(name))
    done = nodes(client, "--node", "c", "--node", "a", "--node", "nowhere.invalid", "--node", "b", "--json")
    assert done.returncode == 3
    assert [(report["host"], report["state"]) for report in json.loads(done.stdout)] == [
        ("c", "ready"), ("a", "ready"), ("nowhere.invalid", "unreachable"), ("b", "ready")]


def test_a_name_that_nobody_knows(client):
    report = report_of(client, "nowhere.invalid")
    assert report["state"] == "unreachable"
    assert "nowhere.invalid is not known here" in report["message"]
    assert "HostName" in report["next"]


def test_a_port_where_nobody_listens(client):
    report = report_of(client, f"127.0.0.1:{free_port()}")
    assert "refused" in report["message"] and "sshd" in report["next"]


def test_a_machine_that_does_not_answer(client):
    with socket.socket() as full:  # the queue is full, so the system drops new connections
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = []
        for _ in range(4):
            one = socket.socket()
            one.setblocking(False)
            one.connect_ex(full.getsockname())
            waiting.append(one)
        report = report_of(client, f"127.0.0.1:{full.getsockname()[1]}")
    assert "no answer" in report["message"] and "3 s" in report["message"] and "firewall" in report["next"]


def test_something_else_listens_there(client):
    with socket.socket() as web:
        web.bind(("127.0.0.1", 0))
        web.listen(4)
        child = os.fork()
        if child == 0:
            other, _ = web.accept()
            other.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 400)
            other.close()
            os._exit(0)
        report = report_of(client, f"127.0.0.1:{web.getsockname()[1]}")
        os.waitpid(child, 0)
    assert "not as SSH" in report["message"]


def test_an_unknown_host_key_is_refused_with_its_fingerprint(client):
    server = client.serve("new", trusted=False)
    client.host("new", server)
    report = report_of(client, "new")
    assert report["state"] == "unreachable"
    assert fingerprint(server.host_key) in report["message"] and "--trust-on-first-use" in report["next"]
    assert not client.known_hosts.exists()
    assert "Accepted" not in (server.folder / "sshd.log").read_text()


def test_trust_on_first_use_adds_the_key_once(client):
    server = client.serve("new", trusted=False)
    client.host("new", server)
    assert report_of(client, "new", "--trust-on-first-use")["state"] == "ready"
    known = client.known_hosts.read_text()
    assert report_of(client, "new")["state"] == "ready"
    assert client.known_hosts.read_text() == known


@pytest.mark.parametrize("trust", [[], ["--trust-on-first-use"]])
def test_a_changed_host_key_blocks_before_any_credential_is_sent(client, trust):
    server = client.serve("moved", trusted=False)
    client.host("moved", server)
    client.known_hosts.write_text(server.known_hosts_line(make_key(client.folder / "another")))
    before = client.known_hosts.read_text()
    report = report_of(client, "moved", *trust)
    assert "CHANGED" in report["message"] and fingerprint(server.host_key) in report["message"] and "ssh-keygen" in report["next"]
    assert client.known_hosts.read_text() == before
    log = (server.folder / "sshd.log").read_text()
    assert "publickey" not in log and "Accepted" not in log


def test_a_host_key_of_another_type_blocks(client):
    server = client.serve("moved", trusted=False, host_key_type="ed25519")
    client.host("moved", server)
    client.known_hosts.write_text(server.known_hosts_line(make_key(client.folder / "another", "rsa")))
    report = report_of(client, "moved", "--trust-on-first-use")
    assert report["state"] == "unreachable" and "another type" in report["message"]


def test_a_login_that_is_not_accepted_names_what_was_tried(client):
    server = client.serve("strict", client_key=make_key(client.folder / "right"))
    client.host("strict", server)
    report = report_of(client, "strict")
    assert "not accepted" in report["message"] and "publickey" in report["message"] and str(client.key) in report["message"]


def test_an_encrypted_key_says_so(client):
    locked = make_key(client.folder / "locked", passphrase="sesame")
    server = client.serve("strict", client_key=locked)
    client.host("strict", server, f"IdentityFile {locked}", "IdentitiesOnly yes")
    report = report_of(client, "strict")
    assert "encrypted" in report["message"] and "ssh-add" in report["message"]


@pytest.fixture
def ssh_agent(client):
    sock = client.folder / "agent.sock"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", str(sock)], stdout=subprocess.DEVNULL)
    while not sock.exists():
        time.sleep(0.01)

    def add(key):
        subprocess.run(["ssh-add", "-q", str(key)], env={**os.environ, "SSH_AUTH_SOCK": str(sock)}, check=True, stderr=subprocess.DEVNULL)

    add.sock = str(sock)
    yield add
    process.kill()
    process.wait()


def test_of_an_agent_with_eight_keys_the_named_one_is_offered_first(client, ssh_agent):
    keys = [make_key(client.folder / f"key{i}") for i in range(8)]
    for key in keys:
        ssh_agent(key)
    keys[7].unlink()  # only the public half of this key is left
    server = client.serve("three", client_key=keys[7], options=["MaxAuthTries 3"])
    client.host("three", server, f"IdentityFile {keys[7]}")
    assert report_of(client, "three", env={"SSH_AUTH_SOCK": ssh_agent.sock})["state"] == "ready"


def test_an_agent_with_too_many_keys_is_explained(client, ssh_agent):
    for i in range(8):
        ssh_agent(make_key(client.folder / f"key{i}"))
    server = client.serve("three", client_key=make_key(client.folder / "right"), options=["MaxAuthTries 3"])
    client.host("three", server)
    report = report_of(client, "three", env={"SSH_AUTH_SOCK": ssh_agent.sock})
    assert "MaxAuthTries" in report["message"] and "IdentitiesOnly" in report["next"]


def test_a_jump_host_is_passed_through(client):
    gate, inner = client.serve("gate"), client.serve("inner")
    client.host("gate", gate)
    client.host("inner", inner, "ProxyJump gate")
    assert report_of(client, "inner")["state"] == "ready"
    assert "Accepted" in (gate.folder / "sshd.log").read_text()


def test_a_jump_host_that_does_not_forward_is_named(client):
    gate, inner = client.serve("gate", options=["AllowTcpForwarding no"]), client.serve("inner")
    client.host("gate", gate)
    client.host("inner", inner, "ProxyJump gate")
    report = report_of(client, "inner")
    assert "jump host gate" in report["message"] and "AllowTcpForwarding" in report["next"]


def test_the_jump_hosts_own_key_is_checked(client):
    gate, inner = client.serve("gate", trusted=False), client.serve("inner")
    client.host("gate", gate)
    client.host("inner", inner, "ProxyJump gate")
    report = report_of(client, "inner")
    assert report["message"].startswith("gate: ") and fingerprint(gate.host_key) in report["message"]


def test_a_jump_host_through_itself_is_refused(client):
    gate = client.serve("gate")
    client.host("gate", gate, "ProxyJump gate")
    assert "jump" in report_of(client, "gate")["message"]


def test_a_noisy_login_shell_does_no_harm_and_is_said(client):
    server = client.serve("noisy")
    # A forced command that prints stands in for a noisy startup file, because only bash reads one over ssh.
    script = server.folder / "noise.sh"
    script.write_text("#!/bin/sh\necho 'Welcome to the CLUSTER!'\nprintf 'end ok\\nsystem VMS\\n'\nexec sh -c \"$SSH_ORIGINAL_COMMAND\"\n")
    script.chmod(0o755)
    key = pathlib.Path(f"{client.key}.pub").read_text()
    (server.folder / "authorized_keys").write_text(f'command="{script}" {key}')
    client.host("noisy", server)
    report = report_of(client, "noisy")
    assert report["state"] == "warning" and "Welcome to the CLUSTER!" in report["message"]
    assert report["facts"]["host_name"] == socket.gethostname()


def test_an_account_without_a_shell_is_said(client):
    server = client.serve("closed")
    key = pathlib.Path(f"{client.key}.pub").read_text()
    (server.folder / "authorized_keys").write_text(f'command="echo This account is closed." {key}')
    client.host("closed", server)
    report = report_of(client, "closed")
    assert report["state"] == "unreachable" and "This account is closed." in report["message"]


def test_an_agent_or_a_key_without_its_private_half_is_named(client):
    half = make_key(client.folder / "half")
    half.unlink()
    client.host("strict", client.serve("strict", client_key=half), f"IdentityFile {half}", "IdentitiesOnly yes")
    assert "only its public half is here" in report_of(client, "strict")["message"]


needs_root = pytest.mark.skipif(os.getuid() != 0, reason="namespaces and mounting need root")
PASSWORD = [("hidden", "Password: ", "sesame")]
TWO_ROUNDS = [("info", "This machine belongs to the lab.", ""), *PASSWORD, ("shown", "Verification code: ", "123456")]
BY_PASSWORD = ["PasswordAuthentication yes", "PubkeyAuthentication no"]
BY_KEYBOARD = ["KbdInteractiveAuthentication yes", "PubkeyAuthentication no"]


@needs_root
def test_a_password_is_asked_for_at_the_terminal_and_not_shown(client, pam_module):
    serve_asking(client, pam_module, "asking", PASSWORD, *BY_PASSWORD)
    status, shown = at_terminal(client, "nodes", "--node", "asking", answers=[("password of", "sesame")])
    assert status == 0 and "ready" in shown and "sesame" not in shown, shown


@needs_root
def test_a_wrong_password_is_asked_for_three_times_and_said(client, pam_module):
    server = serve_asking(client, pam_module, "asking", PASSWORD, *BY_PASSWORD)
    before = traces(client)
    status, shown = at_terminal(client, "nodes", "--node", "asking", answers=[("password of", "wrong")] * 3)
    assert status == 3 and shown.count("password of root on asking: ") == 3, shown
    assert "the password for the login as root was not accepted" in shown and "password (3 times not accepted)" in shown, shown
    assert "ssh-copy-id asking puts a key there" in shown.replace("`", "") and traces(client) == before
    assert "Accepted" not in (server.folder / "sshd.log").read_text()


@needs_root
def test_wrong_passwords_that_end_the_connection_are_told_from_wrong_keys(client, pam_module):
    serve_asking(client, pam_module, "asking", PASSWORD, *BY_PASSWORD, "MaxAuthTries 2")
    status, shown = at_terminal(client, "nodes", "--node", "asking", answers=[("password of", "wrong")] * 3)
    assert status == 3 and "too many wrong answers (its MaxAuthTries)" in shown, shown


@needs_root
@pytest.mark.parametrize("how", [BY_PASSWORD, BY_KEYBOARD])
def test_a_script_without_a_terminal_is_told_that_a_person_is_needed(how, client, pam_module):
    serve_asking(client, pam_module, "asking", PASSWORD, *how)
    report = report_of(client, "asking")
    assert report["finding"]["code"] == "nobody-answers" and "nobody is there" in report["message"], report
    assert "in a terminal" in report["next"] and "ssh-copy-id asking" in report["next"]


@needs_root
def test_two_rounds_of_questions_are_answered_at_the_terminal_in_the_servers_words(client, pam_module):
    serve_asking(client, pam_module, "asking", TWO_ROUNDS, *BY_KEYBOARD)
    answers = [("asking asks: ", "sesame"), ("asking asks: ", "123456")]
    status, shown = at_terminal(client, "nodes", "--node", "asking", answers=answers)
    assert status == 0 and "ready" in shown, shown
    assert "This machine belongs to the lab." in shown and "Verification code: 123456" in shown and "sesame" not in shown, shown


@needs_root
def test_a_wrong_answer_of_the_second_round_is_said(client, pam_module):
    serve_asking(client, pam_module, "asking", TWO_ROUNDS, *BY_KEYBOARD)
    answers = [("asking asks: ", "sesame"), ("asking asks: ", "000000")] * 3
    status, shown = at_terminal(client, "nodes", "--node", "asking", answers=answers)
    assert status == 3 and "keyboard-interactive (3 times not accepted)" in shown and "a code may have run out" in shown, shown


@needs_root
def test_a_key_and_then_a_code_log_in(client, pam_module):
    serve_asking(client, pam_module, "asking", TWO_ROUNDS[2:], "KbdInteractiveAuthentication yes", "AuthenticationMethods publickey,keyboard-interactive")
    status, shown = at_terminal(client, "nodes", "--node", "asking", answers=[("asking asks: ", "123456")])
    assert status == 0 and "ready" in shown, shown
    assert report_of(client, "asking")["finding"]["code"] == "nobody-answers"


def test_a_driver_that_is_too_old_for_cuda_13_is_said_with_the_one_to_install(client):
    client.host("old", client.serve_with("old", "nvidia-smi", nvidia_smi("550.54.14", "12.4")))
    report = report_of(client, "old")
    assert report["state"] == "warning" and report["finding"] == {"code": "old-driver", "with": ["550.54.14", "580", "13.0"], "parts": []}
    assert "550.54.14 is too old for CUDA 13.0" in report["message"] and "driver 580 or newer" in report["next"], report
    assert [device["name"] for device in report["devices"]] == ["NVIDIA H100"]


@pytest.mark.parametrize("driver, cuda", [("580.65.06", "13.0"), ("590.44", "13.1"), ("550.54.14", "13.0")],
                         ids=["CUDA 13's first", "a newer one", "an older one with NVIDIA's compatibility package"])
def test_a_driver_that_runs_cuda_13_is_ready(client, driver, cuda):
    client.host("new", client.serve_with("new", "nvidia-smi", nvidia_smi(driver, cuda)))
    report = report_of(client, "new")
    assert report["state"] == "ready" and report["facts"]["driver"] == driver, report


def test_a_gpu_that_is_too_old_for_the_kernels_is_said(client):
    client.host("old", client.serve_with("old", "nvidia-smi", nvidia_smi("580.65.06", "13.0", "Tesla T4, 7.5")))
    report = report_of(client, "old")
    assert report["state"] == "warning" and report["finding"] == {"code": "old-gpu", "with": ["0", "Tesla T4", "7.5", "8.0"], "parts": []}
    assert "compute capability 7.5" in report["message"] and "--device cpu" in report["next"], report
    assert [device["capability"] for device in report["devices"]] == ["7.5"]


def test_a_driver_that_does_not_know_compute_capabilities_still_lists_its_gpus(client):
    client.host("new", client.serve_with("new", "nvidia-smi", nvidia_smi("580.65.06", "13.0", "NVIDIA H100")))
    report = report_of(client, "new")
    assert report["state"] == "ready" and [device["name"] for device in report["devices"]] == ["NVIDIA H100"], report


def test_an_old_glibc_is_said_with_both_versions(client):
    client.host("old", client.serve_with("old", "getconf", "echo glibc 2.17"))
    report = report_of(client, "old")
    assert report["state"] == "unusable" and "glibc 2.17" in report["message"] and "older" in report["message"]


def test_a_machine_without_libtorch_says_how_to_get_it(client, tmp_path):
    # The programs are copied without an environment, so that they know no folder of LibTorch that they could look for
    # on the machine.
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("ringmaster", "ringmaster-engine"):
        os.link(BIN / name, programs / name) if os.stat(BIN).st_dev == os.stat(tmp_path).st_dev else subprocess.run(["cp", BIN / name, programs / name])
    client.host("bare", client.serve("bare"))
    done = subprocess.run([str(programs / "ringmaster"), "nodes", "--node", "bare", "--json"], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL, env=client.env(RINGMASTER_PYTHON_ENV=str(tmp_path / "none")))
    (report,) = json.loads(done.stdout)
    assert done.returncode == 3 and report["state"] == "unusable"
    assert "LibTorch 2.11.0" in report["message"] and "--libtorch pip" in report["next"] and "--libtorch copy" in report["next"]
    assert not list(client.servers[0].home.rglob("*"))


@pytest.fixture
def mounted():
    made = []

    def mount(folder, options):
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)
        made.append(folder)
        return folder

    yield mount
    for folder in made:
        subprocess.run(["umount", "-l", str(folder)], check=False)


@needs_root
def test_a_noexec_disk_is_said(client, mounted):
    server = client.serve("noexec")
    mounted(server.home / "data", "noexec,size=2g")
    client.host("noexec", server)
    report = report_of(client, "noexec")
    assert report["state"] == "unusable" and "noexec" in report["message"] and "XDG_DATA_HOME" in report["next"]


@needs_root
def test_a_full_disk_is_said(client, mounted):
    server = client.serve("full")
    full = mounted(server.home / "data", "size=64k")
    with open(full / "ballast", "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass
    client.host("full", server)
    report = report_of(client, "full")
    assert report["state"] == "unusable" and "full" in report["message"] and "room" in report["next"]
    assert not [file for _, _, files in os.walk(full) for file in files if file != "ballast"]


@needs_root
def test_a_noexec_tmp_does_no_harm(client, tmp_path):
    """Tests that a /tmp mounted with noexec does no harm, because Ringmaster neither runs nor keeps files in /tmp."""
    home = tmp_path / "elsewhere"
    (home / "data").mkdir(parents=True)
    keep = f'mount --bind "{home}" "{home}" && mount -o remount,bind,exec "{home}"'
    script = f'mount --bind /tmp /tmp && mount -o remount,bind,noexec /tmp && cd / && {keep} && exec "$@"'
    server = client.serve("noexec", home=home, inside=["unshare", "-m", "sh", "-c", script, "sh"])
    client.host("noexec", server)
    before = set(os.listdir("/tmp"))
    report = report_of(client, "noexec")
    assert report["state"] == "ready", report
    assert not [name for name in set(os.listdir("/tmp")) - before if "ringmaster" in name]


def test_directives_without_effect_are_listed(client):
    server = client.serve("gpu1")
    client.host("gpu1", server, f"HostKeyAlias [127.0.0.1]:{server.port}", "ForwardAgent yes", "VisualHostKey yes")
    ignored = report_of(client, "gpu1")["ignored_directives"]
    assert "visualhostkey yes" in ignored and "forwardagent yes" in ignored
    assert not any(line.startswith("hostkeyalias") for line in ignored), "keys are looked up under it"
    assert not any(line.startswith(("hostname", "port", "user ")) for line in ignored)


def test_include_and_match_are_read_as_ssh_reads_them(client):
    server = client.serve("gpu1")
    extra = client.folder / "extra"
    extra.write_text(f"Match host gpu9\n  HostName {server.address}\n  Port {server.port}\n")
    client.set_config(f"Include {extra}\n")
    assert report_of(client, "gpu9")["state"] == "ready"


HOSTILE = ["-oProxyCommand=touch {canary}", "$(touch {canary})", "`touch {canary}`", "a;touch {canary}", "a|touch {canary}", "a b", "a\ntouch {canary}",
           "a'\"", "user;touch@a", "$(touch {canary})@a", "-l@a", "a:99999", "a:0", "a:x", "", "@a", "a@", "[::1", "../../etc", "a\x1b[2J"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_refused_and_nothing_is_run(client, name, tmp_path):
    canary = tmp_path / "canary"
    done = nodes(client, "--node=" + name.format(canary=canary))
    assert done.returncode == 2, done.stdout + done.stderr
    assert not canary.exists()
    assert "\x1b" not in done.stdout + done.stderr


def test_a_hostile_host_name_of_the_configuration_is_refused(client, tmp_path):
    canary = tmp_path / "canary"
    client.set_config(f"Host evil\n  HostName $(touch${{IFS}}{canary})\n")
    done = nodes(client, "--node", "evil")
    assert done.returncode != 0 and not canary.exists()


def test_no_node_and_a_node_twice_are_usage_errors(client):
    assert nodes(client).returncode == 2
    assert nodes(client, "--node", "a", "--node", "a").returncode == 2
