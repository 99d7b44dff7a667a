"""Tests added tokens: the tokenizer has them, the model's tables have a row for each, and the old rows keep every
bit."""

import json

import pytest
import torch
from conftest import Answer, make_tokenizer, run_forked, write_lines
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM, PhiConfig, PhiForCausalLM


@pytest.fixture(params=[False, True], ids=["own-head", "tied"])
def base(request, tmp_path):
    tokenizer = make_tokenizer(tmp_path / "base")
    torch.manual_seed(3)
    LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
                                 num_key_value_heads=2, tie_word_embeddings=request.param)).save_pretrained(tmp_path / "base")
    return tmp_path / "base"


def grow(base, special=None, **options):
    asked = {"model_dir": str(base), "tokenizer": str(base), "special_tokens": special or {}, "tokenization": options, "seed": 7}
    asked |= {key: options.pop(key) for key in ("adapter", "modules_to_save") if key in options}
    (base.parent / "grow.json").write_text(json.dumps(asked))
    return Answer(*run_forked(["--grow-model", base.parent / "grow.json", "--to", base.parent / "run"]))


def weights(folder):
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).state_dict()


def test_new_tokens_are_single_and_have_rows_of_their_own(base):
    before = weights(base)
    answer = grow(base, {"pad_token": "[PAD]", "additional_special_tokens": ["<more>"]}, tokens=["<|new|>"])
    tokenizer, after = AutoTokenizer.from_pretrained(answer.result["tokenizer"]), weights(answer.result["model_dir"])
    old = len(before["model.embed_tokens.weight"])
    assert [tokenizer.encode(text, add_special_tokens=False) for text in ("[PAD]", "<|new|>", "<more>")] == [[old], [old + 1], [old + 2]]
    assert tokenizer.pad_token == "[PAD]" and answer.result["vocab_size"] == old + 3
    for name, tensor in before.items():
        assert torch.equal(after[name][: len(tensor)], tensor), name
    assert after["lm_head.weight"].shape == after["model.embed_tokens.weight"].shape == (old + 3, 32)


def test_rows_come_in_multiples_of_32_and_are_drawn_as_transformers_draws_them(base):
    answer = grow(base, tokens=["<|new|>"], resize_token_embeddings_to_32x=True, mean_resizing_embeddings=True)
    rows = answer.result["vocab_size"]
    assert rows % 32 == 0 and json.loads((base.parent / "run" / "model" / "config.json").read_text())["vocab_size"] == rows
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    old = model.config.vocab_size
    mean = model.get_input_embeddings().weight.mean(0)
    grown = weights(answer.result["model_dir"])["model.embed_tokens.weight"][old:]
    assert torch.allclose(grown, mean.expand_as(grown), atol=1e-3)
    random = grow(base, tokens=["<|new|>"], resize_token_embeddings_to_32x=True)
    drawn = weights(random.result["model_dir"])["model.embed_tokens.weight"][old:]
    assert drawn.std().item() == pytest.approx(model.config.initializer_range, rel=0.2) and not torch.allclose(drawn, grown, atol=1e-3)


def test_a_heads_bias_gets_a_number_for_each_new_row(tmp_path):
    old = len(make_tokenizer(tmp_path / "base"))
    model = PhiForCausalLM(PhiConfig(vocab_size=old, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2))
    torch.nn.init.normal_(model.lm_head.bias)
    model.save_pretrained(tmp_path / "base")
    before, after = weights(tmp_path / "base"), weights(grow(tmp_path / "base", tokens=["<|new|>"]).result["model_dir"])
    assert after["lm_head.bias"].shape == (old + 1,)
    for name in ("lm_head.bias", "lm_head.weight", "model.embed_tokens.weight"):
        assert torch.equal(after[name][:old], before[name]), name


def test_the_seed_decides_the_new_rows(base):
    first = weights(grow(base, tokens=["<|new|>"]).result["model_dir"])
    again = weights(grow(base, tokens=["<|new|>"]).result["model_dir"])
    assert all(torch.equal(first[name], again[name]) for name in first)


def test_a_reserved_token_gets_another_text(base):
    number = AutoTokenizer.from_pretrained(base).convert_tokens_to_ids("<|im_start|>")
    answer = grow(base, added_tokens_overrides={str(number): "<|turn|>"})
    tokenizer = AutoTokenizer.from_pretrained(answer.result["tokenizer"])
    assert tokenizer.encode("<|turn|>", add_special_tokens=False) == [number] and answer.result["model_dir"] == ""
    assert len(tokenizer.encode("<|im_start|>", add_special_tokens=False)) > 1
    wrong = grow(base, added_tokens_overrides={"300": "<x>"})
    assert wrong.status == 1 and wrong.failure["where"] == "added_tokens_overrides.300"


def test_an_adapter_has_to_save_grown_embeddings(base):
    refused = grow(base, tokens=["<|new|>"], adapter=True)
    assert refused.status == 1 and refused.failure["where"] == "lora_modules_to_save"
    assert grow(base, tokens=["<|new|>"], adapter=True, modules_to_save=["embed_tokens", "lm_head"]).status == 0


def test_rows_are_tokenized_with_the_added_tokens(base, tokenize, tmp_path):
    grown = grow(base, tokens=["<|new|>"]).result
    path = write_lines(tmp_path / "a.jsonl", [{"text": "a<|new|>b"}])
    answer = tokenize(tokenizer=grown["tokenizer"], vocab_size=grown["vocab_size"], tokenization={"tokens": ["<|new|>"]},
                      datasets=[{"path": path, "type": "completion"}])
    assert grown["vocab_size"] - 1 in answer.rows()[0][0]
