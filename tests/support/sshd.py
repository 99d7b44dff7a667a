"""Runs real sshd servers on loopback ports, each with its own host keys, home and configuration, and writes a client's ~/.ssh
for them."""

import os
import pathlib
import shutil
import socket
import subprocess
import time

import pytest

SSHD = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def free_port(address="127.0.0.1"):
    with socket.socket() as probe:
        probe.bind((address, 0))
        return probe.getsockname()[1]


def make_key(file, kind="ed25519", passphrase=""):
    file.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-f", file], check=True)
    return file


def fingerprint(key):
    return subprocess.run(["ssh-keygen", "-lf", f"{key}.pub"], capture_output=True, text=True, check=True).stdout.split()[1]


def nvidia_smi(driver, cuda, gpu="NVIDIA H100, 9.0"):
    """Returns a script that prints what nvidia-smi prints for one GPU with this driver. `gpu` is its name and, for a driver that
    knows the field, its compute capability."""
    knows = "true" if "," in gpu else "false"
    return f"""case "$*" in
*driver_version*) echo {driver} ;;
*query-gpu=*compute_cap*) if {knows}; then echo "0, 81559, 0, GPU-a, {gpu}"; else echo 'Field "compute_cap" is not a valid field to query.'; exit 2; fi ;;
*query-gpu*) echo "0, 81559, 0, GPU-a, {gpu}" ;;
*query-compute-apps*) ;;
*) echo "| NVIDIA-SMI {driver}      Driver Version: {driver}     CUDA Version: {cuda} |" ;;
esac"""


class Sshd:
    """Runs one server. `inside` is a command prefix (ip netns exec NAME)."""

    def __init__(self, folder, client_key, address="127.0.0.1", port=None, options=(), host_key_type="ed25519", inside=(), home=None, environment=""):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.home = pathlib.Path(home) if home else self.folder / "home"
        self.home.mkdir(parents=True, exist_ok=True)
        self.address, self.port = address, port or free_port()
        self.host_key = self.folder / f"host_{host_key_type}"
        if not self.host_key.exists():
            make_key(self.host_key, host_key_type)
        if client_key:
            (self.folder / "authorized_keys").write_text(pathlib.Path(f"{client_key}.pub").read_text())
        self.options, self.inside, self.environment, self.process = list(options), list(inside), environment, None
        self.start()

    def start(self):
        config = self.folder / "sshd_config"
        lines = [f"Port {self.port}", f"ListenAddress {self.address}", f"HostKey {self.host_key}", "PidFile none", "StrictModes no",
                 f"AuthorizedKeysFile {self.folder}/authorized_keys", "MaxStartups 100",
                 f"SetEnv HOME={self.home} XDG_DATA_HOME={self.home}/data XDG_CACHE_HOME={self.home}/cache OMP_NUM_THREADS=1 {self.environment}"]
        given = {line.split()[0] for line in self.options}
        defaults = ["UsePAM no", "PasswordAuthentication no", "KbdInteractiveAuthentication no", "PermitRootLogin prohibit-password", "LogLevel VERBOSE"]
        lines += [line for line in defaults if line.split()[0] not in given] + self.options
        config.write_text("\n".join(lines) + "\n")
        if os.getuid() == 0:
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
        self.log = open(self.folder / "sshd.log", "ab")
        self.process = subprocess.Popen([*self.inside, SSHD, "-D", "-e", "-f", str(config)], stderr=self.log, stdout=self.log)
        end = time.monotonic() + 10
        while f"Server listening on {self.address} port {self.port}" not in (self.folder / "sshd.log").read_text():
            assert self.process.poll() is None and time.monotonic() < end, (self.folder / "sshd.log").read_text()
            time.sleep(0.02)

    def stop(self):
        """Stops the server and its sessions. Processes that moved to another session keep running."""
        if self.process is None:
            return
        for child in subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True).stdout.split():
            try:
                os.kill(int(child), 9)
            except ProcessLookupError:
                pass
        self.process.kill()
        self.process.wait()
        self.process = None
        self.log.close()
        (self.folder / "sshd.log").unlink()

    def known_hosts_line(self, key=None):
        return f"[{self.address}]:{self.port} " + " ".join(pathlib.Path(f"{key or self.host_key}.pub").read_text().split()[:2]) + "\n"


class Client:
    """Holds a user's ~/.ssh (configuration, known hosts and a key), and the environment for the command line."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.key = make_key(self.folder / "id")
        self.known_hosts = self.folder / "known_hosts"
        self.config = self.folder / "config"
        self.servers = []
        self.set_config("")

    def set_config(self, text, identity=True):
        common = f"\nHost *\n  UserKnownHostsFile {self.known_hosts}\n  GlobalKnownHostsFile none\n  ConnectTimeout 3\n"
        self.config.write_text(text + common + (f"  IdentityFile {self.key}\n" if identity else ""))

    def env(self, **more):
        kept = {key: value for key, value in os.environ.items() if key not in ("SSH_AUTH_SOCK", "SSH_CONNECTION")}
        return {**kept, "RINGMASTER_SSH_CONFIG": str(self.config), "CUDA_VISIBLE_DEVICES": "",
                "XDG_DATA_HOME": str(self.folder / "data"), **more}

    def serve(self, name, trusted=True, **options):
        server = Sshd(self.folder / name, options.pop("client_key", self.key), **options)
        self.servers.append(server)
        if trusted:
            with open(self.known_hosts, "a") as file:
                file.write(server.known_hosts_line())
        return server

    def serve_with(self, name, program, script):
        """Serves a machine on which the command `program` is this shell script."""
        server = self.serve(name)
        stub = server.folder / "stubs" / program
        stub.parent.mkdir()
        stub.write_text(f"#!/bin/sh\n{script}\n")
        stub.chmod(0o755)
        key = pathlib.Path(f"{self.key}.pub").read_text()
        (server.folder / "authorized_keys").write_text(f'command="PATH={stub.parent}:$PATH; export PATH; eval \\"$SSH_ORIGINAL_COMMAND\\"" {key}')
        return server

    def host(self, name, server, *lines):
        self.set_config(self.config.read_text().split("\nHost *\n")[0] +
                        f"\nHost {name}\n  HostName {server.address}\n  Port {server.port}\n" + "".join(f"  {line}\n" for line in lines))

    def close(self):
        for server in self.servers:
            server.stop()


@pytest.fixture
def client(tmp_path):
    assert SSHD, "openssh-server is not installed: packaging/setup --tests"
    made = Client(tmp_path / "client")
    yield made
    made.close()
