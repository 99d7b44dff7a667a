"""Tests the example that packaging/run trains on: its data is created once, from files on this machine, and fills its
sequences."""

import json
import os
import subprocess
import sys
from pathlib import Path

from transformers import AutoTokenizer

SHARE = Path(os.environ["RINGMASTER_BIN"], "..", "share", "ringmaster", "example")


def make(folder):
    subprocess.run([sys.executable, SHARE / "make_example.py", "--to", folder], check=True)
    return {path.relative_to(folder): (path.read_bytes(), path.stat().st_mtime_ns)
            for path in folder.rglob("*") if path.is_file()}


def test_the_example_is_made_once_the_same_each_time_and_fills_its_sequences(tokenize, tmp_path):
    first = make(tmp_path / "a")
    assert make(tmp_path / "a") == first
    assert {path: content for path, (content, _) in make(tmp_path / "b").items()} == {
        path: content for path, (content, _) in first.items()}
    vocabulary = json.loads((tmp_path / "a" / "tiny-llama" / "config.json").read_text())["vocab_size"]
    assert len(AutoTokenizer.from_pretrained(tmp_path / "a" / "tiny-llama")) == vocabulary
    answer = tokenize(tokenizer=str(tmp_path / "a" / "tiny-llama"), vocab_size=vocabulary, sequence_len=2048, datasets=[
        {"path": str(tmp_path / "a" / "corpus.jsonl"), "type": "completion", "ds_type": "json"}])
    assert answer.result["rows"] > 400
    assert answer.result["tokens_total"] / answer.result["rows"] > 0.85 * 2048
