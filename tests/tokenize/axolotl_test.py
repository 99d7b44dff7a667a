"""Tests that tokens and labels equal axolotl's: axolotl/expected.json holds the results of axolotl 0.19.0 for some
hundred cases, and axolotl/expected_sharegpt.json those of its last version with `type: sharegpt`."""

import functools
import json
import sys
from pathlib import Path

import pytest
from conftest import PROGRAM, Silent

HERE = Path(__file__).resolve().parent / "axolotl"
sys.path[:0] = [str(HERE), str(PROGRAM.resolve().parent)]

import cases_sharegpt  # noqa: E402
from cases import all_cases, digest_of, fingerprint, make_tokenizers, stop_the_clock  # noqa: E402
from ringmaster_rows.cache import Request  # noqa: E402
from ringmaster_rows.prepare import Encoders  # noqa: E402
from ringmaster_rows.report import Failure  # noqa: E402
from ringmaster_rows.rows import Place, Row  # noqa: E402

EXPECTED = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
for name in ("expected_sharegpt.json", "expected_sharegpt_chat.json"):
    OLD = json.loads((HERE / name).read_text(encoding="utf-8"))
    assert OLD["tokenizers"] == EXPECTED["tokenizers"]
    EXPECTED["cases"] |= OLD["cases"]
CASES = {case["name"]: case for case in [*all_cases(), *cases_sharegpt.all_cases(), *cases_sharegpt.chat_cases()]}
CONFIG = ("sequence_len", "token_labels")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    stop_the_clock()
    folder = tmp_path_factory.mktemp("tokenizers")
    made = {name: digest_of(tokenizer) for name, tokenizer in make_tokenizers(folder).items()}
    assert made == EXPECTED["tokenizers"], "these tokenizers are not those that axolotl saw: run axolotl/record.py again"
    (folder / "rows.jsonl").write_text("{}\n")
    return folder


@functools.cache
def loaded(folder, name, template):
    """Returns the tokenizer as Ringmaster loads it. Each tokenizer is loaded once for all cases that need it."""
    request = Request({"base_dir": str(folder), "datasets": [{"path": "rows.jsonl"}], "tokenizer": str(folder / name),
                       "tokenization": {"chat_template": template} if template else {}})
    return Encoders(request, Silent()).tokenizer()


def ours(case, folder):
    """Returns our tokens in the form of record.tokens_of."""
    config = dict(case["config"])
    own = {key: config.pop(key) for key in CONFIG if key in config}
    request = Request({"base_dir": str(folder), "datasets": [case["entry"]], "tokenizer": str(folder / case["tokenizer"]),
                       "tokenization": {key: value for key, value in config.items() if value is not False}, **own})
    encode, found = Encoders(request, Silent()), []
    encode._loaded = loaded(folder, case["tokenizer"], config.get("chat_template"))
    for number, row in enumerate(case["rows"], 1):
        row = Row(Place("rows.jsonl", "line", number), json.loads(json.dumps(row)))
        try:
            found.append([(item.input_ids.tolist(), item.labels.tolist()) for item in encode(request.sources[0], iter([row])) if item.counted])
        except Failure as failure:
            found.append(failure)
    return found


def test_every_case_is_recorded():
    assert set(EXPECTED["cases"]) == set(CASES)
    compared = [name for name, rows in EXPECTED["cases"].items() if any(row is not None for row in rows)]
    assert len(compared) >= 400


@pytest.mark.parametrize("share", [1, 4], ids=["all", "quick, every fourth"])
@pytest.mark.parametrize("group", sorted({name.rsplit("/", 1)[0] for name in CASES}))
def test_tokens_and_labels_are_axolotls(group, share, folder):
    wrong = []
    of_group = [(name, case) for name, case in CASES.items() if name.rsplit("/", 1)[0] == group]
    for name, case in of_group[::share]:
        for number, (expected, found) in enumerate(zip(EXPECTED["cases"][name], ours(case, folder), strict=True), 1):
            if expected is None:  # axolotl refuses the row
                continue
            made = str(found) if isinstance(found, Failure) else [fingerprint(*item) for item in found]
            if made != expected:
                wrong.append(f"{name}, row {number}: {made}, axolotl has {expected}")
    assert not wrong, "\n".join(wrong)
