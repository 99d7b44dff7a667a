"""Tests pretraining_dataset: the stream's order is that of `datasets`, the windows are the tokenizer's, and
reading stops when there are enough."""

import pytest
from conftest import write_lines
from datasets import IterableDataset

TEXTS = [f"{'The fox jumps over lazy dogs. ' * (1 + number % 5)}{number}" for number in range(60)]


@pytest.fixture
def stream(tokenize, model, tmp_path):
    def run(entry=None, **request):
        path = write_lines(tmp_path / "a.jsonl", [{"text": text} for text in TEXTS])
        request = {"curriculum_sampling": True, "tokenizer": str(model[0]), "sequence_len": 40} | request
        return tokenize(datasets=[{"path": path, "type": "pretrain", "streamed": True, **(entry or {})}], **request)

    return run


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


def test_packed_texts_are_windows_that_overlap(stream, model):
    answer = stream(sample_packing=True, tokenization={"shuffle_merged_datasets": False})
    expected = []
    for text in TEXTS:
        windows = model[1](text, truncation=True, max_length=39, stride=19, return_overflowing_tokens=True)["input_ids"]
        expected += [[*window, model[1].eos_token_id] for window in windows]
    assert sum((ids for ids, _ in answer.rows()), []) == sum(expected, [])


def test_completion_is_read_as_a_stream_too(stream, model):
    answer = stream({"type": "completion", "skip": 50}, sample_packing=True, sequence_len=100, tokenization={"shuffle_merged_datasets": False})
    assert sum((ids for ids, _ in answer.rows()), []) == sum(([*model[1].encode(text), model[1].eos_token_id] for text in TEXTS[50:]), [])


@pytest.mark.parametrize("packed", [False, True])
def test_reading_stops_when_the_run_has_its_rows(stream, tokenize, model, tmp_path, packed):
    whole, some = stream(sample_packing=packed), stream(sample_packing=packed, row_limit=7)
    assert some.rows() == whole.rows()[:7] and some.result["rows"] == 7
    path = write_lines(tmp_path / "b.jsonl", [*({"text": text} for text in TEXTS * 40), "{broken"])
    request = {"tokenizer": str(model[0]), "sequence_len": 40, "sample_packing": packed, "tokenization": {"shuffle_merged_datasets": False}}
    entry = {"path": path, "type": "pretrain", "streamed": True}
    assert tokenize(datasets=[entry], curriculum_sampling=True, row_limit=7, **request).result["rows"] == 7
    assert "not valid JSON" in tokenize(datasets=[entry], curriculum_sampling=True, **request).failure["error"]
