"""Checks that no two headers define types of the same name: a reader who meets the name must know which type it is."""

import collections
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
TYPE = re.compile(r"^(?:struct|class|enum class) (?:alignas\(\d+\) )?(\w+)(?: final)?(?: ?: [^;{]*)? ?\{", re.M)


def test_each_type_has_a_name_of_its_own():
    headers = collections.defaultdict(set)
    for folder in ("engine", "launcher", "gui"):
        for file in (ROOT / folder).rglob("*.h"):
            for name in TYPE.findall(file.read_text(encoding="utf-8")):
                headers[name].add(file.relative_to(ROOT).as_posix())
    assert len(headers) > 500
    assert {name: sorted(files) for name, files in headers.items() if len(files) > 1} == {}
