import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from asking_sshd import pam_module  # noqa: F401  (fixtures)
from sshd import client  # noqa: F401


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: left to the label exhaustive")
