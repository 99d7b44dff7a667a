"""ringmaster rows: the rows as the model sees them, held against the tokenizers library and the data they were made of."""

import json
import os

import pytest
from conftest import MODEL, run

WORDS = ["The fox jumps over 7 lazy dogs.", "Žluťoučký kůň — 漢字 🙂", "def f(x):\n\treturn  x + 1\n", "A cat, a cat; a CAT!"]
CHATML = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"


def make_tokenizer(folder, kind):
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    special = ["<s>", "</s>", "<|im_start|>", "<|im_end|>"]
    if kind == "byte level":
        backend = Tokenizer(models.BPE())
        backend.pre_tokenizer, backend.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
        backend.train_from_iterator(WORDS, trainers.BpeTrainer(
            vocab_size=600, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    else:  # as Llama 2's: spaces as ▁, what is not in the vocabulary as bytes
        pieces = [*special, *(f"<0x{byte:02X}>" for byte in range(256)), *"▁abcdefghijklmnopqrstuvwxyzTAC.,;!:()+1x7"]
        backend = Tokenizer(models.BPE(vocab={piece: at for at, piece in enumerate(dict.fromkeys(pieces))}, merges=[],
                                       byte_fallback=True, unk_token="<s>"))
        backend.normalizer = normalizers.Replace(" ", "▁")
        backend.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
        backend.add_special_tokens(special)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>")
    tokenizer.chat_template = CHATML
    tokenizer.save_pretrained(folder)
    return tokenizer


@pytest.fixture
def text_config(make_config, tmp_path):
    def make(kind="byte level", **keys):
        tokenizer = make_tokenizer(tmp_path / "model", kind)
        (tmp_path / "model/config.json").write_text(json.dumps({**MODEL, "vocab_size": len(tokenizer)}))
        rows = tmp_path / "texts.jsonl"
        rows.write_text("".join(json.dumps({"text": text}) + "\n" for text in [*WORDS, WORDS[0], "long " * 200]))
        settings = {"datasets": [{"path": str(rows), "ds_type": "json", "type": "completion", "field": "text"}],
                    "excess_length_strategy": "drop", **keys}
        return make_config(**settings), tokenizer

    return make


def rows_of(file, *more):
    home = {"XDG_CACHE_HOME": str(file.parent / "cache"), "RINGMASTER_PYTHON_ENV": os.environ.get("RINGMASTER_PYTHON_ENV", "")}
    done = run("rows", file, "--ranks", 4, "--device", "cpu", "--json", *more, env={k: v for k, v in home.items() if v})
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("kind", ["byte level", "sentence pieces"])
def test_every_row_reads_as_the_library_decodes_it(text_config, kind):
    file, tokenizer = text_config(kind)
    said = rows_of(file, "--n", 10)
    assert said["rows"] == 5 and said["has_text"]
    for row in said["shown"]:
        ids = [token for part in row["parts"] for token in part["ids"]]
        assert len(ids) == row["tokens"]
        assert row["text"] == tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
    assert said["shown"][0]["text"].startswith(WORDS[0])


def test_what_was_left_out_and_what_repeats(text_config):
    said = rows_of(text_config()[0])
    assert said["read"] == 6 and said["kept"] == 5 and said["lost"]["long"] == 1
    (lost,) = said["lost"]["examples"]
    assert lost["why"] == "long" and lost["tokens"] > 64 and "texts.jsonl" in lost["place"] and "6" in lost["place"]
    assert said["duplicates"] == {"rows": 1, "examples": [{"row": 5, "earlier": 1}]}
    assert sum(bin["rows"] for bin in said["lengths"]) == 5
    assert said["tokens_total"] == sum(row["tokens"] for row in rows_of(text_config()[0], "--n", 9)["shown"])


def test_words_are_found_in_either_case(text_config):
    file, _ = text_config()
    assert [row["row"] for row in rows_of(file, "--search", "FOX JUMPS", "--n", 9)["shown"]] == [1, 5]
    assert [row["row"] for row in rows_of(file, "--search", "漢字")["shown"]] == [2]
    assert rows_of(file, "--search", "nobody wrote this")["shown"] == []


def test_only_the_answer_is_trained(text_config, tmp_path):
    chats = tmp_path / "chats.jsonl"
    chats.write_text(json.dumps({"messages": [{"role": "user", "content": "Two and two?"}, {"role": "assistant", "content": "Four, of course."}]}))
    file, _ = text_config(datasets=[{"path": str(chats), "ds_type": "json", "type": "chat_template"}])
    (row,) = rows_of(file)["shown"]
    trained = "".join(part["text"] for part in row["parts"] if part["trained"])
    assert "Four, of course." in trained and "Two and two?" not in trained
    assert "Two and two?" in row["text"] and row["trained"] < row["tokens"]
    assert any(part["kind"] == "special" and "<|im_start|>" in part["text"] for part in row["parts"])


def test_a_row_is_where_the_contract_says(make_config):
    """Step s trains on rows [(s-1)·G, s·G); micro-batches are dealt to the groups in turn."""
    file = make_config(context_parallel_size=2, micro_batch_size=2, gradient_accumulation_steps=1)
    said = rows_of(file, "--n", 12)
    places = [(row["step"], tuple(row["ranks"])) for row in said["shown"]]
    assert places == [(1 + at // 4, (0, 1) if at % 4 < 2 else (2, 3)) for at in range(12)]
    assert not said["has_text"] and said["shown"][0]["text"].startswith("<0><1>")


def test_packed_rows_count_their_documents(make_config):
    said = rows_of(make_config(sample_packing=True), "--n", 9)
    assert said["packing"]["documents"] == 12 and said["shown"][0]["documents"] == 3
    assert said["shown"][0]["trained"] == 3 * 19  # the first token of each document is no label


def test_a_person_reads_marks_without_colour(text_config):
    file, _ = text_config()
    done = run("rows", file, "--n", 1, env={"XDG_CACHE_HOME": str(file.parent / "cache")})
    assert done.returncode == 0, done.stderr
    assert "\n    + he fox jumps over 7 lazy dogs." in done.stdout or "\n    + " in done.stdout
    assert "left out" in done.stdout or "dropped" in done.stdout
    assert "\033[" not in done.stdout


def test_a_broken_tokenizer_is_said(text_config, tmp_path):
    file, _ = text_config()
    rows_of(file)
    (tmp_path / "model/tokenizer.json").write_text("{]")
    done = run("rows", file, "--json", env={"XDG_CACHE_HOME": str(file.parent / "cache")})
    assert done.returncode != 0 and json.loads(done.stdout.splitlines()[-1])
