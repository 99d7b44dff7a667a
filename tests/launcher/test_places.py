"""Counts the lines outside the backends that ask where a run lives: on this machine, on machines reached by SSH, or in Slurm.

`python3 tests/launcher/test_places.py` prints them by file. The number may only fall.
"""

import collections
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
BACKENDS = ("launcher/backends", "launcher/nodes", "launcher/slurm", "launcher/ssh", "launcher/run/local_node")
QUESTION = re.compile(r"\bis_remote\(|\bis_slurm\(|\bis_of_slurm\b|\bkSlurmJob\b|\bis_here\(|\.slurm\b")
LIMIT = 10


def questions():
    """Returns {file: number of such lines}, declarations included."""
    found = collections.Counter()
    for folder in ("engine", "launcher", "gui"):
        for file in sorted((ROOT / folder).rglob("*")):
            name = file.relative_to(ROOT).as_posix()
            if file.suffix not in (".cpp", ".h") or name.startswith(BACKENDS):
                continue
            lines = file.read_text(encoding="utf-8").splitlines()
            found[name] = sum(bool(QUESTION.search(re.sub(r"//.*", "", line))) for line in lines)
    return +found


def test_no_more_places_ask_where_a_run_lives():
    found = questions()
    assert 0 < found.total() <= LIMIT, found.most_common()


if __name__ == "__main__":
    for name, count in questions().most_common():
        print(f"{count:4} {name}")
    print(f"{questions().total():4} in all; at most {LIMIT}")
