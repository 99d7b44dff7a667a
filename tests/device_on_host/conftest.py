import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: left to the label exhaustive")
