import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from slurm import Slurm
from sshd import client  # noqa: F401  (a fixture)
from tiny import llama, rows_file  # noqa: F401  (fixtures)


@pytest.fixture(scope="session")
def slurm(tmp_path_factory):
    cluster = Slurm(tmp_path_factory.mktemp("slurm"))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
