"""Tests streams: their rows, pass after pass, equal axolotl's in axolotl/expected_stream.json; the windows of pretraining_dataset are those
that the tokenizer makes; and reading stops once there are enough rows."""

import json
import sys
from pathlib import Path

import pytest
from conftest import write_lines
from datasets import IterableDataset
from safetensors.numpy import load_file

HERE = Path(__file__).resolve().parent / "axolotl"
sys.path.insert(0, str(HERE))

from cases import digest_of, fingerprint, make_tokenizers  # noqa: E402
from cases_stream import SEQUENCE_LEN, TOKENIZER, all_cases  # noqa: E402
from record_stream import write_files  # noqa: E402

EXPECTED = json.loads((HERE / "expected_stream.json").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in all_cases()}
OPTIONS = {"chat_template", "shuffle_merged_datasets", "shuffle_before_merging_datasets", "streaming_multipack_buffer_size"}

TEXTS = [f"{'The fox jumps over lazy dogs. ' * (1 + number % 5)}{number}" for number in range(60)]


@pytest.fixture
def stream(tokenize, model, tmp_path):
    def run(entry=None, **request):
        path = write_lines(tmp_path / "a.jsonl", [{"text": text} for text in TEXTS])
        request = {"curriculum_sampling": True, "tokenizer": str(model[0]), "sequence_len": 40} | request
        return tokenize(datasets=[{"path": path, "type": "pretrain", "streamed": True, **(entry or {})}], **request)

    return run


@pytest.fixture(scope="session")
def tokenizers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizers")
    assert digest_of(make_tokenizers(folder)[TOKENIZER]) == EXPECTED["tokenizer"], "run axolotl/record_stream.py again"
    return folder


def request_of(case):
    """Returns the request that the launcher makes of the case's configuration."""
    config = dict(case["config"])
    marks = {"streamed": True, "pretraining": True} if config.pop("pretrains", False) else {"streamed": True}
    if config.pop("curriculum_sampling", False):  # as read_stream.cpp does
        config["shuffle_merged_datasets"] = False
    options = {key: config.pop(key) for key in OPTIONS & set(config)}
    return {**config, "datasets": [{**entry, **marks} for entry in case["entries"]], "tokenization": options, "sequence_len": SEQUENCE_LEN,
            "curriculum_sampling": True, "row_limit": case["rows"]}


def test_every_case_is_recorded():
    assert set(EXPECTED["cases"]) == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_the_rows_of_a_stream_are_axolotls(name, tokenize, tokenizers, tmp_path):
    write_files(CASES[name], tmp_path)
    answer = tokenize(**request_of(CASES[name]), tokenizer=str(tokenizers / TOKENIZER))
    assert [fingerprint(*row) for row in answer.rows()] == EXPECTED["cases"][name], answer.failure
    assert answer.result["rows"] == CASES[name]["rows"]


def test_rows_longer_than_sequence_len_are_told_of(tokenize, tokenizers, tmp_path):
    case = next(case for case in CASES.values() if case["entries"][0]["path"] == "texts")
    write_files(case, tmp_path)
    request = {**request_of({**case, "config": {"seed": 1, "sample_packing": False}, "entries": [{"path": "texts", "type": "completion"}]}),
               "tokenizer": str(tokenizers / TOKENIZER)}
    assert not tokenize(**request).warnings, "pieces are never longer"
    rows = [{"input_ids": [7] * length, "labels": [7] * length} for length in (3, 70, 1, 5)]
    write_lines(tmp_path / "a.jsonl", rows)
    request |= {"datasets": [{"path": "a.jsonl", "streamed": True}], "row_limit": None, "sequence_len": 64, "tokenization": {"shuffle_merged_datasets": False}}
    left_out, cut = tokenize(**request), tokenize(**request, excess_length="truncate")
    assert [len(ids) for ids, _ in left_out.rows()] == [3, 1, 5] and "left out; axolotl" in left_out.warnings[0]
    assert [len(ids) for ids, _ in cut.rows()] == [3, 64, 1, 5] and "cut; axolotl" in cut.warnings[0]
    packed = tokenize(**{**request, "sample_packing": True, "excess_length": "truncate"})
    assert [len(ids) for ids, _ in packed.rows()] == [8], "a packed stream drops what is too long or too short"


def test_a_packed_stream_is_one_dataset(tokenize, tokenizers, tmp_path):
    write_lines(tmp_path / "a.jsonl", [{"input_ids": [7], "labels": [7]}])
    entries = [{"path": "a.jsonl", "streamed": True}] * 2
    assert "only one dataset" in tokenize(datasets=entries, sample_packing=True, row_limit=1, sequence_len=8).failure["error"]


def in_order(seed, buffer):
    rows = IterableDataset.from_generator(lambda: ({"text": text} for text in TEXTS))
    return [row["text"] for row in rows.shuffle(seed=seed, buffer_size=buffer)]


@pytest.mark.parametrize("buffer", [7, 10000])
def test_unpacked_texts_come_in_the_order_of_datasets(stream, model, buffer):
    answer = stream(seed=9, tokenization={"streaming_multipack_buffer_size": buffer})
    expected = [model[1].encode(text, add_special_tokens=True)[:38] for text in in_order(9, buffer)]
    assert [ids for ids, _ in answer.rows()] == expected and answer.rows()[0][0] == answer.rows()[0][1]
    whole = stream(tokenization={"shuffle_merged_datasets": False})
    assert [ids for ids, _ in whole.rows()] == [model[1].encode(text)[:38] for text in TEXTS]


def documents_of(answer):
    """Returns the documents of all packed rows, sorted."""
    tensors = load_file(answer.result["tokens"])
    ends = tensors["document_offsets"].tolist()
    return sorted(tensors["input_ids"][begin:end].tolist() for begin, end in zip(ends, ends[1:]))


def test_packed_texts_are_windows_that_overlap(stream, model):
    answer = stream(sample_packing=True, tokenization={"shuffle_merged_datasets": False})
    expected = []
    for text in TEXTS:
        windows = model[1](text, truncation=True, max_length=39, stride=19, return_overflowing_tokens=True)["input_ids"]
        expected += [[*window, model[1].eos_token_id] for window in windows]
    assert documents_of(answer) == sorted(expected)


def test_completion_is_read_as_a_stream_too(stream, model):
    answer = stream({"type": "completion", "pretraining": True, "skip": 50}, sample_packing=True, sequence_len=100, tokenization={"shuffle_merged_datasets": False})
    assert documents_of(answer) == sorted([*model[1].encode(text), model[1].eos_token_id] for text in TEXTS[50:])


@pytest.mark.parametrize("packed", [False, True])
def test_reading_stops_when_the_run_has_its_rows(stream, tokenize, model, tmp_path, packed):
    whole, some = stream(sample_packing=packed), stream(sample_packing=packed, row_limit=7)
    assert some.rows() == whole.rows()[:7] and some.result["rows"] == 7
    path = write_lines(tmp_path / "b.jsonl", [*({"text": text} for text in TEXTS * 40), "{broken"])
    request = {"tokenizer": str(model[0]), "sequence_len": 40, "sample_packing": packed,
               "tokenization": {"shuffle_merged_datasets": False, "streaming_multipack_buffer_size": 100}}
    entry = {"path": path, "type": "pretrain", "streamed": True}
    assert tokenize(datasets=[entry], curriculum_sampling=True, row_limit=7, **request).result["rows"] == 7
    assert "not valid JSON" in tokenize(datasets=[entry], curriculum_sampling=True, **request).failure["error"]
