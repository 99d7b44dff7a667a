"""Encodes type: sharegpt, which axolotl had until its version 0.5: conversations in FastChat's forms, named by `conversation`. Every
turn is tokenized by itself. The forms are in templates/conversations.json."""

import json
import re
from functools import cache
from typing import NamedTuple

from .chat_template import FOLDER
from .encoders import IGNORED, check_text
from .report import Failure
from .talks import Texts, example, list_of

CHATML = {"system_template": "<|im_start|>system\n{system_message}", "style": "CHATML", "sep": "<|im_end|>", "sep2": None}
# Conversation styles that axolotl adds to FastChat's. `default_system_message` replaces their system message.
OWN = {
    "chatml": {**CHATML, "roles": ["<|im_start|>user", "<|im_start|>assistant"]},
    "chatml_glaive": {**CHATML, "roles": ["<|im_start|>user", "<|im_start|>assistant", "<|im_start|>tool"]},
    "llama3": {"system_template": "<|start_header_id|>system<|end_header_id|>\n\n{system_message}<|eot_id|>", "style": "LLAMA3", "sep": "",
               "sep2": None, "roles": ["user", "assistant"]},
}
OTHER_ROLES = {"chatml": "<|im_start|>{}", "zephyr": "<|{}|>", "vicuna_v1.1": "{}", "llama3": "{}"}
SPEAKERS = {"user": "human", "human": "human", "assistant": "gpt", "gpt": "gpt", "system": "system"}
GLAIVE = {"USER": "human", "ASSISTANT": "gpt", "FUNCTION RESPONSE": "tool"}


class Settings(NamedTuple):
    """The settings of one dataset entry, with their defaults."""

    kind: str
    name: str
    form: dict
    messages: str
    strict: bool
    speakers: dict  # speaker in the rows → role in the form
    input_roles: set
    output_roles: set
    train_on_inputs: bool


@cache
def forms():
    return json.loads((FOLDER / "conversations.json").read_text(encoding="utf-8"))


def settings_of(entry, key, options):
    kind = entry["type"]
    name = entry.get("conversation") or ("chatml_glaive" if kind.endswith("load_glaive") else "vicuna_v1.1")
    form = forms().get(name)
    if name in OWN:
        wanted = options.get("chat_template") == ("llama3" if name == "llama3" else "chatml")
        message = options.get("default_system_message") if wanted else None
        form = {**OWN[name], "system_message": message or "You are a helpful assistant."}
    if form is None:
        raise Failure(f"conversation {name} is not known", f"{key}.conversation", f"known: {', '.join(sorted([*forms(), *OWN]))}")
    roles, more = form["roles"], entry.get("roles") or {}
    return Settings(kind, name, form, entry.get("field_messages") or "conversations", bool(entry.get("strict")),
                    {entry.get("field_human") or "human": roles[0], entry.get("field_model") or "gpt": roles[1]},
                    {roles[0], *roles[2:3], *(more.get("input") or ())}, {roles[1], *(more.get("output") or ())},
                    bool(options.get("train_on_inputs")))


def sharegpt(rows, settings, tokenizer, sequence_len):
    encode = Texts(tokenizer, sequence_len)
    ends_itself = settings.name == "chatml" and settings.form["sep"] == tokenizer.eos_token
    for row in rows:
        ids, labels = [], []
        for role, text, weight in weighted_turns(row, settings):
            found, trained = turn_tokens(role, text, weight, row, settings, encode, not ends_itself)
            ids += found
            labels += trained
        yield example(row.place, ids, labels)


def turn_tokens(role, text, weight, row, settings, encode, add_eos):
    """Returns (ids, labels) of a turn; turns of other speakers are left out, as in axolotl."""
    names = row.values.get("roles") if settings.name == "vicuna_v1.1" else None
    told = dict(zip(settings.form["roles"][:2], names)) if isinstance(names, list) and len(names) >= 2 else {}
    if any(name.lower() in role.lower() for name in settings.input_roles):
        ids = encode(role.replace(*next(iter(told.items()), ("", ""))) + text if told else role + text, False, True)
        return ids, ids if settings.train_on_inputs and weight == 1 else [IGNORED] * len(ids)
    if any(name.lower() in role.lower() for name in settings.output_roles):
        role = role.replace(*list(told.items())[1]) if told else role
        ids = encode(role + text, add_eos, True)
        if weight == 0:
            return ids, [IGNORED] * len(ids)
        hidden = 0 if settings.train_on_inputs else min(len(encode(role.rstrip(), False, True)), len(ids))
        return ids, [IGNORED] * hidden + ids[hidden:]
    if role.strip() == "":
        ids = encode(text, False, False)
        return ids, ids if settings.train_on_inputs and weight == 1 else [IGNORED] * len(ids)
    return [], []


def weighted_turns(row, settings):
    """Returns [(role, text, weight)]; the role is formatted by the conversation template."""
    said = thread_of(row, settings)
    if len(said) < 2:
        raise Failure("the conversation has fewer than two turns", str(row.place))
    for message in said:
        check_text(message["value"], "value", row.place)
    system, rest = settings.form["system_message"], said
    if said[0]["from"] == "system":
        system, rest = said[0]["value"], said[1:]
    if rest[0]["from"] not in settings.speakers:
        rest = rest[1:]
    messages = [[role_of(message["from"], settings, row), message["value"]] for message in rest]
    turns = list(formed(settings, system, messages, row))
    if len(turns) not in range(len(said) - 1, len(said) + 2):
        raise Failure(f"{len(said)} messages became {len(turns)} turns", str(row.place), "the first message has to be the person's or the system's")
    weights = [1 if message.get("weight") is None else message["weight"] for message in said]
    if len(turns) == len(said) + 1:
        weights = [1, *weights]
    elif len(turns) == len(said) - 1:
        weights = weights[1:]
    return [(role, text, weight) for (role, text), weight in zip(turns, weights, strict=True)]


def role_of(speaker, settings, row):
    if speaker in settings.speakers:
        return settings.speakers[speaker]
    if settings.name not in OTHER_ROLES:
        raise Failure(f"{speaker!r} is neither {' nor '.join(settings.speakers)}, and conversation {settings.name} has no form for others",
                      str(row.place))
    return OTHER_ROLES[settings.name].format(speaker)


def thread_of(row, settings):
    if settings.kind == "sharegpt.load_glaive":
        return glaive(row)
    if settings.kind == "sharegpt.load_ultrachat":
        return renamed(row, "messages", "role", "content", {"user": "human", "assistant": "gpt"})
    if settings.kind == "sharegpt.load_guanaco":
        return renamed(row, "conversations", "role", "text", {"prompter": "human", "assistant": "gpt"})
    if settings.kind == "sharegpt.load_role":
        return renamed(row, "conversations", "role", "value", None)
    messages = list_of(row, settings.messages)
    if settings.strict:
        return list_of(row, settings.messages, "from", "value")
    first = messages[0] if messages and isinstance(messages[0], dict) else {}
    speaker = "role" if "role" in first else "from"
    text = next((name for name in ("text", "content") if name in first), "value")
    # The last version of axolotl with this type renamed the speakers that field_human and
    # field_model name, and then left their turns out by mistake. As in axolotl 0.4.0, these
    # speakers keep their names.
    return [{"from": said if said in settings.speakers else SPEAKERS.get(said, said), "value": message[text], "weight": message.get("weight")}
            for message in list_of(row, settings.messages, speaker, text) for said in [message[speaker]]]


def renamed(row, name, speaker, text, speakers):
    messages = list_of(row, name, speaker, text)
    unknown = next((message[speaker] for message in messages if speakers and message[speaker] not in speakers), None)
    if unknown is not None:
        raise Failure(f"role {unknown!r} is none of {', '.join(speakers)}", str(row.place))
    return [{"from": speakers[message[speaker]] if speakers else message[speaker], "value": message[text]} for message in messages]


def glaive(row):
    """Returns the turns of a chat that is one text, marked by USER, ASSISTANT and FUNCTION RESPONSE; joins turns of one speaker."""
    chat = row.values.get("chat")
    if not isinstance(chat, str):
        raise Failure("the row has no text in field 'chat'", str(row.place))
    parts = [part.strip() for part in re.split(rf"({'|'.join(GLAIVE)}): ", chat) if part]
    system = str(row.values.get("system") or "").removeprefix("SYSTEM: ")
    joined = [{"from": "system", "value": system}] if system else []
    for speaker, text in zip(parts[::2], parts[1::2]):
        if speaker not in GLAIVE:
            raise Failure("the chat does not begin with USER, ASSISTANT or FUNCTION RESPONSE", str(row.place))
        if joined and joined[-1]["from"] == GLAIVE[speaker]:
            joined[-1]["value"] += text
        else:
            joined.append({"from": GLAIVE[speaker], "value": text})
    return joined


def formed(settings, system, messages, row):
    """Yields (role, text) of each turn in the conversation's form; the first may be the system's, without a role."""
    form, style = settings.form, settings.form["style"]
    prompt, sep = form["system_template"].format(system_message=system), form["sep"]
    seps = [sep, form["sep2"]]
    if style == "LLAMA2":
        return llama2(settings, system, prompt, messages)
    if style == "LLAMA3":
        return [("", prompt)] * bool(system) + [(f"<|start_header_id|>{role}<|end_header_id|>\n\n", f"{text.strip()}<|eot_id|>" if text else "")
                                                for role, text in messages]
    if style == "GEMMA":
        if system:
            raise Failure("the form of gemma has no system message", str(row.place))
        return [(("<bos>" if i == 0 else "") + f"<start_of_turn>{role}\n", (text or "") + "<end_of_turn>\n") for i, (role, text) in enumerate(messages)]
    simple = SIMPLE.get(style)
    if simple is None:
        raise Failure(f"conversations in the form of {settings.name} cannot be read", str(row.place), "type: chat_template")
    begin, spoken, silent = simple
    first = None if style == "FALCON_CHAT" and not system else begin(prompt, sep)
    return [("", first)] * (first is not None) + [spoken(role, text, seps, i) if text else (silent(role), "") for i, (role, text) in enumerate(messages)]


# style → (the system's text, a turn, the role of an empty turn)
SIMPLE = {
    "ADD_COLON_SINGLE": (lambda p, s: p + s, lambda r, t, s, i: (r + ": ", t + s[0]), lambda r: r + ":"),
    "ADD_COLON_TWO": (lambda p, s: p + s, lambda r, t, s, i: (r + ": ", t + s[i % 2]), lambda r: r + ":"),
    "ADD_COLON_SPACE_SINGLE": (lambda p, s: p + s, lambda r, t, s, i: (r + ": ", t + s[0]), lambda r: r + ": "),
    "ADD_NEW_LINE_SINGLE": (lambda p, s: p and p + s, lambda r, t, s, i: (r + "\n", t + s[0]), lambda r: r + "\n"),
    "NO_COLON_SINGLE": (lambda p, s: p, lambda r, t, s, i: (r, t + s[0]), lambda r: r),
    "NO_COLON_TWO": (lambda p, s: p, lambda r, t, s, i: (r, t + s[i % 2]), lambda r: r),
    "RWKV": (lambda p, s: p, lambda r, t, s, i: (r + ": ", t.replace("\r\n", "\n").replace("\n\n", "\n") + "\n\n"), lambda r: r + ":"),
    "CHATML": (lambda p, s: p and p + s + "\n", lambda r, t, s, i: (r + "\n", t + s[0] + "\n"), lambda r: r + "\n"),
    "CHATINTERN": (lambda p, s: p, lambda r, t, s, i: (("" if i % 2 else "<s>") + r + ":", t + s[i % 2] + "\n"), lambda r: r + ":"),
    "DOLLY": (lambda p, s: p, lambda r, t, s, i: (r + ":\n", t + s[i % 2] + ("\n\n" if i % 2 else "")), lambda r: r + ":\n"),
    "PHOENIX": (lambda p, s: p, lambda r, t, s, i: (r + ": ", f"<s>{t}</s>"), lambda r: r + ": <s>"),
    "ROBIN": (lambda p, s: p + s, lambda r, t, s, i: (r + ":\n", t + s[0]), lambda r: r + ":\n"),
    "FALCON_CHAT": (lambda p, s: p + s, lambda r, t, s, i: (r + ": ", t + s[0]), lambda r: r + ":"),
}


def llama2(settings, system, prompt, messages):
    """Yields turns in Llama 2's and Mistral's forms, which put the system's message into the first turn."""
    mistral, turns = settings.name == "mistral", []
    if system:
        if messages and messages[0][0] == settings.form["roles"][0]:
            prompt = settings.form["system_template"].format(system_message=" " + system) if mistral else prompt
            prompt, messages = prompt + messages[0][1], messages[1:]
        turns.append(("", prompt))
    for i, (role, text) in enumerate(messages):
        if not text:
            turns.append((role, ""))
        elif mistral:
            turns.append(("", prompt.strip() + " " + text) if i == 0 and not system else (role + " ", text))
        else:
            turns.append((("<s> " if (i % 2 == 0) != bool(system) else "") + role + " ", text))
    return turns
