"""Defines the cases of `tokenizer_use_mistral_common`, with a small tekken.json file of each version that mistral-common
distinguishes."""

import hashlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

from cases import (ALPACA, DETAILED, FLAGGED, HUMANS, PARTS, SYSTEM, TALKS, THOUGHTFUL, TOOLED, case, make_tokenizers,
                   pairs, talk)  # noqa: E402
from tekken import tekken  # noqa: E402

VERSIONS = ("v3", "v7", "v11", "v13", "v15")


def learnt_merges(folder):
    """Returns the merged pieces of cases.py's byte-level tokenizer, as bytes in order."""
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    letters = {letter: byte for byte, letter in bytes_to_unicode().items()}
    backend = json.loads(make_tokenizers(folder)["plain"].backend_tokenizer.to_str())["model"]
    return [bytes(letters[letter] for piece in pair for letter in piece) for pair in backend["merges"]]


def make_tekkens(folder):
    """Returns {version: the folder of a tekken.json}; version 13 describes images as well, which texts do not need."""
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [piece for piece in dict.fromkeys(learnt_merges(folder)) if len(piece) > 1]
    made = {}
    for version in VERSIONS:
        content = tekken(tokens, version)
        if version == "v13":
            content["image"] = {"image_patch_size": 14, "max_image_size": 1540, "spatial_merge_size": 2}
        if version == "v15":
            content["model_settings_builder"] = {"reasoning_effort": {"values": ["none", "high"], "accepts_none": True, "default": "none"}}
        made[version] = Path(folder) / f"tekken-{version}"
        made[version].mkdir(exist_ok=True)
        (made[version] / "tekken.json").write_text(json.dumps(content), encoding="utf-8")
    return made


def digest_of(folder):
    return hashlib.sha256((folder / "tekken.json").read_bytes()).hexdigest()[:16]


LAST_IS_USER = [{"messages": talk("Hi", "Ho", "More?")}]
CHAT = {
    "default": ({}, {}, TALKS), "inputs": ({}, {"train_on_inputs": True}, TALKS), "eos-all": ({"train_on_eos": "all"}, {}, TALKS),
    "eos-last": ({"train_on_eos": "last"}, {}, TALKS), "eos-none": ({"train_on_eos": "none"}, {}, TALKS),
    "both-roles": ({"roles_to_train": ["user", "assistant"]}, {}, TALKS), "no-roles": ({"roles_to_train": []}, {}, TALKS),
    "no-system": ({"drop_system_message": True}, {}, TALKS), "eot": ({"train_on_eot": "last"}, {"eot_tokens": ["[/INST]"]}, TALKS),
    "tools": ({}, {}, TOOLED), "tools-all": ({"train_on_eos": "all"}, {}, TOOLED), "thoughts": ({}, {}, THOUGHTFUL),
    "parts": ({}, {}, PARTS), "flags": ({"message_field_training": "learn"}, {}, FLAGGED),
    "detail": ({"message_field_training_detail": "detail"}, {}, DETAILED), "refused": ({}, {}, LAST_IS_USER),
    "mapped": ({"field_messages": "conversations", "message_property_mappings": {"role": "from", "content": "value"}}, {}, HUMANS),
    "roles": ({"field_messages": "conversations", "message_property_mappings": {"role": "from", "content": "value"},
               "roles": {"assistant": ["bot", "gpt"], "user": ["client", "human"]}}, {}, HUMANS),
}
OTHERS = {"alpaca": ALPACA, "alpaca_w_system": SYSTEM, "alpaca_chat.load_qa": pairs("question", None, "answer"),
          "metharme": pairs("prompt", None, "generation"),
          "completion": [{"text": text} for text in ("The fox jumps.", "It was happy, " * 40, "ends</s>", "Žluť 漢字 🙂")],
          "input_output": [{"segments": [{"label": False, "text": "<s>Hello\n"}, {"label": True, "text": "hi there!. </s>"}]}]}


def all_cases():
    on = {"tokenizer_use_mistral_common": True}
    for version in VERSIONS:
        for name, (entry, config, rows) in CHAT.items():
            yield case(f"mistral-common/{version}/{name}", {"type": "chat_template", **entry}, {**on, **config}, rows, version)
        if version == "v15":
            kwargs = {"chat_template_kwargs": {"reasoning_effort": "high"}}
            yield case("mistral-common/v15/effort", {"type": "chat_template"}, {**on, **kwargs}, TALKS, version)
        for kind, rows in OTHERS.items():
            yield case(f"mistral-common/{version}/{kind}", {"type": kind}, on, rows, version)
            yield case(f"mistral-common/{version}/{kind}/inputs", {"type": kind}, {**on, "train_on_inputs": True}, rows, version)
        own = {"field_instruction": "instruction", "field_output": "output", "format": "[INST] {instruction} [/INST]"}
        yield case(f"mistral-common/{version}/own", {"type": own}, on, ALPACA, version)
        yield case(f"mistral-common/{version}/short", {"type": "alpaca"}, {**on, "sequence_len": 24}, ALPACA, version)
