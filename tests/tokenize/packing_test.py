"""Tests that packed rows hold the same documents as the same request without packing: whole, with at most sequence_len
tokens per row."""

import random

import pytest
from conftest import write_lines
from safetensors.numpy import load_file


def request(tmp_path, **changes):
    source = random.Random(4)
    rows = []
    for index in range(120):
        ids = [index % 250] * source.randint(2, 64)
        rows.append({"input_ids": ids, "labels": ids})
    return {"sequence_len": 64, "seed": 3, "datasets": [{"path": write_lines(tmp_path / "a.jsonl", rows), "type": ""}], **changes}


def documents_of(answer, which="tokens"):
    """Returns, for each row, the list of its documents' input ids."""
    tensors = load_file(answer.result[which])
    rows, ends = tensors["row_offsets"].tolist(), tensors["document_offsets"].tolist()
    assert set(rows) <= set(ends), "a row ends where a document ends"
    assert tensors["document_offsets"].dtype == "int64"
    return [[tensors["input_ids"][a:b].tolist() for a, b in zip(ends, ends[1:]) if begin <= a < end]
            for begin, end in zip(rows, rows[1:])]


@pytest.mark.parametrize("in_order", [False, True])
def test_packed_rows_hold_each_document_once_and_whole(tokenize, tmp_path, in_order):
    plain = [ids for ids, _ in tokenize(**request(tmp_path, curriculum_sampling=in_order)).rows()]
    answer = tokenize(**request(tmp_path, curriculum_sampling=in_order, sample_packing=True))
    packed = documents_of(answer)
    assert sorted(sum(packed, [])) == sorted(plain)
    assert all(sum(map(len, row)) <= 64 for row in packed)
    assert answer.result["rows"] == len(packed)
    assert answer.result["packing"]["documents"] == 120
    assert answer.result["packing"]["efficiency"] == pytest.approx(sum(map(len, plain)) / (64 * len(packed)))


def test_rows_in_file_order_are_packed_in_file_order(tokenize, tmp_path):
    plain = [ids for ids, _ in tokenize(**request(tmp_path)).rows()]
    packed = documents_of(tokenize(**request(tmp_path, curriculum_sampling=True, sample_packing=True)))
    assert sum(packed, []) == plain
    for row, following in zip(packed, packed[1:]):
        assert sum(map(len, row)) + len(following[0]) > 64, "a row ends where the next document does not fit"


def test_the_longest_documents_go_first_into_the_first_row_with_room(tokenize, tmp_path):
    plain = [ids for ids, _ in tokenize(**request(tmp_path)).rows()]
    packed = documents_of(tokenize(**request(tmp_path, sample_packing=True)))
    expected = []
    for ids in sorted(plain, key=len, reverse=True):
        row = next((row for row in expected if sum(map(len, row)) + len(ids) <= 64), None)
        expected.append([ids]) if row is None else row.append(ids)
    assert [sorted(map(len, row)) for row in packed] == [sorted(map(len, row)) for row in expected]


def test_evaluation_rows_are_packed_too(tokenize, tmp_path):
    answer = tokenize(**request(tmp_path, sample_packing=True, val_set_size=20))
    assert answer.result["packing"]["documents"] == 100
    assert sum(map(len, documents_of(answer, "eval_tokens"))) == 20
    assert answer.result["eval_rows"] == len(documents_of(answer, "eval_tokens")) < 20
