"""Compares `ringmaster rows` with the tokenizers library and the data that the rows were made from."""

import json
import pathlib

import pytest
from conftest import MODEL, run

WORDS = ["The fox jumps over 7 lazy dogs.", "Žluťoučký kůň — 漢字 🙂", "def f(x):\n\treturn  x + 1\n", "A cat, a cat; a CAT!"]
SPECIAL = ["<s>", "</s>", "<|im_start|>", "<|im_end|>"]
CHATML = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"


def make_tokenizer(folder, kind):
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    if kind == "byte level":
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
        tokenizer.train_from_iterator(WORDS, trainers.BpeTrainer(
            vocab_size=600, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    else:  # Llama 2 writes spaces as ▁, and letters outside its vocabulary as bytes
        pieces = [*SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256)), *"▁abcdefghijklmnopqrstuvwxyzTAC.,;!:()+1x7", "<0xZZ>"]
        tokenizer = Tokenizer(models.BPE(vocab={piece: at for at, piece in enumerate(dict.fromkeys(pieces))}, merges=[],
                                         byte_fallback=True, unk_token="<s>"))
        tokenizer.normalizer = normalizers.Replace(" ", "▁")
        tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
        tokenizer.add_special_tokens(SPECIAL)
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>", "chat_template": CHATML}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "config.json").write_text(json.dumps({**MODEL, "vocab_size": tokenizer.get_vocab_size()}))
    return tokenizer


@pytest.fixture
def token_config(make_config, tmp_path):
    """Writes rows of tokens, so that no tokenizer has to be loaded: a start token, then the text, whose
    second half is trained."""

    def make(kind="byte level", texts=(*WORDS, WORDS[0], "long " * 200), **keys):
        tokenizer = make_tokenizer(tmp_path / "model", kind)
        rows = tmp_path / "rows.jsonl"
        with rows.open("w") as file:
            for text in texts:
                ids = [0, *tokenizer.encode(text).ids, 1]
                file.write(json.dumps({"input_ids": ids, "labels": [-100] * (len(ids) // 2) + ids[len(ids) // 2:]}) + "\n")
        return make_config(**{"excess_length_strategy": "drop", "sequence_len": 128, **keys}), tokenizer

    return make


def ask(file, *more):
    return run("rows", file, "--ranks", 4, "--device", "cpu", *more, env={"XDG_CACHE_HOME": str(file.parent / "cache")})


def rows_of(file, *more):
    done = ask(file, "--json", *more)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("kind", ["byte level", "sentence pieces"])
def test_every_row_reads_as_the_library_decodes_it(token_config, kind):
    file, tokenizer = token_config(kind)
    said = rows_of(file, "--n", 10)
    assert said["rows"] == 5 and said["has_text"]
    for row, written in zip(said["shown"], [*WORDS, WORDS[0]], strict=True):
        ids = [token for part in row["parts"] for token in part["ids"]]
        assert len(ids) == row["tokens"] and row["trained"] == len(ids) - len(ids) // 2
        assert row["text"] == tokenizer.decode(ids, skip_special_tokens=False) == f"<s>{written}</s>"
        assert [part["kind"] for part in row["parts"]] == ["special", "masked", "trained", "special"]
        assert [part["trained"] for part in row["parts"]] == [False, False, True, True]


def test_what_was_left_out_and_what_repeats(token_config):
    file, _ = token_config()
    said = rows_of(file, "--n", 9)
    assert said["read"] == 6 and said["kept"] == 5 and said["lost"]["long"] == 1
    (lost,) = said["lost"]["examples"]
    assert lost["why"] == "long" and lost["tokens"] > 128 and lost["place"].endswith("rows.jsonl, line 6")
    assert said["duplicates"] == {"rows": 1, "examples": [{"row": 5, "earlier": 1}]}
    for report, longest in [(said, 128), (rows_of(file, "--set", "sequence_len=121", "--n", 9), 121)]:
        bins = report["lengths"]
        assert [bin["from"] for bin in bins] == [1, *(bin["to"] + 1 for bin in bins[:-1])] and bins[-1]["to"] == longest
        for bin in bins:
            assert bin["from"] <= bin["to"]
            assert bin["rows"] == sum(bin["from"] <= row["tokens"] <= bin["to"] for row in report["shown"])
    assert said["tokens_total"] == sum(row["tokens"] for row in said["shown"])
    cut = rows_of(file, "--set", "excess_length_strategy=truncate", "--from", 6)
    assert cut["lost"]["cut"] == 1 and cut["lost"]["examples"][0]["why"] == "cut" and cut["shown"][0]["tokens"] == 128


def test_words_are_found_in_either_case(token_config):
    file, _ = token_config()
    assert [row["row"] for row in rows_of(file, "--search", "FOX JUMPS", "--n", 9)["shown"]] == [1, 5]
    assert [row["row"] for row in rows_of(file, "--search", "漢字")["shown"]] == [2]
    assert ask(file, "--search", "nobody wrote this").returncode == 1


def test_only_the_answer_of_a_chat_is_trained(token_config, tmp_path):
    chats = tmp_path / "chats.jsonl"
    turns = [{"role": "user", "content": "Two and two?"}, {"role": "assistant", "content": "Four, of course."}]
    chats.write_text(json.dumps({"messages": turns}))
    file, _ = token_config(datasets=[{"path": str(chats), "ds_type": "json", "type": "chat_template"}])
    (row,) = rows_of(file)["shown"]
    assert row["text"] == "".join(f"<|im_start|>{turn['role']}\n{turn['content']}<|im_end|>\n" for turn in turns)
    trained = "".join(part["text"] for part in row["parts"] if part["trained"])
    assert "Four, of course." in trained and "Two and two?" not in trained and row["trained"] < row["tokens"]
    assert any(part["kind"] == "special" and part["text"] == "<|im_start|>" for part in row["parts"])


def test_a_row_is_trained_where_the_contract_says(make_config):
    """Tests that step s trains on rows [(s-1)·G, s·G), and that micro-batches are dealt to the groups in turn."""
    said = rows_of(make_config(context_parallel_size=2, micro_batch_size=2, gradient_accumulation_steps=1), "--n", 12)
    places = [(row["step"], tuple(row["ranks"])) for row in said["shown"]]
    assert places == [(1 + at // 4, (0, 1) if at % 4 < 2 else (2, 3)) for at in range(12)]
    assert not said["has_text"] and said["shown"][0]["text"].startswith("<0><1>")


def test_packed_rows_count_their_documents(make_config):
    said = rows_of(make_config(sample_packing=True), "--n", 9)
    assert said["packing"]["documents"] == 12 and said["shown"][0]["documents"] == 3
    assert said["shown"][0]["trained"] == 3 * 19  # the first token of a document is never a label


def test_a_person_reads_marks_without_colour_and_no_control_letters(token_config):
    file, _ = token_config(texts=["calm \x1b[31mred\x07 words", "more " * 200])
    done = ask(file, "--n", 1)
    assert done.returncode == 0, done.stderr
    assert "\n    * <s>" in done.stdout and "\n    - " in done.stdout and "\n    + " in done.stdout
    assert "rows.jsonl, line 2: " in done.stdout and "dropped: longer than sequence_len" in done.stdout
    assert not set(done.stdout) & {"\x1b", "\x07"}


@pytest.mark.parametrize("text", ["{]", "[]", '{"model":{"vocab":{"a":-1}}}', '{"model":{"vocab":{"a":99999999999}}}', '{"decoder":' + "[" * 100_000])
def test_a_damaged_tokenizer_is_said(token_config, tmp_path, text):
    file, _ = token_config()
    (tmp_path / "model/tokenizer.json").write_text(text)
    done = ask(file, "--json")
    assert done.returncode == 1 and json.loads(done.stdout)["diagnostics"][0]["code"] == "FILE-DAMAGED"


def test_arguments_that_name_no_row_are_refused(make_config):
    file = make_config()
    for arguments in (("--from", 13), ("--from", 0), ("--n", -1), ("--search", "")):
        assert ask(file, *arguments).returncode == 2, arguments
    assert ask(file.parent / "none.yaml").returncode == 2


def test_a_named_revision_is_planned_shown_and_trained(tmp_path):
    """The hub's cache holds two revisions that differ in depth and tokenizer; main is the other one. The plan
    has a built-in shape for a model of this name."""
    kept = tmp_path / "hf/hub/models--NousResearch--Meta-Llama-3-8B"
    (kept / "refs").mkdir(parents=True)
    for name, commit, layers, kind in (("v1", "a" * 40, 3, "byte level"), ("main", "b" * 40, 2, "sentence pieces")):
        snapshot = kept / "snapshots" / commit
        snapshot.mkdir(parents=True)
        make_tokenizer(snapshot, kind)
        shape = json.loads((snapshot / "config.json").read_text())
        (snapshot / "config.json").write_text(json.dumps({**shape, "num_hidden_layers": layers}))
        (kept / "refs" / name).write_text(commit)
    (tmp_path / "rows.jsonl").write_text('{"text": "x + 1 fox"}\n' * 8)
    file = tmp_path / "named.yaml"
    file.write_text(json.dumps({
        "base_model": "NousResearch/Meta-Llama-3-8B", "revision_of_model": "v1", "reinit_weights": True, "sequence_len": 64,
        "datasets": [{"path": str(tmp_path / "rows.jsonl"), "ds_type": "json", "type": "completion"}], "micro_batch_size": 1,
        "gradient_accumulation_steps": 1, "max_steps": 1, "learning_rate": 1e-3, "output_dir": str(tmp_path / "out")}))
    env = {"HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1", "XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_DATA_HOME": str(tmp_path / "data")}

    def said(*words):
        done = run(*words, "--ranks", 1, "--device", "cpu", "--json", env=env)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    assert said("plan", file)["model"]["num_layers"] == 3
    assert said("plan", file, "--set", "revision_of_model=main")["model"]["num_layers"] == 2
    assert "x + 1 fox" in said("rows", file, "--n", 1)["shown"][0]["text"]
    prepared = run("prepare", file, "--ranks", 1, "--device", "cpu", env=env)
    assert prepared.returncode == 0, prepared.stdout + prepared.stderr
    plan = json.loads((pathlib.Path(prepared.stdout.split()[-1]) / "plan.json").read_text())
    assert plan["config"]["model_dir"].endswith("a" * 40) and plan["model"]["num_layers"] == 3
    absent = run("prepare", file, "--ranks", 1, "--device", "cpu", "--set", "revision_of_model=v9", env=env)
    assert absent.returncode != 0 and "NousResearch/Meta-Llama-3-8B" in absent.stderr


def test_prompts_that_answers_of_a_row_share_are_counted(make_config, tmp_path):
    make_tokenizer(tmp_path / "model", "byte level")
    pair = {f"{name}_{key}": ([7] * 9 if key == "input_ids" else [-100] * 9) + [answer]
            for name, answer in (("chosen", 8), ("rejected", 9)) for key in ("input_ids", "labels")}
    (tmp_path / "rows.jsonl").write_text(json.dumps(pair) + "\n")
    file = make_config(sequence_len=128, rl="dpo")
    found = rows_of(file)
    assert found["shared_prompts"] == {"tokens": pytest.approx(12 / 20), "cells": pytest.approx((2 * 55 - 36) / (2 * 55))}
    assert "answers of a row share their prompt: 40 % of the tokens are not computed again" in ask(file).stdout


def test_rows_that_come_while_a_run_trains_are_said_to_be_no_rows_yet(make_config):
    done = run("rows", make_config(datasets=None, rl="grpo", trl={"rollout_folder": "incoming"}, max_steps=3), "--json")
    said = json.loads(done.stdout)["diagnostics"][0]
    assert done.returncode == 1 and said["code"] == "ROLLOUT-FOLDER" and "come while the run trains" in said["message"]
