"""Runs the tokenizing program as the launcher does. Tests what the program prints, what it caches, and what it leaves
behind when it is stopped."""

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest
from conftest import PROGRAM, Answer, tokens_row, write_lines

HEAVY = ("torch", "transformers", "datasets", "tokenizers", "numpy")


def start(tmp_path, *options, environment=None, **request):
    (tmp_path / "request.json").write_text(json.dumps({"base_dir": str(tmp_path)} | request))
    return subprocess.Popen(
        [sys.executable, *options, PROGRAM, "--request", tmp_path / "request.json", "--cache", tmp_path / "cache"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | (environment or {}))


def run(tmp_path, *options, **request):
    process = start(tmp_path, *options, **request)
    stdout, stderr = process.communicate(timeout=120)
    return Answer(process.returncode, stdout), stderr


def folders(tmp_path):
    return [item.name for item in (tmp_path / "cache").iterdir() if item.is_dir()]


def test_a_second_call_is_answered_from_the_cache_without_heavy_imports(model, tmp_path):
    entry = {"path": write_lines(tmp_path / "a.jsonl", [{"text": "The fox"}] * 10), "type": "completion"}
    first, _ = run(tmp_path, tokenizer=str(model[0]), datasets=[entry])
    second, imports = run(tmp_path, "-X", "importtime", tokenizer=str(model[0]), datasets=[entry])
    assert first.result["cached"] is False and second.result["cached"] is True
    assert {**first.result, "cached": True} == second.result and first.rows() == second.rows()
    imported = {line.split("|")[-1].strip() for line in imports.splitlines() if "import time:" in line}
    assert "json" in imported and not imported & set(HEAVY)


def test_progress_is_json_lines_that_end_at_the_total(model, tmp_path):
    entry = {"path": write_lines(tmp_path / "a.jsonl", [{"text": "The fox jumps"}] * 3000), "type": "completion"}
    answer, _ = run(tmp_path, tokenizer=str(model[0]), datasets=[entry])
    reading = [line for line in answer.lines if (line.get("phase"), line.get("of")) == ("read", "a.jsonl")]
    assert reading[-1]["done"] == reading[-1]["total"] == os.path.getsize(entry["path"])
    assert all(set(line) == {"phase", "of", "done", "total"} for line in answer.lines[:-1])
    assert len(answer.lines) < 100


def test_what_changes_the_tokens_is_not_answered_from_the_cache(tokenize, tmp_path):
    rows = [tokens_row([1, 2]), tokens_row([3, 4, 5])]
    entry = {"path": write_lines(tmp_path / "a.jsonl", rows)}
    assert not tokenize(datasets=[entry]).result["cached"]
    assert tokenize(datasets=[entry]).result["cached"]
    assert not tokenize(datasets=[entry], sequence_len=2).result["cached"]
    assert not tokenize(datasets=[entry], val_set_size=1).result["cached"]
    before = os.stat(entry["path"])
    write_lines(tmp_path / "a.jsonl", [tokens_row([1, 9]), rows[1]])
    os.utime(entry["path"], ns=(before.st_atime_ns, before.st_mtime_ns))
    changed = tokenize(datasets=[entry])
    assert not changed.result["cached"] and changed.rows()[0][0] == [1, 9]


def test_the_same_content_elsewhere_is_answered_from_the_cache(tokenize, tmp_path):
    entry = {"path": write_lines(tmp_path / "a.jsonl", [tokens_row([1, 2])])}
    tokenize(datasets=[entry])
    (tmp_path / "moved").mkdir()
    os.rename(entry["path"], tmp_path / "moved" / "a.jsonl")
    assert tokenize(datasets=[{"path": "moved/a.jsonl"}]).result["cached"]


def test_a_damaged_cache_is_made_again(tokenize, tmp_path):
    entry = {"path": write_lines(tmp_path / "a.jsonl", [tokens_row([1, 2])])}
    tokens = tokenize(datasets=[entry]).result["tokens"]
    os.truncate(tokens, 10)
    again = tokenize(datasets=[entry])
    assert not again.result["cached"] and again.rows() == [([1, 2], [1, 2])]
    (tmp_path / "cache" / "hashes.json").write_text("{")
    assert tokenize(datasets=[entry]).result["cached"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_call_leaves_nothing_in_the_cache(tmp_path, number):
    line = json.dumps(tokens_row(list(range(2000)))) + "\n"
    with open(tmp_path / "a.jsonl", "w") as file:
        for _ in range(20000):
            file.write(line)
    process = start(tmp_path, datasets=[{"path": "a.jsonl"}], sequence_len=4000)
    for text in process.stdout:
        if json.loads(text).get("phase") == "read":
            break
    assert any(name.startswith("unfinished-") for name in folders(tmp_path))
    process.send_signal(number)
    last = json.loads(process.communicate(timeout=30)[0].splitlines()[-1])
    assert process.returncode == 130 and last["error"] == "interrupted"
    assert folders(tmp_path) == []


def test_what_a_killed_call_left_is_cleared_by_the_next(tokenize, tmp_path):
    (tmp_path / "request.json").write_text("")
    entry = {"path": write_lines(tmp_path / "a.jsonl", [tokens_row([1, 2])])}
    tokenize(datasets=[entry])
    dead = subprocess.Popen(["true"])
    dead.wait()
    left = tmp_path / "cache" / f"unfinished-{os.uname().nodename}-{dead.pid}-0123"
    left.mkdir()
    other = tmp_path / "cache" / f"unfinished-{os.uname().nodename}-{os.getpid()}-0123"
    other.mkdir()
    tokenize(datasets=[entry], sequence_len=3)
    assert not left.exists() and other.exists()


def test_two_calls_at_once_agree(tmp_path):
    write_lines(tmp_path / "a.jsonl", [tokens_row([row, row]) for row in range(2000)])
    processes = [start(tmp_path, datasets=[{"path": "a.jsonl"}]) for _ in range(2)]
    answers = [Answer(process.wait(60), process.stdout.read()) for process in processes]
    assert [answer.status for answer in answers] == [0, 0] and answers[0].rows() == answers[1].rows()
    assert len(folders(tmp_path)) == 1


def test_memory_does_not_grow_with_the_data(tmp_path):
    line = json.dumps(tokens_row(list(range(1000, 5000)))) + "\n"
    peaks = []
    for count in (100, 3000):  # 3 MB and 96 MB of tokens
        with open(tmp_path / "a.jsonl", "w") as file:
            file.writelines(line for _ in range(count))
        script = "import resource, runpy, sys, atexit\n" \
                 "atexit.register(lambda: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr))\n" \
                 f"sys.argv = [{str(PROGRAM)!r}, '--request', {str(tmp_path / 'request.json')!r}, '--cache', {str(tmp_path / 'cache')!r}]\n" \
                 f"runpy.run_path({str(PROGRAM)!r}, run_name='__main__')"
        (tmp_path / "request.json").write_text(json.dumps({"datasets": [{"path": str(tmp_path / "a.jsonl")}], "sequence_len": 4000}))
        process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
        assert process.returncode == 0, process.stderr
        peaks.append(int(process.stderr.split()[-1]))
    assert peaks[1] - peaks[0] < 60_000  # KiB


@pytest.mark.parametrize(("text", "message"), [("{", "not valid JSON"), ("[]", "not a JSON object"), ('{"dataset": []}', "unknown keys")])
def test_an_unusable_request_is_a_usage_error(tmp_path, text, message):
    (tmp_path / "request.json").write_text(text)
    process = subprocess.run([sys.executable, PROGRAM, "--request", tmp_path / "request.json", "--cache", tmp_path / "cache"],
                             capture_output=True, text=True)
    assert process.returncode == 2 and message in json.loads(process.stdout)["error"]


def test_a_model_that_cannot_be_fetched_is_said_at_once(tmp_path):
    process = subprocess.run([sys.executable, PROGRAM, "--fetch-model", "someone/something"], capture_output=True, text=True,
                             env=os.environ | {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path)}, timeout=60)
    last = json.loads(process.stdout.splitlines()[-1])
    assert process.returncode == last["exit"] == 3 and "someone/something" in last["error"]


def test_a_tokenizer_that_the_hubs_client_keeps_is_used_without_a_network(model, tmp_path):
    kept = tmp_path / "home" / "hub" / "models--someone--something"
    (kept / "refs").mkdir(parents=True)
    (kept / "refs" / "main").write_text("0" * 40)
    snapshot = shutil.copytree(model[0], kept / "snapshots" / ("0" * 40))
    (snapshot / "config.json").write_text('{"model_type": "llama"}')
    entry = {"path": write_lines(tmp_path / "a.jsonl", [{"text": "The fox"}]), "type": "completion"}
    process = start(tmp_path, tokenizer="someone/something", datasets=[entry],
                    environment={"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path / "home")})
    stdout, stderr = process.communicate(timeout=100)
    answer = Answer(process.returncode, stdout)
    assert answer.status == 0, (answer.failure, stderr)
    assert answer.rows()[0][0] == [*model[1].encode("The fox"), model[1].eos_token_id]


def test_the_wrapper_runs_it_in_the_recorded_environment():
    wrapper = PROGRAM.parents[2] / "bin" / "ringmaster-tokenize"
    assert "--fetch-model" in subprocess.run([wrapper, "--help"], capture_output=True, text=True, check=True).stdout
