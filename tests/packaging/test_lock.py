"""Tests that the lock files of Python packages are complete and have a hash for every wheel, and that the installed
packages are those that the lock files name."""

import importlib.metadata
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOCKS = ["launcher/nodes/libtorch", "launcher/tokenize/requirements", "engine/requirements", "tests/requirements"]
APART = ["tests/launcher/trackers"]  # installed in a separate environment
# packaging/setup installs the packages of engine/requirements only if there is no toolkit.
HAS_TOOLKIT = subprocess.run([ROOT / "packaging/nvcc", "/nonexistent"], capture_output=True).returncode == 0
INSTALLED = [name for name in LOCKS if name != "engine/requirements" or not HAS_TOOLKIT]
PYTHONS = ["3.10", "3.11", "3.12", "3.13"]
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
ENTRY = re.compile(r"([a-z0-9.-]+)==([\w.!+]+)( ; python_version [^\\]+)? \\\n((?:    --hash=sha256:[0-9a-f]{64} \\\n)*    --hash=sha256:[0-9a-f]{64}\n)")


def locked(name, python):
    """Returns {package: version} for one Python."""
    found = {}
    for package, version, marker, _ in ENTRY.findall((ROOT / f"{name}.txt").read_text()):
        if not marker or Marker(marker.strip(" ;")).evaluate({"python_version": python}):
            assert package not in found, f"{package} twice for Python {python}"
            found[package] = version
    return found


def asked(name):
    """Yields the requirements of a .in file and of the files that it includes."""
    for line in (ROOT / f"{name}.in").read_text().splitlines():
        if line.startswith("-r "):
            yield from asked(((ROOT / name).parent / line[3:].removesuffix(".in")).resolve().relative_to(ROOT))
        elif line and not line.startswith("#"):
            yield Requirement(line)


@pytest.mark.parametrize("name", LOCKS + APART)
def test_every_line_of_a_lock_is_one_version_with_its_hashes(name):
    head, _, rest = (ROOT / f"{name}.txt").read_text().partition("\n")
    assert head.startswith("# packaging/lock makes this file")
    assert ENTRY.sub("", rest) == ""
    assert len(ENTRY.findall(rest)) >= len(list(asked(name)))


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("name", LOCKS + APART)
def test_a_lock_covers_what_is_asked_for_and_contradicts_no_other(name, python):
    versions = locked(name, python)
    for requirement in asked(name):
        assert versions[canonicalize_name(requirement.name)] in requirement.specifier, requirement
    for other in [] if name in APART else LOCKS:
        for package, version in locked(other, python).items():
            assert versions.get(package, version) == version, f"{package} in {name} and {other}"


@pytest.mark.parametrize("file", ["packaging/setup", "launcher/nodes/libtorch.cpp"])
def test_scripts_install_nothing_without_hashes(file):
    """tests/launcher/test_setup_command.py tests what `ringmaster setup` asks of pip."""
    commands = re.findall(r"-m pip install(?:[^\n]*\\\n)*[^\n]*", (ROOT / file).read_text())
    assert commands
    for command in commands:
        assert "--require-hashes" in command and "--only-binary :all:" in command, command


def needs(package, extras):
    """Yields the requirements of an installed package with these extras."""
    for text in importlib.metadata.requires(package) or []:
        requirement = Requirement(text)
        if not requirement.marker or any(requirement.marker.evaluate({"extra": extra}) for extra in ["", *extras]):
            yield requirement


@pytest.mark.parametrize("name", INSTALLED)
def test_a_lock_names_what_its_packages_bring_along_and_nothing_else(name):
    versions, seen, left = locked(name, HERE), set(), list(asked(name))
    while left:
        requirement = left.pop()
        package = canonicalize_name(requirement.name)
        assert versions.get(package) in requirement.specifier, f"{requirement} of {name}"
        if (package, frozenset(requirement.extras)) not in seen:
            seen.add((package, frozenset(requirement.extras)))
            left += needs(package, requirement.extras)
    assert set(versions) == {package for package, _ in seen}


def wanted_here():
    return {package: version for name in INSTALLED for package, version in locked(name, HERE).items()}


def installed_in(python):
    listed = subprocess.run([python, "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"], capture_output=True, text=True, check=True).stdout
    return {canonicalize_name(line.split("==")[0]): line.split("==")[1] for line in listed.split()}


def test_the_environment_holds_every_version_that_the_locks_name():
    """The environment may have more packages, because other checkouts share it."""
    installed = installed_in(sys.executable)
    assert {package: installed.get(package) for package in wanted_here()} == wanted_here()


@pytest.mark.slow
def test_setup_from_an_empty_cache_installs_what_the_locks_name_and_nothing_else(tmp_path):
    """This downloads 2.8 GB."""
    env = tmp_path / "env"
    environment = {**os.environ, "RINGMASTER_PYTHON_ENV": str(env), "XDG_CACHE_HOME": str(tmp_path / "cache"), "PIP_CACHE_DIR": str(tmp_path / "cache/pip")}
    subprocess.run([ROOT / "packaging/setup", "--tests"], env=environment, check=True)
    assert installed_in(env / "bin/python") == wanted_here()
    shutil.rmtree(tmp_path, ignore_errors=True)
