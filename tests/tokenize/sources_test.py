"""Tests the sources of rows (files of every kind, folders, saved datasets, the hub), and the messages for missing
sources."""

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import tokens_row, write_lines
from datasets import Dataset, DatasetDict

ROWS = [{"input_ids": [1, 2, 3], "labels": [-100, 2, 3]}, {"input_ids": [4, 5], "labels": [4, 5]}]
EXPECTED = [([1, 2, 3], [-100, 2, 3]), ([4, 5], [4, 5])]


def test_parquet_arrow_json_and_compressed_lines_are_read(tokenize, tmp_path):
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "a.parquet")
    Dataset.from_list(ROWS).save_to_disk(tmp_path / "saved")
    (tmp_path / "a.json").write_text(json.dumps(ROWS, indent=1))
    with gzip.open(tmp_path / "a.jsonl.gz", "wt") as file:
        file.write("\ufeff" + "\n".join(map(json.dumps, ROWS)))
    (tmp_path / "lines").write_text("\n\n".join(map(json.dumps, ROWS)))
    arrow = next((tmp_path / "saved").glob("*.arrow"))
    for entry in ({"path": "a.parquet"}, {"path": str(arrow)}, {"path": "a.json"}, {"path": "a.jsonl.gz"},
                  {"path": str(tmp_path / "lines"), "ds_type": "json"}, {"path": "saved"}, {"path": "a.par*"},
                  {"path": "json", "data_files": ["a.json"]}):
        assert tokenize(datasets=[entry]).rows() == EXPECTED, entry


def test_text_and_csv_are_read(tokenize, model, tmp_path):
    (tmp_path / "a.txt").write_text("The fox\nThe cat leaps\n")
    (tmp_path / "a.csv").write_text("id,text\n1,The fox\n2,The cat leaps\n")
    eos = model[1].eos_token_id
    for path in ("a.txt", "a.csv"):
        answer = tokenize(tokenizer=str(model[0]), datasets=[{"path": path, "type": "completion"}])
        assert [ids for ids, _ in answer.rows()] == [[*model[1].encode(text), eos] for text in ("The fox", "The cat leaps")]


def test_a_folder_holds_splits_and_data_files_choose_some(tokenize, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for name, token in (("train-1", 1), ("train-2", 2), ("test", 3)):
        write_lines(folder / f"{name}.jsonl", [tokens_row([token, token])])
    assert [ids[0] for ids, _ in tokenize(datasets=[{"path": "data"}]).rows()] == [1, 2]
    assert [ids[0] for ids, _ in tokenize(datasets=[{"path": "data", "split": "test"}]).rows()] == [3]
    assert [ids[0] for ids, _ in tokenize(datasets=[{"path": "data", "data_files": "t*t.jsonl"}]).rows()] == [3]
    assert [ids[0] for ids, _ in tokenize(datasets=[{"path": "data", "data_files": ["train-2.jsonl", "data/test.jsonl"]}]
                                          ).rows()] == [2, 3]
    missing = tokenize(datasets=[{"path": "data", "split": "dev"}])
    assert missing.status == 1 and missing.failure["where"] == "datasets.0.split" and "test" in missing.failure["hint"]
    write_lines(folder / "train-2.jsonl", ['{"input_ids": ['])
    answer = tokenize(datasets=[{"path": "data"}])
    assert answer.status == 1 and answer.failure["where"].endswith("data/train-2.jsonl, line 1")


def test_a_split_can_be_a_slice(tokenize, tmp_path):
    path = write_lines(tmp_path / "a.jsonl", [tokens_row([row, row]) for row in range(10)])
    for split, rows in (("train[:3]", [0, 1, 2]), ("train[80%:]", [8, 9]), ("train[2:4]", [2, 3])):
        assert [ids[0] for ids, _ in tokenize(datasets=[{"path": path, "split": split}]).rows()] == rows
    answer = tokenize(datasets=[{"path": path, "split": "test"}])
    assert answer.status == 1 and answer.failure["where"] == "datasets.0.split"


def test_a_saved_dictionary_of_splits_is_read_by_split(tokenize, tmp_path):
    DatasetDict(train=Dataset.from_list(ROWS), test=Dataset.from_list(ROWS[:1])).save_to_disk(tmp_path / "saved")
    assert tokenize(datasets=[{"path": "saved"}]).rows() == EXPECTED
    answer = tokenize(datasets=[{"path": "saved"}], test_datasets=[{"path": "saved"}])
    assert answer.rows("eval_tokens") == EXPECTED[:1]
    missing = tokenize(datasets=[{"path": "saved", "split": "dev"}])
    assert missing.status == 1 and "train, test" in missing.failure["hint"]


def test_a_broken_row_of_a_columnar_file_is_named_by_row(tokenize, tmp_path):
    pq.write_table(pa.Table.from_pylist([*ROWS, {"input_ids": [1], "labels": [1, 2]}]), tmp_path / "a.parquet")
    answer = tokenize(datasets=[{"path": "a.parquet"}])
    assert answer.status == 1 and answer.failure["where"].endswith("a.parquet, row 3")
    data = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(data[: len(data) // 2])
    answer = tokenize(datasets=[{"path": "cut.parquet"}])
    assert answer.status == 1 and answer.failure["where"].endswith("cut.parquet")


def test_what_axolotl_prepared_is_read(tokenize, tmp_path):
    prepared = Dataset.from_list([{**row, "attention_mask": [1] * len(row["input_ids"])} for row in ROWS])
    prepared.save_to_disk(tmp_path / "last_run_prepared" / "0123abc")
    assert tokenize(dataset_prepared_path="last_run_prepared").rows() == EXPECTED
    assert tokenize(dataset_prepared_path=str(tmp_path / "last_run_prepared" / "0123abc")).rows() == EXPECTED
    answer = tokenize(dataset_prepared_path="last_run_prepared", datasets=[{"path": "not-read.jsonl"}])
    assert answer.rows() == EXPECTED and "last_run_prepared" in answer.warnings[0]


def test_several_prepared_datasets_are_listed(tokenize, tmp_path):
    for name in ("aaa", "bbb"):
        Dataset.from_list(ROWS).save_to_disk(tmp_path / "prepared" / name)
    answer = tokenize(dataset_prepared_path="prepared")
    assert answer.status == 1 and "aaa, bbb" in answer.failure["error"]


def test_an_empty_prepared_folder_leaves_the_datasets(tokenize, tmp_path):
    (tmp_path / "last_run_prepared").mkdir()
    entry = {"path": write_lines(tmp_path / "a.jsonl", ROWS)}
    for folder in ("last_run_prepared", "not-there"):
        assert tokenize(dataset_prepared_path=folder, datasets=[entry]).rows() == EXPECTED
    assert tokenize(dataset_prepared_path="last_run_prepared").status == 1


def test_a_missing_file_is_said_with_what_is_there(tokenize, tmp_path):
    write_lines(tmp_path / "train.jsonl", ROWS)
    for path in ("trian.jsonl", "./trian", str(tmp_path / "trian")):
        answer = tokenize(datasets=[{"path": path}])
        assert answer.status == 2 and answer.failure["where"] == "datasets.0.path" and "train.jsonl" in answer.failure["hint"]
    assert tokenize(datasets=[{"path": "*.parquet"}]).status == 2
    assert tokenize(datasets=[]).status == 1


def test_a_missing_or_empty_tokenizer_folder_is_said(tokenize, tmp_path):
    entry = {"path": write_lines(tmp_path / "a.jsonl", [{"text": "x"}]), "type": "completion"}
    missing = tokenize(datasets=[entry], tokenizer=str(tmp_path / "none"))
    assert missing.status == 2 and str(tmp_path / "none") in missing.failure["error"]
    (tmp_path / "empty").mkdir()
    empty = tokenize(datasets=[entry], tokenizer=str(tmp_path / "empty"))
    assert empty.status == 1 and empty.failure["where"] == "tokenizer_config"


@pytest.fixture
def no_network(monkeypatch):
    """Sends requests for the hub to a local port on which nothing listens."""
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    for module in ("huggingface_hub.constants", "datasets.config"):
        monkeypatch.setattr(f"{module}.HF_ENDPOINT" if "datasets" in module else f"{module}.ENDPOINT", "http://127.0.0.1:9")


def test_what_the_hub_has_cannot_be_reached_without_a_network(tokenize, no_network, tmp_path):
    answer = tokenize(datasets=[{"path": "someone/something", "type": "completion"}])
    assert answer.status == 3 and "someone/something" in answer.failure["error"]
    entry = {"path": write_lines(tmp_path / "a.jsonl", [{"text": "x"}]), "type": "completion"}
    answer = tokenize(datasets=[entry], tokenizer="someone/something")
    assert answer.status == 3 and "someone/something" in answer.failure["error"]


def test_the_old_train_on_split_counts_if_no_split_is_called_train(tokenize, tmp_path):
    for folder, names in (("both", ("train", "test")), ("only", ("test", "validation"))):
        (tmp_path / folder).mkdir()
        for token, name in enumerate(names, 1):
            write_lines(tmp_path / folder / f"{name}.jsonl", [tokens_row([token, token])])
    asked = {"train_on_split": "validation"}
    assert [ids[0] for ids, _ in tokenize(datasets=[{"path": "only", **asked}]).rows()] == [2]
    assert [ids[0] for ids, _ in tokenize(datasets=[{"path": "only", "split": "test", **asked}]).rows()] == [1]
    assert [ids[0] for ids, _ in tokenize(datasets=[{"path": "both", "train_on_split": "test"}]).rows()] == [1]
    assert "no split train" in tokenize(datasets=[{"path": "only"}]).failure["error"]
