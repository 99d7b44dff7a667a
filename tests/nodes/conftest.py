import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from sshd import client  # noqa: F401  (a fixture)
