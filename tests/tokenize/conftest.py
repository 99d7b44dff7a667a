"""Provides a small tokenizer, and runs the tokenizing program as the launcher does."""

import json
import os
import runpy
import sys
import tempfile
from pathlib import Path

import pytest
from safetensors.numpy import load_file

PROGRAM = Path(os.environ["RINGMASTER_BIN"], "..", "share", "ringmaster", "ringmaster_tokenize.py")
SPECIAL = ["<s>", "</s>", "<pad>", "<|im_start|>", "<|im_end|>"]
CHATML = ("{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
          "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")
TEXTS = [f"The {animal} {verb} over {number} lazy dogs.\n\nIt was {mood}, wasn't it? Žluťoučký kůň — 漢字 🙂"
         for animal in ("fox", "cat", "horse") for verb in ("jumps", "leaps") for number in range(20)
         for mood in ("happy", "sad")]


def make_tokenizer(folder, bos=False, special=()):
    """Saves a byte-level BPE tokenizer in `folder`. With `bos`, it puts <s> before each text, as Llama's tokenizer
    does."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.train_from_iterator(TEXTS, trainers.BpeTrainer(
        vocab_size=512, special_tokens=[*SPECIAL, *special], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    steps = [processors.ByteLevel(trim_offsets=True)]
    if bos:
        steps.append(processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 0)]))
    backend.post_processor = processors.Sequence(steps)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>", pad_token="<pad>")
    tokenizer.save_pretrained(folder)
    return tokenizer


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """Returns (folder, tokenizer); the tokenizer adds no BOS and has a ChatML template."""
    folder = tmp_path_factory.mktemp("model")
    tokenizer = make_tokenizer(folder)
    tokenizer.chat_template = CHATML
    tokenizer.save_pretrained(folder)
    return folder, tokenizer


@pytest.fixture(scope="session")
def model_with_bos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model-bos")
    return folder, make_tokenizer(folder, bos=True)


class Answer:
    def __init__(self, status, stdout):
        self.status, self.lines = status, [json.loads(line) for line in stdout.splitlines()]
        last = self.lines[-1] if self.lines else {}
        self.result, self.failure = last.get("result"), last if "error" in last else None
        self.warnings = [line["warning"] for line in self.lines if "warning" in line]

    def rows(self, which="tokens"):
        """Returns [(input ids, labels)] of the written file."""
        tensors = load_file(self.result[which])
        offsets = tensors["row_offsets"]
        assert [tensors[name].dtype for name in ("input_ids", "labels", "row_offsets")] == ["int32", "int32", "int64"]
        return [(tensors["input_ids"][begin:end].tolist(), tensors["labels"][begin:end].tolist())
                for begin, end in zip(offsets[:-1], offsets[1:])]


def run_forked(arguments, stdin=""):
    """Runs the program in a fork of this process, where the libraries are loaded already; returns (status, stdout)."""
    import datasets  # noqa: F401
    from transformers import AutoTokenizer  # noqa: F401

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as asked:
        asked.write(stdin.encode())
        asked.seek(0)
        child = os.fork()
        if child == 0:
            status = 99
            try:
                os.dup2(asked.fileno(), 0)
                os.dup2(out.fileno(), 1)
                sys.stdin = open(0, closefd=False)
                sys.argv = [str(PROGRAM), *map(str, arguments)]
                runpy.run_path(str(PROGRAM), run_name="__main__")
            except SystemExit as end:
                status = end.code
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        return status, out.read().decode()


@pytest.fixture
def tokenize(tmp_path):
    """Returns the function tokenize(datasets=[…], …) -> Answer."""

    def run(**request):
        request.setdefault("base_dir", str(tmp_path))
        (tmp_path / "request.json").write_text(json.dumps(request))
        answer = Answer(*run_forked(["--request", tmp_path / "request.json", "--cache", tmp_path / "cache"]))
        assert answer.lines and (answer.status == 0) == (answer.result is not None)
        assert not answer.failure or answer.failure["exit"] == answer.status
        return answer

    return run


class Silent:
    """Ignores what the program reports."""

    def progress(self, *_):
        pass

    def warning(self, _):
        pass


def tokens_row(ids):
    """Returns a tokenized row in which every token has a label."""
    return {"input_ids": ids, "labels": ids}


def write_lines(path, rows):
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return str(path)
