"""Defines the cases in which our tokens of preferences are compared with those of axolotl and TRL. A case is a combination of method, type,
template and option.

Its form is {"name", "tokenizer", "rl", "entry", "config", "rows"}. record_preference.py records the libraries' results; preference_test.py
compares ours."""

import hashlib
import json

from cases import SEQUENCE_LEN, talk

LONG = "It was happy, wasn't it? " * 12
# (question, chosen, rejected)
ASKED = [("Where is the fox?", "It jumps over 7 lazy dogs.\n\nŽluťoučký 漢字 🙂", "Nowhere, it leaps."), ("Count the dogs.", "7", "7 dogs"),
         ("jump", "s over", "ing"), ("Ends", "so</s>", "not so<|im_end|>"), (LONG, "Yes.", "No, " * 30), ("Long answers?", LONG, LONG[:60]),
         ("Spaces ", " kept ", "gone\n")]


def named(question, chosen="chosen", rejected="rejected", **more):
    return [{question: asked, chosen: one, rejected: other, **more} for asked, one, other in ASKED]


def conversations(system=None, **more):
    return [{"chosen": talk(asked, one, system=system), "rejected": talk(asked, other, system=system), **more} for asked, one, other in ASKED]


MORE_TURNS = [{"chosen": talk("Hi", "Hello", "Where?", "There."), "rejected": talk("Hi", "Hello", "Where?", "Nowhere.")}]
SYSTEM = {"system": "Be brief."}
PAIR_ROWS = {"default": [*named("input"), *named("question", "chosen_response", "rejected_response", **SYSTEM), *named("instruction", system="")],
             "argilla_chat": [*conversations(), *MORE_TURNS], "icr": [*named("input", **SYSTEM), *named("input")],
             "intel": [*named("question", **SYSTEM), *named("question", system=None)], "prompt_pairs": named("prompt", **SYSTEM),
             "ultra": [*conversations(prompt="Where is the fox?", **SYSTEM), *conversations(prompt="Count.")]}


def desired(question, **more):
    return [{question: asked, "completion": text, "label": kind, **more} for asked, *texts in ASKED for text, kind in zip(texts, (True, False), strict=True)]


CHATS = [{"completion": talk("Hi", "Hello", "Where?", text, system=system), "label": kind}
         for text, kind, system in (("There.", True, None), ("Nowhere", False, "Be brief."))]
KTO_ROWS = {"argilla": desired("instruction", **SYSTEM), "argilla_chat": CHATS, "intel": desired("question"), "prompt_pairs": desired("prompt", system=""),
            "ultra": desired("prompt", **SYSTEM)}
MESSAGES = [{"messages": talk(asked, system=system), "chosen": {"role": "assistant", "content": one}, "rejected": {"role": "assistant", "content": other}}
            for asked, one, other in ASKED for system in (None, "Be brief.")]
LISTED = [{"messages": asked, "chosen": talk(asked, one), "rejected": other} for asked, one, other in ASKED]
LISTED = [{**row, "chosen": row["chosen"][1:]} for row in LISTED]
MAPPED = [{"conversation": [{"from": "human", "value": asked}], "good": {"from": "gpt", "value": one}, "bad": [{"from": "gpt", "value": other}]}
          for asked, one, other in ASKED]
NAMES = {"field_messages": "conversation", "field_chosen": "good", "field_rejected": "bad", "message_property_mappings": {"role": "from", "content": "value"},
         "roles": {"user": ["human"], "assistant": ["gpt"]}}
NECTAR = [{"prompt": asked, "answers": [{"answer": one, "rank": 2.0}, {"answer": "x", "rank": 1.0}, {"answer": other, "rank": 3.0}]} for asked, one, other in ASKED]
OWN = {"fields": {"field_prompt": "q", "field_chosen": "good", "field_rejected": "bad"},
       "formats": {"field_prompt": "q", "field_chosen": "good", "field_rejected": "bad", "prompt_format": "[INST] {system}\n{prompt} [/INST]",
                   "chosen_format": "{chosen}</s>", "rejected_format": " {rejected}"}}
OWN_ROWS = [*named("q", "good", "bad"), *named("q", "good", "bad", **SYSTEM)]
OWN_KTO = {"field_prompt": "q", "field_completion": "text", "field_label": "good", "prompt_format": "[INST] {system}\n{prompt} [/INST]", "completion_format": "{completion}</s>"}
OWN_KTO_ROWS = [{"q": asked, "text": one, "good": True, **SYSTEM} for asked, one, _ in ASKED]
TEMPLATES = ("chatml", "llama3", "gemma3", "qwen_25", "mistral_v7_tekken", "phi_4", "alpaca")
TOKENIZERS = ("plain", "bos", "blocks")


def pair_cases(rl):
    for form in ("chatml", "llama3"):
        for kind, rows in PAIR_ROWS.items():
            for tokenizer in TOKENIZERS:
                yield case(f"{rl}/{form}.{kind}/{tokenizer}", rl, {"type": f"{form}.{kind}"}, {}, rows, tokenizer)
        yield case(f"{rl}/{form}", rl, {"type": form}, {}, PAIR_ROWS["default"])
        for strategy in ("drop", "truncate"):
            yield case(f"{rl}/{form}.intel/{strategy}", rl, {"type": f"{form}.intel"}, {"sequence_len": 48, "excess_length_strategy": strategy}, PAIR_ROWS["intel"], "bos")
    for template in TEMPLATES:
        base = {"type": "chat_template.default", "chat_template": template}
        for tokenizer in TOKENIZERS if template in ("chatml", "llama3") else ("bos",):
            yield case(f"{rl}/chat_template.default/{template}/{tokenizer}", rl, base, {}, MESSAGES + LISTED, tokenizer)
            yield case(f"{rl}/chat_template.argilla_chat/{template}/{tokenizer}", rl, {**base, "type": "chat_template.argilla_chat"}, {},
                       conversations() + conversations("Be brief.") + MORE_TURNS, tokenizer)
        yield case(f"{rl}/chat_template.default/{template}/mapped", rl, {**base, **NAMES}, {}, MAPPED)
        yield case(f"{rl}/chat_template.default/{template}/global", rl, {"type": "chat_template"}, {"chat_template": template}, MESSAGES)
    for tokenizer in TOKENIZERS:
        yield case(f"{rl}/zephyr.nectar/{tokenizer}", rl, {"type": "zephyr.nectar"}, {}, NECTAR, tokenizer)
        yield case(f"{rl}/passthrough/{tokenizer}", rl, {"type": "passthrough"}, {}, named("prompt"), tokenizer)
        for name, mapping in OWN.items():
            yield case(f"{rl}/own/{name}/{tokenizer}", rl, {"type": mapping}, {}, OWN_ROWS, tokenizer)
    for length in (8, 16, 24, 32, 33):
        for strategy in ("drop", "truncate"):
            yield case(f"{rl}/passthrough/{length}-{strategy}", rl, {"type": "passthrough"}, {"sequence_len": length, "excess_length_strategy": strategy},
                       named("prompt"), "bos")


def kto_cases():
    for form in ("chatml", "llama3"):
        for kind, rows in KTO_ROWS.items():
            for tokenizer in TOKENIZERS:
                yield case(f"kto/{form}.{kind}/{tokenizer}", "kto", {"type": f"{form}.{kind}"}, {}, rows, tokenizer)
        for strategy in ("drop", "truncate"):
            yield case(f"kto/{form}.intel/{strategy}", "kto", {"type": f"{form}.intel"}, {"sequence_len": 48, "excess_length_strategy": strategy}, KTO_ROWS["intel"], "bos")
    for tokenizer in TOKENIZERS:
        yield case(f"kto/own/{tokenizer}", "kto", {"type": OWN_KTO}, {}, OWN_KTO_ROWS, tokenizer)
        yield case(f"kto/own/none/{tokenizer}", "kto", {"type": {"field_prompt": "question"}}, {}, KTO_ROWS["intel"], tokenizer)


def orpo_cases():
    for template in TEMPLATES:
        for tokenizer in TOKENIZERS:
            rows = conversations() + conversations(**SYSTEM) + conversations(prompt="Where is the fox?") + MORE_TURNS
            yield case(f"orpo/chat_template.argilla/{template}/{tokenizer}", "orpo", {"type": "chat_template.argilla"}, {"chat_template": template}, rows, tokenizer)
        for strategy in ("drop", "truncate"):
            yield case(f"orpo/chat_template.argilla/{template}/{strategy}", "orpo", {"type": "chat_template.argilla"},
                       {"chat_template": template, "sequence_len": 40, "excess_length_strategy": strategy}, conversations(), "bos")


def reward_cases():
    rows = named("input", **SYSTEM) + named("input", system="")
    for template in TEMPLATES:
        base = {"type": "bradley_terry.chat_template", "chat_template": template}
        for tokenizer in TOKENIZERS:
            yield case(f"reward/bradley_terry.chat_template/{template}/{tokenizer}", "reward", base, {}, rows, tokenizer)
        yield case(f"reward/bradley_terry.chat_template/{template}/short", "reward", base, {"sequence_len": 40}, rows, "bos")
        yield case(f"reward/bradley_terry.chat_template/{template}/global", "reward", {**base, "chat_template": None, "drop_system_message": True},
                   {"chat_template": template}, rows)


def case(name, rl, entry, config, rows, tokenizer="plain"):
    return {"name": name, "tokenizer": tokenizer, "rl": rl, "entry": {"path": "rows.jsonl", **entry}, "config": {"sequence_len": SEQUENCE_LEN, **config},
            "rows": rows}


def all_cases():
    return [*pair_cases("dpo"), *pair_cases("simpo"), *kto_cases(), *orpo_cases(), *reward_cases()]


def fingerprint(documents, desirable):
    """Returns the recorded form of a row: the lengths and numbers of labels of its documents, and a hash of the documents and of the row's
    label."""
    plain = [[list(map(int, ids)), list(map(int, labels))] for ids, labels in documents]
    said = hashlib.sha256(json.dumps([plain, desirable]).encode()).hexdigest()[:16]
    return [*([len(ids), sum(label != -100 for label in labels)] for ids, labels in plain), said]
