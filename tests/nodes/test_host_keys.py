"""Compares the host keys that the client accepts with those that OpenSSH's client accepts, over generated
configurations."""

import base64
import collections
import hashlib
import hmac
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from ringmaster_runs import BIN
from sshd import Sshd, free_port, make_key

PROBE = pathlib.Path(BIN).parent / "tests" / "host_key_decisions"
TYPES = ["ed25519", "ecdsa", "rsa"]
ADDRESS = "10.9.8.7"
SEED = 20261122
# If only our client refuses, its message has to contain one of these.
NAMED = ["@cert-authority", "StrictHostKeyChecking no", "NoHostAuthenticationForLocalhost", "KnownHostsCommand", "RevokedHostKeys", "HostKeyAlgorithms",
         "may revoke the authority", "revokes a key that cannot be read", "is REVOKED by"]
DECISIONS = {"login-without-key", "login-refused", "unknown-host-key", "unknown-host-key-strict", "unknown-host-key-no-file", "changed-host-key", "other-host-key", "revoked-host-key",
             "changed-address-key", "small-host-key", "known-hosts-command", "revoked-keys-unreadable", "revoked-keys-binary", "revoked-authority", "host-key-algorithms",
             "unchecked-host-key", "not-ssh"}
REFUSALS = re.compile(r"Host key verification failed|no matching host key type|revoked|Bad server host key|KnownHostsCommand failed|keys file")


class World:
    """Runs servers with the same host keys: with a certificate, without one, and with a certificate for a key type other than the
    first. As root, the servers have their own network, with port 22 and an address that is not local; otherwise they are at
    127.0.0.1."""

    def __init__(self, folder):
        self.folder = folder
        self.space = f"rmhk{os.getpid()}" if os.getuid() == 0 and shutil.which("ip") else ""
        self.inside = ["nsenter", f"--net=/run/netns/{self.space}"] if self.space else []
        if self.space:
            subprocess.run(["ip", "netns", "add", self.space], check=True)
            for words in (["addr", "add", f"{ADDRESS}/32", "dev", "lo"], ["link", "set", "lo", "up"]):
                subprocess.run([*self.inside, "ip", *words], check=True)
        self.keys = {kind: make_key(folder / "keys" / f"host_{kind}", kind) for kind in TYPES}
        self.others = {kind: [make_key(folder / "keys" / f"other{i}_{kind}", kind) for i in range(2)] for kind in TYPES}
        self.authorities = [make_key(folder / "keys" / f"ca{i}") for i in range(2)]
        self.client = make_key(folder / "keys" / "client")
        self.names = ["127.0.0.1", "localhost"] + ([ADDRESS, "10.9.2055"] if self.space else [])  # the last two are the same address
        for kind in ("ed25519", "rsa"):
            subprocess.run(["ssh-keygen", "-q", "-s", self.authorities[0], "-I", kind, "-h", "-n", ",".join(self.names), f"{self.keys[kind]}.pub"], check=True)
        self.krls = []
        for name, revoked in (("krl_host", self.keys["ed25519"]), ("krl_other", self.others["rsa"][0])):
            subprocess.run(["ssh-keygen", "-q", "-k", "-f", folder / name, f"{revoked}.pub"], check=True)
            self.krls.append(folder / name)
        offers = [(TYPES, ["ed25519"]), (["ed25519", "rsa"], []), (TYPES, ["rsa"])]
        ports = [22, 2222, 2223] if self.space else [free_port() for _ in offers]
        self.servers = [self.serve(i, port, *offer) for i, (port, offer) in enumerate(zip(ports, offers))]

    def serve(self, number, port, kinds, certified):
        folder = self.folder / f"server{number}"
        folder.mkdir()
        shutil.copy(self.keys["ed25519"], folder / "host_ed25519")
        options = [f"HostKey {self.keys[kind]}" for kind in kinds if kind != "ed25519"] + [f"HostCertificate {self.keys[kind]}-cert.pub" for kind in certified]
        server = Sshd(folder, self.client, address="0.0.0.0" if self.space else "127.0.0.1", port=port, options=options, inside=self.inside)
        server.kinds = kinds
        return server

    def close(self):
        for server in self.servers:
            server.stop()
        if self.space:
            subprocess.run(["ip", "netns", "del", self.space], check=True)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    made = World(tmp_path_factory.mktemp("host_keys"))
    yield made
    made.close()


def hashed(name, rng):
    salt = rng.randbytes(20)
    digest = hmac.new(salt, name.encode(), hashlib.sha1).digest()
    return f"|1|{base64.b64encode(salt).decode()}|{base64.b64encode(digest).decode()}"


def public(key):
    return " ".join(pathlib.Path(f"{key}.pub").read_text().split()[:2])


class Case:
    """Holds one configuration, written once for each client, because a client may add lines to its files."""

    def __init__(self, world, rng, folder):
        self.world, self.rng, self.folder = world, rng, folder
        self.server = rng.choice(world.servers)
        self.host = rng.choice(world.names)
        if rng.random() < 0.1 and self.host == "localhost":
            self.host = "LocalHost"
        self.port = self.server.port
        self.alias = "node-of-mine" if rng.random() < 0.12 else ""
        lower = self.host.lower()
        self.name = self.alias or (lower if self.port == 22 else f"[{lower}]:{self.port}")
        self.jump = rng.choice(world.servers) if rng.random() < 0.1 else None
        self.is_plain = rng.random() < 0.3  # a usual setup: good keys and few settings
        self.files = {}
        self.write()

    def names(self):
        lower, rng = self.host.lower(), self.rng
        return rng.choice([
            self.name, self.name, self.name, self.name, hashed(self.name, rng), hashed(self.name, rng), lower, hashed(lower, rng), f"other,{self.name}", f"{self.name},10.1.1.1",
            "*", f"!{self.name},*", f"*,!{self.name}", f"*,!{lower}", self.name.upper(), self.name[:-1] + "?", self.name[:3] + "*", "other.example.org", hashed("other", rng),
            f"[{lower}]:*", f"[{lower}]:{self.port + 1}", f"{ADDRESS}" if self.port == 22 else f"[{ADDRESS}]:{self.port}", "|1|bad|hash", "?" * len(self.name), "a" * 1500 + ",*"])

    def key(self, good=0.65):
        rng, kind = self.rng, self.rng.choice(TYPES)
        return public(self.world.keys[kind] if rng.random() < good else rng.choice(self.world.others[kind] + self.world.authorities))

    def line(self):
        rng, world = self.rng, self.world
        draw = rng.random()
        if draw < 0.04:
            return rng.choice(["", "# a comment", "   ", "gpu1", f"{self.name} ssh-ed25519", "@revoked", f"{self.name} 1024 35 1234567890"])
        if draw < 0.14:
            return f"@revoked {self.names()} {self.key(0.3)}"
        if draw < 0.24:
            return f"@cert-authority {self.names()} {public(rng.choice(world.authorities))}"
        if draw < 0.27:
            return f"{rng.choice(['@foo', '@revoked @revoked', '@REVOKED', '@'])} {self.names()} {self.key()}"
        line = f"{self.names()} {self.key()}"
        if draw < 0.42:
            kind, blob = line.split()[-2:]
            line = rng.choice([
                f"  {line}", line.replace(" ", "\t"), line.replace(" ", "  \t "), f"{line} a comment", f"{line}\r", f"{line} comment\r", line[:-4], f"{line}!", line[:-1] + "=",
                line.replace(kind, "ssh-dss"), line.replace(kind, "rsa-sha2-512"), line.replace(kind, "ed25519"), line.replace(blob, blob[:40]), line + "AAAA", line.replace(blob, blob + "\0x")])
        return line

    def lines(self):
        rng = self.rng
        found = [self.line() for _ in range(rng.choice([0, 1, 1, 2, 3, 5]))]
        if self.is_plain or rng.random() < 0.35:
            kinds = self.server.kinds if rng.random() < 0.6 else [rng.choice(self.server.kinds)]
            found = found[:0 if self.is_plain else 2] + [f"{hashed(self.name, rng) if rng.random() < 0.3 else self.name} {public(self.world.keys[kind])}" for kind in kinds]
            rng.shuffle(found)
        return found

    def known_hosts(self, kind):
        rng = self.rng
        if rng.random() < 0.05:
            return ["none"]
        if rng.random() < 0.03:
            return ["/dev/null"]
        chosen = []
        for i in range(rng.choice([1, 1, 1, 2, 3])):
            path = f"@/{kind}{i}"
            if rng.random() > 0.1:
                text = "\n".join(self.lines())
                self.files[path[2:]] = text + ("\n" if rng.random() < 0.7 and text else "")
            chosen.append(path)
        return chosen

    def revoked_file(self):
        rng, world = self.rng, self.world
        if rng.random() < 0.15:
            return str(rng.choice(world.krls))
        self.files["revoked"] = rng.choice([
            "", "# none\n\n", f"{public(world.others['rsa'][0])}\n", f"{public(world.keys['ed25519'])}\n", f"{self.key(0.3)} comment\n{self.key(0.1)}", f"{public(world.authorities[0])}\n",
            "not a key\n", f"{public(world.others['rsa'][1])}\n{self.name} {self.key()}\n", f"{public(world.keys['rsa'])}-cert\n", f"{self.key(0)}\r\n"])
        return "@/revoked" if rng.random() > 0.06 else "@/missing"

    def settings(self):
        rng, lines = self.rng, []
        lines.append("UserKnownHostsFile " + " ".join(self.known_hosts("user")))
        lines.append("GlobalKnownHostsFile " + (" ".join(self.known_hosts("global")) if rng.random() < 0.3 else "none"))
        if self.alias:
            lines.append(f"HostKeyAlias {self.alias}")
        few = 0.3 if self.is_plain else 1.0
        if rng.random() < 0.6 * few:
            lines.append("StrictHostKeyChecking " + rng.choice(["yes", "ask", "accept-new", "accept-new", "no"]))
        if rng.random() < 0.3 * few:
            lines.append("CheckHostIP yes")
        if rng.random() < 0.2:
            lines.append("HashKnownHosts yes")
        if rng.random() < 0.15 * few:
            lines.append("RevokedHostKeys " + self.revoked_file())
        if rng.random() < 0.2 * few:
            lines.append("HostKeyAlgorithms " + rng.choice([
                "ssh-ed25519", "rsa-sha2-512,ssh-ed25519", "ssh-ed25519,rsa-sha2-256", "-ssh-ed25519*", "+ssh-rsa", "^rsa-sha2-256", "ecdsa-sha2-nistp256", "rsa-sha2-512-cert-v01@openssh.com",
                "ssh-ed25519-cert-v01@openssh.com,rsa-sha2-512", "rsa-sha2-512-cert-v01@openssh.com,ssh-ed25519", "*ed25519*"]))
        if rng.random() < 0.04 * few:
            lines.append("NoHostAuthenticationForLocalhost yes")
        if rng.random() < 0.04 * few:
            self.files["command"] = "\n".join(self.lines()) + "\n"
            lines.append("KnownHostsCommand /bin/cat @/command")
        if rng.random() < 0.04 * few:
            lines.append("RequiredRSASize 4096")
        if self.jump:
            lines.append("ProxyJump gate")
        return lines

    def write(self):
        common = ["BatchMode yes", "AddressFamily inet", "KexAlgorithms curve25519-sha256", "IdentityAgent none", "ConnectTimeout 30", "UpdateHostKeys no"]
        target = ["Host target", f"HostName {self.host}", f"Port {self.port}", "IdentityFile /nonexistent", *self.settings()]
        gate = []
        if self.jump:
            known = self.key(0.8) if self.rng.random() < 0.4 else public(self.world.keys["ed25519"])
            self.files["gate"] = f"[127.0.0.1]:{self.jump.port},127.0.0.1 {known}\n"
            gate = ["Host gate", "HostName 127.0.0.1", f"Port {self.jump.port}", "UserKnownHostsFile @/gate", "GlobalKnownHostsFile none", f"IdentityFile {self.world.client}", "IdentitiesOnly yes"]
        text = "\n  ".join(target) + "\n" + "\n  ".join(gate) + "\nHost *\n  " + "\n  ".join(common) + "\n"
        for side in ("ours", "theirs"):
            folder = self.folder / side
            folder.mkdir(parents=True)
            for name, content in self.files.items():
                (folder / name).write_bytes(content.encode())
            (folder / "config").write_text(text.replace("@/", f"{folder}/"))

    def openssh(self):
        """Returns (whether OpenSSH accepted the key, its messages). A refused login means that the key was accepted."""
        for _ in range(4):  # a connection that sshd closes before the handshake decides nothing
            said = subprocess.run([*self.world.inside, "ssh", "-F", self.folder / "theirs" / "config", "-o", "BatchMode=yes", "-o", "PreferredAuthentications=none", "target", "true"],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=120).stderr
            accepted = "Permission denied (" in said
            if accepted or REFUSALS.search(said):
                return accepted, said
        raise AssertionError(f"{self.folder}: {said}")

    def added(self, side, name):
        return (self.folder / side / name).read_bytes()[len(self.files[name].encode()):]

    def is_hashed_as_by_ssh(self):
        """Tests HashKnownHosts: in files to which both clients added a line, either both hash the host name or neither does.
        Returns, for each such file, whether the name is hashed."""
        added = [(self.added("ours", name), self.added("theirs", name)) for name in self.files]
        both = [(ours, theirs) for ours, theirs in added if ours and theirs]
        for ours, theirs in both:
            assert ours.lstrip(b"\n").startswith(b"|1|") == theirs.lstrip(b"\n").startswith(b"|1|"), f"{self.folder}: {ours}, and of ssh {theirs}"
        return [ours.lstrip(b"\n").startswith(b"|1|") for ours, _ in both]

    def nothing_is_lost(self):
        for name, content in self.files.items():
            now = (self.folder / "ours" / name).read_bytes()
            added = self.added("ours", name)
            assert now.startswith(content.encode()), f"{self.folder}: {name}"
            assert not added or content.endswith("\n") or not content or added.startswith(b"\n"), f"{self.folder}: {name}"


def compare(world, folder, count, seed):
    rng = random.Random(seed)
    cases = [Case(world, random.Random(rng.getrandbits(64)), folder / f"case{i}") for i in range(count)]
    home = folder / "home"
    home.mkdir()
    environment = {**{key: value for key, value in os.environ.items() if key != "SSH_AUTH_SOCK"}, "HOME": str(home)}
    lines = "".join(f"{case.folder / 'ours' / 'config'} target\n" for case in cases)
    with ThreadPoolExecutor(3) as pool:
        ours = pool.submit(subprocess.run, [*world.inside, PROBE], input=lines, capture_output=True, text=True, env=environment, check=True)
        theirs = list(pool.map(Case.openssh, cases))
    ours = [json.loads(line) for line in ours.result().stdout.splitlines()]
    assert len(ours) == len(cases)
    assert max(our["descriptors"] for our in ours) <= ours[0]["descriptors"] + 4, "connections stay open"
    counts, alone, wrong, hashed_lines = collections.Counter(), collections.Counter(), [], []
    for case, our, (accepted, said) in zip(cases, ours, theirs):
        case.nothing_is_lost()
        hashed_lines += case.is_hashed_as_by_ssh()
        assert our["code"] in DECISIONS, f"{case.folder}: {our}"
        counts[our["accepted"], accepted] += 1
        if our["accepted"] and not accepted:
            wrong.append(f"{case.folder}: accepted by us alone; ssh: {said}")
        elif accepted and not our["accepted"]:
            named = next((name for name in NAMED if name in our["message"]), None)
            alone[f"{our['code']}: {named}"] += 1
            if named is None:
                wrong.append(f"{case.folder}: refused by us alone, no setting named: {our['message']}")
    print(f"\n{count} configurations (seed {seed}): accepted by both {counts[True, True]}, refused by both {counts[False, False]}, "
          f"accepted by us alone {counts[True, False]}, refused by us alone {counts[False, True]}")
    print(f"  both added a line {len(hashed_lines)} times, {sum(hashed_lines)} of them hashed")
    assert any(hashed_lines) and not all(hashed_lines)
    for reason, times in alone.most_common():
        print(f"  {times} {reason}")
    assert not wrong, "\n".join(wrong[:5]) + f"\n{len(wrong)} in all"
    assert 3 * (counts[True, True] + counts[False, True]) >= count, "too few that OpenSSH accepts"


def test_no_key_is_accepted_that_openssh_refuses(world, tmp_path):
    compare(world, tmp_path, 200, SEED)


@pytest.mark.slow
def test_no_key_is_accepted_that_openssh_refuses_in_thousands(world, tmp_path):
    compare(world, tmp_path, 2400, SEED + 1)
