"""Tests runs on other machines that are launched from an installed Ringmaster, laid out as in the Debian package. The machines get the
engine itself, not the script that finds LibTorch on this machine."""

import json
import pathlib
import subprocess

import pytest

from ringmaster_runs import BIN, losses_of, make_config
from tiny import llama, rows_file  # noqa: F401  (fixtures)


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    subprocess.run(["cmake", "--install", BIN.parent, "--prefix", folder], check=True, stdout=subprocess.DEVNULL)
    return folder


def test_an_installed_ringmaster_trains_on_another_machine(client, prefix, llama, rows_file, tmp_path):
    server = client.serve("a")
    client.host("a", server)
    config = make_config(tmp_path, llama, rows_file, max_steps=2)
    environment = client.env(OMP_NUM_THREADS="1", RINGMASTER_PYTHON_ENV=str((BIN.parent / "share/ringmaster/python-env").resolve()))
    done = subprocess.run([prefix / "bin/ringmaster", "launch", config, "--runs-dir", tmp_path / "runs", "--node", "a", "--ranks", "1", "--device", "cpu",
                           "--no-preflight", "--json"], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, env=environment)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    assert len(losses_of(pathlib.Path(json.loads(done.stdout.splitlines()[0])["dir"]))) == 2
    (sent,) = server.home.glob("data/ringmaster/programs/*/bin")
    installed = prefix / "libexec/ringmaster"
    assert (sent / "ringmaster-engine").read_bytes() == (installed / "ringmaster-engine").read_bytes()
    assert (sent / "ringmaster_cuda.so").exists() == (installed / "ringmaster_cuda.so").exists()
