import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from ringmaster_runs import make_model, make_rows
from slurm import Slurm
from sshd import client  # noqa: F401  (a fixture)


@pytest.fixture(scope="session")
def slurm(tmp_path_factory):
    cluster = Slurm(tmp_path_factory.mktemp("slurm"))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(scope="session")
def llama(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("llama") / "model", "llama")


@pytest.fixture(scope="session")
def rows_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    make_rows(file, 44)
    return file
