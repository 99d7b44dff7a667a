"""Tests `tokenizer_use_mistral_common`: tokens and labels equal those of axolotl 0.19.0 for tekken.json files of each version,
recorded in axolotl/expected_mistral.json, and the rows that axolotl refuses are refused."""

import json
import sys
from pathlib import Path

import pytest
from conftest import PROGRAM, Silent

HERE = Path(__file__).resolve().parent / "axolotl"
sys.path[:0] = [str(HERE), str(PROGRAM.resolve().parent)]

from cases import fingerprint  # noqa: E402
from cases_mistral import all_cases, digest_of, make_tekkens  # noqa: E402
from ringmaster_rows.cache import Request, tokenizer_identity  # noqa: E402
from ringmaster_rows.prepare import Encoders  # noqa: E402
from ringmaster_rows.report import Failure  # noqa: E402
from ringmaster_rows.rows import Place, Row  # noqa: E402
from ringmaster_rows.sources import ContentHashes  # noqa: E402

EXPECTED = json.loads((HERE / "expected_mistral.json").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in all_cases()}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tekken")
    (folder / "rows.jsonl").write_text("{}\n")
    made = make_tekkens(folder)
    assert {version: digest_of(place) for version, place in made.items()} == EXPECTED["tekken"], "run axolotl/record_mistral.py again"
    return made


@pytest.fixture(scope="module")
def loaded(folders):
    """Returns the tokenizer of each version, loaded once as Ringmaster loads it."""
    return {version: encoders({"tokenizer_use_mistral_common": True}, place).tokenizer() for version, place in folders.items()}


def encoders(options, folder, **more):
    request = Request({"base_dir": str(folder.parent), "datasets": [{"path": "rows.jsonl"}], "tokenizer": str(folder),
                       "tokenization": {key: value for key, value in options.items() if value is not False}, **more})
    return Encoders(request, Silent())


def ours(case, folders, loaded):
    options = dict(case["config"])
    length, folder = options.pop("sequence_len"), folders[case["tokenizer"]]
    encode = encoders(options, folder, sequence_len=length)
    encode._loaded = loaded[case["tokenizer"]]
    source = Request({"base_dir": str(folder.parent), "datasets": [case["entry"]]}).sources[0]
    for number, row in enumerate(case["rows"], 1):
        row = Row(Place("rows.jsonl", "line", number), json.loads(json.dumps(row)))
        try:
            yield [fingerprint(item.input_ids.tolist(), item.labels.tolist()) for item in encode(source, iter([row])) if item.counted]
        except Failure as failure:
            yield failure


@pytest.mark.parametrize("version", sorted(EXPECTED["tekken"]))
def test_tokens_and_labels_are_axolotls(version, folders, loaded):
    wrong, compared = [], 0
    assert set(EXPECTED["cases"]) == set(CASES)
    for name, case in CASES.items():
        if case["tokenizer"] != version:
            continue
        for number, (expected, found) in enumerate(zip(EXPECTED["cases"][name], ours(case, folders, loaded), strict=True), 1):
            compared += expected is not None
            if (expected is None) != isinstance(found, Failure) or expected not in (None, found):
                wrong.append(f"{name}, row {number}: {found}, axolotl has {expected}")
    assert not wrong, "\n".join(wrong)
    assert compared >= 60


def test_a_refused_conversation_says_why(folders, loaded):
    [failure] = ours(CASES["mistral-common/v13/refused"], folders, loaded)
    assert "mistral-common refuses the conversation: Expected last role Assistant" in failure.what


def test_a_folder_without_tekken_json_says_what_is_missing(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "rows.jsonl").write_text("{}\n")
    with pytest.raises(Failure) as refused:
        encoders({"tokenizer_use_mistral_common": True}, tmp_path / "model").tokenizer()
    assert "tekken.json" in refused.value.hint


def test_another_tekken_json_is_another_tokenizer(folders, tmp_path):
    hashes = ContentHashes(tmp_path / "hashes.json", Silent())
    assert tokenizer_identity(str(folders["v7"]), hashes) != tokenizer_identity(str(folders["v11"]), hashes)
