"""Compares the text that `ringmaster generate` writes with transformers' and PEFT's: folders, adapters and runs."""

import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from ringmaster_runs import launch, make_config, make_model, ringmaster

TEMPLATE = "{% for message in messages %}<{{ message['role'] }}>{{ message['content'] }}{% endfor %}{% if add_generation_prompt %}<answer>{% endif %}"
PROMPTS = ["Once upon a time", "def größe(x):\n    return", "日本語 and 🦊 foxes"]


def make_tokenizer(folder):
    """Saves a byte-level BPE tokenizer, whose tokens may end within a character."""
    import tokenizers
    import transformers

    made = tokenizers.ByteLevelBPETokenizer()
    made.train_from_iterator(PROMPTS * 3, vocab_size=290, special_tokens=["<end>"], show_progress=False)
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=made._tokenizer, eos_token="<end>")
    made.chat_template = TEMPLATE
    made.save_pretrained(folder)
    return made


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = make_model(tmp_path_factory.mktemp("base") / "model", "llama", vocab_size=290)
    make_tokenizer(folder)
    return folder


def generated(*arguments):
    lines = [json.loads(line) for line in ringmaster("generate", *arguments, "--json").stdout.splitlines()]
    streamed = {}
    for line in lines:
        if line["type"] == "token":
            streamed.setdefault((line["model"], line["prompt"]), []).append(line["text"])
    found = {(line["model"], line["prompt"]): line["text"] for line in lines if line["type"] == "completion"}
    assert all(text.startswith("".join(streamed[key])) for key, text in found.items())
    return found


def text_of_transformers(folder, prompt, adapter=None, tokens=24):
    """Returns the greedy text after the prompt."""
    import peft
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    if adapter:
        model = peft.PeftModel.from_pretrained(model, adapter)
    ids = tokenizer(prompt, return_tensors="pt")
    with torch.no_grad():
        made = model.eval().generate(**ids, max_new_tokens=tokens, do_sample=False, pad_token_id=0)[0]
    return tokenizer.decode(made[ids["input_ids"].shape[1]:], skip_special_tokens=True, clean_up_tokenization_spaces=False)


def test_a_folder_an_adapter_and_a_run(tmp_path, base):
    import peft
    import torch
    import transformers

    prompts = [word for prompt in PROMPTS for word in ("--prompt", prompt)]
    found = generated(base, *prompts, "--max-new-tokens", 24)
    assert found == {("trained", index): text_of_transformers(base, prompt) for index, prompt in enumerate(PROMPTS)}

    model = transformers.AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    model = peft.get_peft_model(model, peft.LoraConfig(r=4, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM", init_lora_weights=False))
    model.save_pretrained(tmp_path / "adapter")
    found = generated(tmp_path / "adapter", *prompts[:2], "--max-new-tokens", 24, "--base", base, "--compare")
    assert found == {("base", 0): text_of_transformers(base, PROMPTS[0]),
                     ("trained", 0): text_of_transformers(base, PROMPTS[0], tmp_path / "adapter")}

    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"text": prompt * 3}) + "\n" for prompt in PROMPTS))
    config = make_config(tmp_path, base, tmp_path / "rows.jsonl", max_steps=3, warmup_steps=0, learning_rate=0.02,
                         datasets=[{"path": str(tmp_path / "rows.jsonl"), "ds_type": "json", "type": "completion"}])
    run = launch(config, tmp_path / "runs", "--ranks", 1)
    found = generated(run, *prompts[:2], "--max-new-tokens", 24, "--compare")
    assert found == {("base", 0): text_of_transformers(base, PROMPTS[0]), ("trained", 0): text_of_transformers(tmp_path / "out", PROMPTS[0])}
    assert found["base", 0] != found["trained", 0]


def test_chat_terminal_and_refusals(tmp_path, base):
    chat = generated(base, "--chat", "--prompt", "Hi", "--max-new-tokens", 8)
    assert chat == {("trained", 0): text_of_transformers(base, "<user>Hi<answer>", tokens=8)}
    shown = ringmaster("generate", base, "--prompt", PROMPTS[0], "--max-new-tokens", 24)
    assert shown.stdout == PROMPTS[0] + text_of_transformers(base, PROMPTS[0]) + "\n"
    drawn = [generated(base, "--prompt", "a", "--max-new-tokens", 24, "--temperature", 1.5, "--seed", seed) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    for words, code, status in [
        ([base], "ARGUMENT-MISSING", 2),
        ([base, "--prompt", "a", "--top-p", 2], "ARGUMENT-VALUE", 2),
        ([base, "--prompt", ""], "GENERATE-PROMPT", 1),
        ([base, "--prompt", "a" * 2000], "GENERATE-PROMPT", 1),
    ]:
        done = ringmaster("generate", *words, "--json", check=False)
        error = json.loads(done.stdout)
        assert (error["type"], error["finding"]["code"], done.returncode) == ("error", code, status), done.stdout + done.stderr
    (tmp_path / "config.json").write_text("{}")
    done = ringmaster("generate", tmp_path, "--prompt", "a", "--json", check=False)
    assert json.loads(done.stdout)["finding"]["code"] == "GENERATE-MODEL" and done.returncode == 2
