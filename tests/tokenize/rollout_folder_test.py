"""Tests taking rows from folders that another program fills: in time, late, with mistakes, or with malicious
files."""

import gzip
import json
import os
import random
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import PROGRAM
from safetensors.numpy import load_file

sys.path[:0] = [str(PROGRAM.parent), str(Path(__file__).parent.parent / "support")]
from mutated import mutated
from ringmaster_rows import rollout_folder, rows
from ringmaster_rows.report import UNREACHABLE, Failure
from ringmaster_rows.rollout_folder import RolloutFolder


class Said:
    def __init__(self):
        self.warnings, self.lines = [], []

    def warning(self, text):
        self.warnings.append(text)

    def line(self, value):
        self.lines.append(value)

    def progress(self, *_):
        pass


def row(number, **more):
    return {"prompt_ids": [1, 2, number % 16], "completion_ids": [3, number % 16], "advantages": number / 7, "old_per_token_logps": [-0.1, -number / 3],
            **more}


def text_of(*rows):
    return "".join(json.dumps(one) + "\n" for one in rows)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Returns a folder with a subfolder `in` for rollouts and `run` for the run's files. Shortens all pauses."""
    monkeypatch.setattr(rollout_folder, "PAUSES", (0.02, 0.05))
    monkeypatch.setattr(rollout_folder, "LOOK_EVERY", 0.01)
    monkeypatch.setattr(rollout_folder, "TELL_AFTER", 0.05)
    monkeypatch.setattr(rollout_folder, "TELL_EVERY", 0.1)
    monkeypatch.setattr(rollout_folder, "leave_if_alone", lambda: None)
    (tmp_path / "in").mkdir()
    (tmp_path / "run").mkdir()
    return tmp_path


def taker(place, timeout=5, **settings):
    return RolloutFolder({"folder": str(place / "in"), "timeout": timeout, "journal": str(place / "run/taken.jsonl"), "sequence_len": 16,
                          "excess_length": "drop", "vocab_size": 16, **settings}, Said())


def put(place, name, text):
    """Writes a file as the documentation asks for: under another name, then renamed."""
    aside = place / "in" / f".{name}"
    aside.write_bytes(text if isinstance(text, bytes) else text.encode())
    aside.rename(place / "in" / name)


def taken(folder, place, begin, count):
    """Takes `count` rows from row `begin` on. Returns their advantages, times 7 and rounded, by which the tests
    recognize rows."""
    folder.write(begin, count, str(place / "run/step.safetensors"))
    read = load_file(place / "run/step.safetensors")
    assert len(read["row_offsets"]) == count + 1
    return [round(value * 7) for value in read["advantages"].tolist()]


def failure(folder, place, count=1, begin=0):
    begun = time.monotonic()
    with pytest.raises(Failure) as found:
        folder.write(begin, count, str(place / "run/step.safetensors"))
    return found.value, time.monotonic() - begun


def journal(place):
    return [json.loads(line) for line in (place / "run/taken.jsonl").read_text().splitlines()]


def test_rows_come_in_order_of_names_whatever_the_files(place):
    put(place, "b.jsonl", text_of(*map(row, range(3, 8))))
    put(place, "a.json", json.dumps([row(0), row(1), row(2)]))
    put(place, "c.jsonl.gz", gzip.compress(text_of(row(8), row(9)).encode()))
    for name in (".a.jsonl", "0.jsonl.tmp", "0.jsonl.part"):
        (place / "in" / name).write_text("not whole")
    (place / "in/a-folder").mkdir()
    folder = taker(place)
    assert [taken(folder, place, begin, 2) for begin in range(0, 10, 2)] == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]
    assert [(entry["file"], entry["rows"]) for entry in journal(place)] == [("a.json", 3), ("b.jsonl", 5), ("c.jsonl.gz", 2)]
    assert not folder.report.warnings and taken(folder, place, 8, 2) == [8, 9], "the preflight's rows are those of the step"


def test_rows_are_written_as_those_of_a_file_that_is_there_from_the_start(place):
    from ringmaster_rows import prepare
    from ringmaster_rows.cache import Request

    given = [row(1), row(2, tool_mask=[1, 0]), {**row(3), "old_per_token_logps": None}, row(4, completion_mask=[1, 0])]
    (place / "given.jsonl").write_text(text_of(*given))
    request = Request({"datasets": [{"path": str(place / "given.jsonl"), "type": ""}], "preference": "grpo", "sequence_len": 16, "vocab_size": 16,
                       "curriculum_sampling": True, "tokenizer": ""})
    prepare.prepare(request, place, Said())
    put(place, "1.jsonl", text_of(*given))
    taken(taker(place), place, 0, 4)
    assert (place / "run/step.safetensors").read_bytes() == (place / "tokens.safetensors").read_bytes()


def test_it_waits_for_the_file_and_says_so(place):
    put(place, "1", text_of(row(1)))
    folder = taker(place)
    threading.Timer(0.3, put, (place, "2", text_of(row(2)))).start()
    assert taken(folder, place, 0, 2) == [1, 2]
    told = len(folder.report.lines)
    assert told and not folder.report.warnings
    assert all(line["waiting"]["seconds"] < 5 and line["waiting"]["timeout"] == 5 for line in folder.report.lines)
    assert taken(folder, place, 0, 1) == [1] and len(folder.report.lines) == told, "nothing is said of rows that are there"


@pytest.mark.parametrize("folder_is_there", [True, False])
def test_the_time_ends(place, folder_is_there):
    if not folder_is_there:
        (place / "in").rmdir()
    found, seconds = failure(taker(place, timeout=1), place, 3)
    assert found.what == "3 more rows were needed, and within 1 s no new file came" and found.where == str(place / "in")
    assert "trl.rollout_timeout" in found.hint and found.status == UNREACHABLE and 0.8 < seconds < 2


def test_a_name_that_comes_too_late_is_warned_of_once(place):
    put(place, "2.jsonl", text_of(row(2)))
    folder = taker(place)
    assert taken(folder, place, 0, 1) == [2]
    put(place, "1.jsonl", text_of(row(1)))
    put(place, "3.jsonl", text_of(row(3), row(4)))
    assert taken(folder, place, 1, 1) == [3] and taken(folder, place, 2, 1) == [4]
    assert len(folder.report.warnings) == 1 and "in/1.jsonl came after" in folder.report.warnings[0]


BROKEN = {
    "token": (text_of(row(1), row(2, completion_ids=[3, 16])), "input_ids[4] is 16: the model's vocabulary has ids 0 to 15", "line 2"),
    "negative token": (text_of(row(1, prompt_ids=[-1])), "input_ids[0] is -1", "line 1"),
    "fraction": (text_of(row(1, prompt_ids=[1.5])), "prompt_ids has to be a list of whole numbers", "line 1"),
    "huge token": (text_of(row(1, prompt_ids=[10**400])), "prompt_ids has to be a list of whole numbers", "line 1"),
    "ragged": (text_of(row(1, prompt_ids=[[1], [2, 3]])), "prompt_ids has to be a list of whole numbers", "line 1"),
    "no advantage": (text_of({"prompt_ids": [1], "completion_ids": [2]}), "the row has no field 'advantages'", "line 1"),
    "advantage NaN": (text_of(row(1, advantages=float("nan"))), "advantages has to be one finite number", "line 1"),
    "huge advantage": (text_of(row(1)).replace("0.14", "1" + "0" * 400 + "0.14"), "", "line 1"),
    "whole huge advantage": (text_of(row(1, advantages=10**400)), "advantages has to be one finite number", "line 1"),
    "huge log-probability": (text_of(row(1, old_per_token_logps=[-(10**400), 0])), "old_per_token_logps holds a number that is not finite", "line 1"),
    "few log-probabilities": (text_of(row(1, old_per_token_logps=[0])), "old_per_token_logps has to hold a number for each", "line 1"),
    "empty completion": (text_of(row(1, completion_ids=[])), "completion_ids is empty", "line 1"),
    "list": ("[1]", "a row has to be a JSON object, not a number", "row 1"),
    "half": (text_of(row(1)) + '{"prompt_ids": [1', "not valid JSON", "line 2"),
    "deep": ("[" * 100_000, "not valid JSON", "line 1"),
    "bytes": (b"\xff\xfe\x00", "not valid UTF-8", "line 1"),
    "digits": ("1" * 5000, "not valid JSON", "line 1"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_lies_ends_the_run_with_file_and_row(place, name):
    text, what, where = BROKEN[name]
    put(place, "0.jsonl", text_of(row(0)))
    put(place, "1.jsonl", text)
    folder = taker(place)
    assert taken(folder, place, 0, 1) == [0]
    found, _ = failure(folder, place, 1, 1)
    assert what in found.what and found.what.endswith("(3 attempts)") and found.where == f"{place / 'in/1.jsonl'}, {where}"
    assert [entry["file"] for entry in journal(place)] == ["0.jsonl"], "no row of it is used"
    assert len(folder.report.warnings) == 2 and "the next attempt is in" in folder.report.warnings[0]
    put(place, "1.jsonl", text_of(row(5)))
    assert taken(taker(place), place, 1, 1) == [5], "a resumed run takes the file that was corrected"


def test_a_file_that_is_written_slowly_is_used_once_it_is_whole(place):
    (place / "in/1.jsonl").write_text(text_of(row(1))[:-20])
    folder = taker(place)
    threading.Timer(0.03, (place / "in/1.jsonl").write_text, (text_of(row(1), row(2)),)).start()
    assert taken(folder, place, 0, 2) == [1, 2] and len(folder.report.warnings) in (1, 2)


def test_only_ordinary_files_of_limited_size_are_read(place, monkeypatch):
    os.mkfifo(place / "in/1.jsonl")
    found, seconds = failure(taker(place), place)
    assert "is no ordinary file" in found.what and seconds < 2
    (place / "in/1.jsonl").unlink()
    (place / "in/1.jsonl").symlink_to("/dev/zero")
    assert "is no ordinary file" in failure(taker(place), place)[0].what
    (place / "in/1.jsonl").unlink()
    (place / "in/1.jsonl").symlink_to(place / "nowhere")
    assert "cannot be read" in failure(taker(place), place)[0].what
    (place / "in/1.jsonl").unlink()
    put(place, "1.parquet", "PAR1")
    assert "is no file of JSON rows" in failure(taker(place), place)[0].what
    (place / "in/1.parquet").unlink()
    monkeypatch.setattr(rows, "LONGEST_LINE", 10_000)
    put(place, "1.jsonl.gz", gzip.compress(b" " * 50_000_000))
    assert "the line has more than 10000 bytes" in failure(taker(place), place)[0].what, "a bomb is not unpacked"
    (place / "in/1.jsonl.gz").unlink()
    monkeypatch.setattr(rollout_folder, "MOST_ARRAY_BYTES", 10_000)
    put(place, "1.json.gz", gzip.compress(b"[" + b" " * 50_000_000))
    assert "the array has more than 10000 bytes" in failure(taker(place), place)[0].what
    (place / "in/1.json.gz").unlink()
    monkeypatch.setattr(rollout_folder, "MOST_TOKENS", 12)
    put(place, "1.jsonl", text_of(row(1), row(2), row(3)))
    assert "the rows have more than 12 tokens" in failure(taker(place), place)[0].what
    monkeypatch.setattr(rollout_folder, "MOST_BYTES", 100)
    assert "has more than 100 bytes" in failure(taker(place), place)[0].what


@pytest.mark.parametrize("name", [b"1\n.jsonl", b"1\xff.jsonl", b"1\x1b[2J.jsonl"])
def test_a_name_cannot_control_a_terminal(place, name):
    with open(os.path.join(os.fsencode(place / "in"), name), "w") as file:
        file.write(text_of(row(1)))
    found, _ = failure(taker(place), place)
    assert "signs that cannot be shown" in found.what and found.where.isprintable() and found.where.encode()


def test_rows_that_are_too_long_are_left_out_and_said(place):
    put(place, "1.jsonl", text_of(row(1), row(2, prompt_ids=[1] * 15), row(3)))
    folder = taker(place)
    assert taken(folder, place, 0, 2) == [1, 3] and journal(place)[0]["rows"] == 2
    assert folder.report.warnings == [f"{place}/in/1.jsonl: 1 rows are longer than sequence_len, 16 tokens, and are left out"]
    (place / "run/taken.jsonl").unlink()
    assert "longer than sequence_len" in failure(taker(place, excess_length="raise"), place, 2)[0].what


def test_a_resumed_run_takes_the_same_rows_again(place):
    for name in "ace":
        put(place, name, text_of(*(row("ace".index(name) * 3 + i) for i in range(3))))
    first = taker(place)
    assert [taken(first, place, begin, 4) for begin in (0, 4)] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    put(place, "b", text_of(row(11)))  # arrives after e was taken but sorts before it, so no run takes it
    (place / "in/a").unlink()  # no row of this file is needed again
    assert taken(taker(place), place, 4, 4) == [4, 5, 6, 7] and taken(taker(place), place, 8, 1) == [8]
    with open(place / "run/taken.jsonl", "ab") as file:
        file.write(b'{"file": "f", "ro')  # the line that a kill leaves incomplete
    put(place, "g", text_of(row(9), row(10)))
    assert taken(taker(place), place, 8, 3) == [8, 9, 10] and [entry["file"] for entry in journal(place)] == list("aceg")
    found, _ = failure(taker(place), place, 4)
    assert "its rows are needed again: cannot be read" in found.what and found.where == str(place / "in/a") and "put the file" in found.hint
    put(place, "c", text_of(row(3), row(5), row(4)))
    found, _ = failure(taker(place), place, 2, 4)
    assert found.what == "holds other rows than when the run took it" and found.where == str(place / "in/c")


@pytest.mark.parametrize("line", ['{"file": "../x", "rows": 1, "digest": ""}', '{"file": "x", "rows": -1, "digest": ""}', '{"file": "x", "rows": true, "digest": ""}',
                                  "[]", "1", '{"rows": 1}', "\x00"])
def test_a_damaged_journal_is_refused(place, line):
    (place / "run/taken.jsonl").write_text(line + "\n")
    with pytest.raises(Failure, match="damaged"):
        taker(place)


def test_only_one_process_takes_rows_for_a_run(place, monkeypatch):
    monkeypatch.setattr(rollout_folder, "PATIENT_WITH_OTHERS", 0.1)
    lock = rollout_folder.claimed(str(place / "run/lock"))
    with pytest.raises(Failure, match="another process"):
        rollout_folder.claimed(str(place / "run/lock"))
    os.close(lock)
    os.close(rollout_folder.claimed(str(place / "run/lock")))


def test_no_mutation_of_a_file_does_more_than_fail(place, monkeypatch):
    monkeypatch.setattr(rollout_folder, "PATIENT_WITH_FILES", 1)
    source = random.Random(7)
    whole = text_of(row(1), row(2, tool_mask=[1, 0], completion_mask=[1, 1]), row(3)).encode()
    words = [b"null", b"true", b"NaN", b"-Infinity", b"1e999", b"-1e999", b"9" * 400, b"-1", b"[]", b"{}", b"[[", b'"', b"\xff", b"\x00", b"\n", b'"advantages"', b"2147483648", b"99", b"7",
             b"9223372036854775808", b"[1, [2]]"]
    used = 0
    for _ in range(300):
        (place / "in/1.jsonl").write_bytes(mutated(whole, words, source, 4))
        (place / "run/taken.jsonl").unlink(missing_ok=True)
        folder = taker(place, timeout=0)
        try:
            folder.wait_for(1)
            used += 1
        except Failure as failure:
            assert failure.what.isprintable() or "\n" in failure.what
            assert str(failure.where).startswith(str(place / "in"))
            continue
        for example in folder.taken[0].examples:
            assert 0 <= example.input_ids.min() and example.input_ids.max() < 16 and len(example.input_ids) <= 16
    assert 5 < used < 295, "some are still rows, most are not"
