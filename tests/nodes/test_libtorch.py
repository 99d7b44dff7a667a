"""Tests how a machine that lacks LibTorch gets it: from an environment or a module on that machine, through that machine's pip, or as a
copy from this machine."""

import base64
import hashlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import zipfile

import pytest

from ringmaster_runs import BIN, losses_of, make_config, wait_for
from test_nodes_command import nodes, traces
from test_remote_runs import processes_of, run
from tiny import llama, rows_file  # noqa: F401  (fixtures)

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="LibTorch's folder is hidden in a mount namespace, which needs root")

LIBTORCH = (BIN / "libtorch").resolve()
SITE = LIBTORCH.parent.parent
HERE = "libtorch/2.11.0/torch/lib"  # path in the machine's data folder


@pytest.fixture
def bare(client):
    """Serves a machine that cannot see this machine's LibTorch. Its home is removed at the end, because copies of LibTorch are large."""
    homes = []

    def serve(name="bare", environment=""):
        server = client.serve(name, environment=environment, inside=["unshare", "-m", "sh", "-c", f'mount -t tmpfs tmpfs "{SITE}" && exec "$@"', "sh"])
        client.host(name, server)
        homes.append(server.home)
        return server

    yield serve
    for home in homes:
        shutil.rmtree(home, ignore_errors=True)


def fake_torch(site, version="2.11.0"):
    (site / "torch/lib").mkdir(parents=True)
    (site / "torch/__init__.py").write_text("")
    (site / "torch/version.py").write_text(f"__version__ = '{version}+cpu'\n")
    (site / "torch/lib/libtorch_cpu.so").write_bytes(b"library")


def fake_wheel(folder):
    """Builds a wheel that pip accepts as PyTorch, with a dummy library."""
    site = folder / "site"
    fake_torch(site)
    info = "torch-2.11.0.dist-info"
    (site / info).mkdir()
    (site / info / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.11.0\n")
    (site / info / "WHEEL").write_text("Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    record = ""
    files = [file for file in sorted(site.rglob("*")) if file.is_file()]
    for file in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest()).rstrip(b"=").decode()
        record += f"{file.relative_to(site)},sha256={digest},{file.stat().st_size}\n"
    (site / info / "RECORD").write_text(record + f"{info}/RECORD,,\n")
    wheel = folder / "wheels/torch-2.11.0-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in [*files, site / info / "RECORD"]:
            archive.write(file, file.relative_to(site))
    return wheel.parent


def programs_with_lock(folder, wheels, digest=""):
    """Returns a folder of programs whose lock file names the wheel and its hash, or `digest` if that is given."""
    (wheel,) = wheels.iterdir()
    (folder / "bin").mkdir(parents=True)
    for program in BIN.iterdir():
        (folder / "bin" / program.name).symlink_to(program.resolve())
    (folder / "bin/ringmaster").unlink()
    shutil.copy(BIN / "ringmaster", folder / "bin/ringmaster")
    shutil.copytree(BIN.parent / "share", folder / "share", symlinks=True)
    digest = digest or hashlib.sha256(wheel.read_bytes()).hexdigest()
    (folder / "share/ringmaster/libtorch.txt").write_text(f"torch==2.11.0 \\\n    --hash=sha256:{digest}\n")
    return folder / "bin"


def report_of(done):
    (report,) = json.loads(done.stdout)
    return report


def test_another_version_is_named_and_not_taken(client, bare, tmp_path):
    server = bare(environment=f"VIRTUAL_ENV={tmp_path}/env")
    fake_torch(tmp_path / "env/lib/python3.11/site-packages", "2.9.1")
    done = nodes(client, "--node", "bare", "--json")
    report = report_of(done)
    assert done.returncode == 3 and report["finding"]["code"] == "other-libtorch" and "there is 2.9.1, " in report["message"], report
    assert not list(server.home.rglob("*"))


def test_a_matching_pytorch_in_a_virtual_environment_is_found(client, bare, tmp_path):
    bare(environment=f"VIRTUAL_ENV={tmp_path}/env")
    fake_torch(tmp_path / "env/lib/python3.11/site-packages")
    assert report_of(nodes(client, "--node", "bare", "--json"))["facts"]["libtorch"] == f"{tmp_path}/env/lib/python3.11/site-packages/torch/lib"


def test_a_matching_pytorch_in_an_environment_of_conda_is_found(client, bare):
    server = bare()
    site = server.home / "miniconda3/envs/train/lib/python3.11/site-packages"
    fake_torch(site)
    assert report_of(nodes(client, "--node", "bare", "--json"))["facts"]["libtorch"] == str(site / "torch/lib")


def test_a_matching_pytorch_of_a_module_is_found(client, bare, tmp_path):
    fake_torch(tmp_path / "module site")
    (tmp_path / "modules/init").mkdir(parents=True)
    (tmp_path / "modules/init/sh").write_text(f"""module() {{
    case "$*" in
    "-t avail") printf 'gcc/13\\npytorch/2.11.0(default)\\n' >&2 ;;
    "load pytorch/2.11.0") PYTHONPATH='{tmp_path}/module site'; export PYTHONPATH ;;
    esac
}}
""")
    bare(environment=f"MODULESHOME={tmp_path}/modules")
    report = report_of(nodes(client, "--node", "bare", "--json"))
    assert report["state"] == "ready" and report["facts"]["libtorch"] == f"{tmp_path}/module site/torch/lib", report


def test_its_pip_installs_it_into_a_folder_of_ours(client, bare, tmp_path):
    wheels = fake_wheel(tmp_path)
    server = bare(environment=f"PIP_NO_INDEX=1 PIP_FIND_LINKS={wheels}")
    programs = programs_with_lock(tmp_path / "programs", wheels)
    done = nodes(client, "--node", "bare", "--json")
    assert done.returncode == 3 and report_of(done)["finding"]["code"] == "no-libtorch", done.stdout
    done = nodes(client, "--node", "bare", "--libtorch", "pip", "--json", programs=programs)
    report = report_of(done)
    ours = server.home / "data/ringmaster"
    assert done.returncode == 0 and report["state"] == "ready" and report["facts"]["libtorch"] == str(ours / HERE), done.stdout + done.stderr
    assert os.listdir(ours) == ["libtorch"] and os.listdir(ours / "libtorch") == ["2.11.0"]
    assert "installing LibTorch on bare" in done.stderr
    assert nodes(client, "--node", "bare", "--libtorch", "pip", programs=programs).returncode == 0, "once"


def test_a_wheel_with_another_hash_than_the_lock_has_is_not_installed(client, bare, tmp_path):
    wheels = fake_wheel(tmp_path)
    server = bare(environment=f"PIP_NO_INDEX=1 PIP_FIND_LINKS={wheels}")
    programs = programs_with_lock(tmp_path / "programs", wheels, "0" * 64)
    report = report_of(nodes(client, "--node", "bare", "--libtorch", "pip", "--json", programs=programs))
    assert report["finding"]["code"] == "pip-failed" and "0" * 64 in report["message"], report
    assert not [file for file in server.home.rglob("*") if file.is_file()]


def test_a_pip_that_fails_is_quoted_and_leaves_nothing(client, bare, tmp_path):
    (tmp_path / "none").mkdir()
    server = bare(environment=f"PIP_NO_INDEX=1 PIP_FIND_LINKS={tmp_path}/none")
    done = nodes(client, "--node", "bare", "--libtorch", "pip", "--json")
    report = report_of(done)
    assert done.returncode == 3 and report["finding"]["code"] == "pip-failed" and "No matching distribution" in report["message"], report
    assert "--libtorch copy" in report["next"]
    assert not [file for file in server.home.rglob("*") if file.is_file()]


def test_an_installation_that_is_called_off_ends_there_and_leaves_nothing(client, bare):
    with socket.socket() as silent:  # pip waits for an answer that never comes
        silent.bind(("127.0.0.1", 0))
        silent.listen(8)
        server = bare(environment=f"PIP_INDEX_URL=http://127.0.0.1:{silent.getsockname()[1]}/simple")
        asked = subprocess.Popen([str(BIN / "ringmaster"), "nodes", "--node", "bare", "--libtorch", "pip"], env=client.env(),
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        wait_for(lambda: processes_of(server.home), "pip at work", 30)
        asked.send_signal(signal.SIGINT)
        assert asked.wait(20) == 130, asked.stdout.read()
        wait_for(lambda: not processes_of(server.home), "the end of pip", 20)
        wait_for(lambda: not any(files for _, _, files in os.walk(server.home)), "its files to be gone", 10)


def test_no_python_there_leaves_copying(client, bare):
    folder = client.folder / "bare/bin"
    folder.mkdir(parents=True)
    for name in ("sh", "uname", "cat", "getconf", "nproc", "sed", "date", "cut", "sha256sum", "mkdir", "chmod", "df", "tail", "tr", "rm", "dirname",
                 "timeout", "rmdir", "dd"):
        (folder / name).symlink_to(shutil.which(name))
    bare(environment=f"PATH={folder}")
    report = report_of(nodes(client, "--node", "bare", "--json"))
    assert report["finding"]["code"] == "no-libtorch-no-pip" and "pip" not in report["next"].replace("--libtorch copy", ""), report


def written_at(folder):
    """Returns the inode and the last change of every file: both differ after a second copy."""
    return {str(file): (file.stat().st_ino, file.stat().st_ctime_ns) for file in folder.rglob("*") if file.is_file()}


@pytest.mark.slow
def test_what_the_engine_needs_is_copied_from_here_and_is_enough(client, bare):
    server = bare()
    done = nodes(client, "--node", "bare", "--libtorch", "copy", "--deep", "--json", timeout=300)
    report = report_of(done)
    ours = server.home / "data/ringmaster"
    assert done.returncode == 0 and report["facts"]["libtorch"] == str(ours / HERE), done.stdout + done.stderr
    assert report["deep"]["passed"] == ["attention and gradients", "two ranks"]
    names = {file.name for file in (ours / "libtorch").rglob("*") if file.is_file()}
    assert "libtorch_cpu.so" in names and "libtorch_cuda.so" not in names and "libtorch_python.so" not in names, names
    before, written = traces(client), written_at(ours / "libtorch")
    assert nodes(client, "--node", "bare", "--libtorch", "copy").returncode == 0
    assert traces(client) == before and written_at(ours / "libtorch") == written, "it was copied a second time"


@pytest.mark.slow
def test_a_copy_that_was_cut_goes_on_where_it_ended(client, bare):
    server = bare()
    asked = subprocess.Popen([str(BIN / "ringmaster"), "nodes", "--node", "bare", "--libtorch", "copy"], env=client.env(), stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, start_new_session=True)

    def parts():
        return list((server.home / "data/ringmaster/objects").glob("*.part-*"))

    wait_for(lambda: sum(file.stat().st_size for file in parts()) > 100 << 20, "100 MiB there", 60)
    asked.send_signal(signal.SIGINT)
    assert asked.wait(20) == 130
    wait_for(lambda: not processes_of(server.home), "the end of what took it", 20)
    (part,) = parts()
    kept = part.stat()
    assert kept.st_size > 100 << 20
    assert nodes(client, "--node", "bare", "--libtorch", "copy", timeout=300).returncode == 0
    (whole,) = [file for file in (server.home / "data/ringmaster/objects").iterdir() if file.stat().st_ino == kept.st_ino]
    assert whole.stat().st_size > kept.st_size, "the same file, gone on"
    assert not parts()


@pytest.mark.slow
def test_launch_brings_it_and_trains(client, bare, llama, rows_file, tmp_path):
    bare()
    config = make_config(tmp_path, llama, rows_file, max_steps=2)
    words = ["launch", config, "--runs-dir", tmp_path / "runs", "--node", "bare", "--ranks", 1, "--no-preflight"]
    assert run(client, *words, check=False).returncode == 3
    assert not (tmp_path / "runs").exists()
    done = run(client, *words, "--libtorch", "copy", "--json", timeout=400)
    assert len(losses_of(pathlib.Path(json.loads(done.stdout.splitlines()[0])["dir"]))) == 2


def test_the_switch_is_about_nodes(client, tmp_path):
    (tmp_path / "c.yaml").write_text("{}")
    for arguments in (["nodes", "--node", "a", "--libtorch", "conda"], ["launch", tmp_path / "c.yaml", "--libtorch", "pip"]):
        done = subprocess.run([str(BIN / "ringmaster"), *map(str, arguments)], capture_output=True, text=True, env=client.env(), stdin=subprocess.DEVNULL)
        assert done.returncode == 2 and "--libtorch" in done.stderr, done.stderr
