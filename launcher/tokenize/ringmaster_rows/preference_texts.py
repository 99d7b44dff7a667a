"""Turns rows of preference datasets into texts, by the types of axolotl's dpo, kto and orpo prompt strategies: a prompt with a
chosen and a rejected answer, or a prompt with one completion that is desirable or not."""

from functools import partial
from typing import Any, Callable, NamedTuple

from .chat import properties_of
from .chat_template import find_template, named_template
from .encoders import check_text
from .hub import first_line
from .instruct import shown
from .report import Failure
from .rows import json_kind

PAIRED, DESIRED = ("chosen", "rejected"), ("completion",)
DUMMY = "[[dummy_message]]"  # the question before an answer that is rendered alone
ROLES = {"user": ["user"], "assistant": ["assistant"], "system": ["system"], "tool": ["tool"]}


class Texts(NamedTuple):
    prompt: str
    answers: tuple  # (chosen, rejected), or one completion
    desirable: Any = None  # the row's label, under rl: kto
    misplaced: bool = False  # true: axolotl does not find the answer in the rendered text
    dropped: tuple = ()  # fields that axolotl removes from the row


class Marks(NamedTuple):
    """Describes how a chat format writes a turn and begins and ends an answer."""

    turn: str
    answer: str
    end: str

    def prompt(self, turns):
        return "".join(self.turn.format(role=role, text=text) for role, text in turns) + self.answer


FORMATS = {"chatml": Marks("<|im_start|>{role}\n{text}<|im_end|>\n", "<|im_start|>assistant\n", "<|im_end|>"),
           "llama3": Marks("<|start_header_id|>{role}<|end_header_id|>\n\n{text}<|eot_id|>",
                           "<|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>")}


def first_field(row, *names):
    return next((name for name in names[:-1] if name in row.values), names[-1])


def message_of(row, name, index):
    """Returns one message of the conversation that a field holds."""
    listed = row.values.get(name)
    if not isinstance(listed, list) or not all(isinstance(message, dict) for message in listed):
        raise Failure(f"field {name!r} has to be a list of messages, not {json_kind(listed)}" if name in row.values
                      else f"the row has no field {name!r}", str(row.place), f"it has: {', '.join(map(str, row.values))}")
    if not -len(listed) <= index < len(listed):
        raise Failure(f"field {name!r} has {len(listed)} messages, and message {index} is read", str(row.place))
    return listed[index]


def content_of(row, name, index, content="content"):
    message = message_of(row, name, index)
    if content not in message:
        raise Failure(f"message {index} of {name!r} has no {content!r}", str(row.place), f"it has: {', '.join(message)}")
    return message[content]


def asked(row, *fields):
    """Returns the turns before an answer: the row's system prompt, if it has one, and the first of `fields` that the row has."""
    system = row.values.get("system")
    return ([("system", system)] if system else []) + [("user", shown(row, first_field(row, *fields)))]


def answers(row, *names):
    return [shown(row, first_field(row, *(name if isinstance(name, tuple) else (name,)))) for name in names]


def second_turns(row, *names):
    return [content_of(row, name, 1) for name in names]


def history(row):
    """Returns all turns but the last of a completion that is a whole conversation."""
    message_of(row, "completion", -1)
    return [(message.get("role"), message.get("content")) for message in row.values["completion"][:-1]]


PROMPTS = ("prompt", "input", "question", "instruction")
# name → (turns before the answer, texts of the answers)
PAIR_KINDS: dict[str, tuple[Callable, Callable]] = {
    "default": (lambda row: asked(row, *PROMPTS),
                lambda row: answers(row, ("chosen", "chosen_response"), ("rejected", "rejected_response"))),
    "argilla_chat": (lambda row: [("user", content_of(row, "chosen", 0))], lambda row: second_turns(row, *PAIRED)),
    "icr": (lambda row: asked(row, "input"), lambda row: answers(row, *PAIRED)),
    "intel": (lambda row: asked(row, "question"), lambda row: answers(row, *PAIRED)),
    "prompt_pairs": (lambda row: asked(row, "prompt"), lambda row: answers(row, *PAIRED)),
    "ultra": (lambda row: asked(row, "prompt"), lambda row: second_turns(row, *PAIRED)),
}
DESIRE_KINDS: dict[str, tuple[Callable, Callable]] = {
    **{name: (partial(lambda row, field: asked(row, field), field=field), lambda row: answers(row, *DESIRED))
       for name, field in (("argilla", "instruction"), ("intel", "question"), ("prompt_pairs", "prompt"), ("ultra", "prompt"))},
    "argilla_chat": (history, lambda row: [content_of(row, "completion", -1)]),
}


def marked(row, marks, kind):
    turns, texts = kind
    return Texts(marks.prompt(turns(row)), tuple(f"{text}{marks.end}" for text in texts(row)), row.values.get("label"))


def passed(row, names):
    """Returns the fields' texts unchanged."""
    return Texts(check_text(row.values.get("prompt"), "prompt", row.place),
                 tuple(check_text(row.values.get(name), name, row.place) for name in names), row.values.get("label"))


def nectar(row):
    """Returns the answer with the highest rank as chosen and the next one as rejected, as axolotl does."""
    listed = row.values.get("answers")
    if not isinstance(listed, list) or len(listed) < 2 or not all(isinstance(item, dict) and {"rank", "answer"} <= set(item) for item in listed):
        raise Failure("field 'answers' has to be a list of at least two answers with a rank", str(row.place))
    ranked = sorted(listed, key=lambda item: item["rank"])
    prompt = f"<|system|>\n</s>\n<|user|>\n{shown(row, 'prompt')}</s>\n<|assistant|>\n"
    return Texts(prompt, tuple(check_text(item["answer"], "answer", row.place) for item in (ranked[-1], ranked[-2])))


def own_fields(row, mapping, names, where):
    """Fills in the formats of `type: {field_prompt: …, prompt_format: …}`."""
    def filled(name, **values):
        form = mapping.get(f"{name}_format") or f"{{{name}}}"
        try:
            return form.format(**values, **{name: shown(row, mapping.get(f"field_{name}") or name)})
        except (KeyError, ValueError, IndexError) as error:
            raise Failure(f"{name}_format cannot be filled in: {error}", f"{where}.{name}_format",
                          f"it may hold {{{name}}}{' and {system}, if the row has one' if name == 'prompt' else ''}") from error

    system = row.values.get(mapping.get("field_system") or "system") or ("" if names == PAIRED else None)
    more = {"system": system} if system is not None and "{system}" in (mapping.get("prompt_format") or "") else {}
    return Texts(filled("prompt", **more), tuple(filled(name) for name in names), row.values.get(mapping.get("field_label") or "label"))


class Rendering:
    """Renders messages by a chat template."""

    def __init__(self, tokenizer, template):
        self._tokenizer, self._template = tokenizer, template

    def __call__(self, messages, place, begins_answer=False):
        try:
            return self._tokenizer.apply_chat_template(messages, add_generation_prompt=begins_answer, chat_template=self._template,
                                                       tokenize=False)
        except Exception as error:
            raise Failure(f"the chat template refuses the row: {first_line(error)}", str(place)) from error

    def answer(self, message, place):
        """Returns the answer as the template writes it, cut out as axolotl does: from the first
        place where the answer's text occurs in the rendered text. Returns (text, whether the
        answer's text is missing or occurs twice)."""
        whole = self([{"role": "user", "content": DUMMY}, message], place)
        begin = whole.find(message["content"])
        return whole[begin:].rstrip(), begin < 0 or begin != whole.rfind(message["content"])


def turn(message, names, roles, where, place):
    """Returns a message with the field names and roles that the template knows."""
    if not isinstance(message, dict) or not {names["role"], names["content"]} <= set(message):
        raise Failure(f"a message of {where!r} has no {names['role']!r} and {names['content']!r}", str(place),
                      "message_property_mappings names the fields")
    role = message[names["role"]]
    if role not in roles:
        raise Failure(f"a message of {where!r} has the role {role!r}, which `roles` does not know", str(place),
                      f"known: {', '.join(map(str, roles))}")
    return {"role": roles[role], "content": message[names["content"]]}


def templated(row, entry, names, roles, render, whole):
    """Renders a conversation and its two answers. With `whole`, the chosen answer's field also holds the conversation."""
    messages, *fields = (entry.get(f"field_{name}") or name for name in ("messages", *PAIRED))
    held = [row.values.get(field) for field in fields]
    if whole:
        for field in fields:
            message_of(row, field, -1)
        asked_by, messages = held[0][:-1], fields[0]
    else:
        asked_by = row.values.get(messages)
        if isinstance(asked_by, str):
            asked_by = [{names["role"]: "user", names["content"]: asked_by}]
    if not isinstance(asked_by, list):
        raise Failure(f"field {messages!r} has to be text or a list of messages", str(row.place), f"the row has: {', '.join(map(str, row.values))}")
    prompt = render([turn(message, names, roles, messages, row.place) for message in asked_by], row.place, True)
    texts = []
    for field, answer in zip(fields, held, strict=True):
        answer = {names["role"]: "assistant", names["content"]: answer} if isinstance(answer, str) else answer[-1] if answer and isinstance(answer, list) else answer
        message = turn(answer, names, roles, field, row.place)
        check_text(message["content"], field, row.place)
        texts.append(render.answer({**message, "content": message["content"] or ""}, row.place))
    return Texts(prompt, tuple(text for text, _ in texts), misplaced=any(odd for _, odd in texts), dropped=tuple(fields) if whole else (messages,))


def argilla(row, render):
    """Renders whole conversations of questions and answers; an answer begins where the rendered prompt ends."""
    chosen = row.values.get("chosen")
    message_of(row, "chosen", -1)
    if len(chosen) % 2:
        raise Failure(f"field 'chosen' has {len(chosen)} messages: it has to be questions and answers in turn", str(row.place))
    system = row.values.get("system")
    turns = [("system", system, False)] if system else []
    for index in range(0, len(chosen), 2):
        turns.append(("user", row.values["prompt"] if "prompt" in row.values else content_of(row, "chosen", index), False))
        if index + 2 < len(chosen):
            turns.append(("assistant", content_of(row, "chosen", index + 1), False))
    texts = [content_of(row, name, -1) for name in PAIRED]
    for text in (*(text for _, text, _ in turns), *texts):
        if not isinstance(text, str):
            raise Failure(f"a message's content has to be text, not {json_kind(text)}", str(row.place))
    messages = [dict(zip(("role", "content", "label"), item, strict=True)) for item in turns]
    prompt = render(messages, row.place, True)
    wholes = [render([*messages, {"role": "assistant", "content": text, "label": True}], row.place) for text in texts]
    return Texts(prompt, tuple(whole[len(prompt):] for whole in wholes))


def names_of(method):
    """Returns the types of rows under `rl: method`."""
    if method == "orpo":
        return ["chat_template.argilla"]
    kinds = DESIRE_KINDS if method == "kto" else PAIR_KINDS
    found = [f"{form}.{kind}" for form in FORMATS for kind in kinds]
    return found if method == "kto" else [*found, "chat_template.default", "chat_template.argilla_chat", "zephyr.nectar", "passthrough.default"]


def whole_name(kind):
    """Completes a type as axolotl does: `chatml` means `chatml.default`."""
    return kind if "." in kind else f"{kind}.default"


def reader_of(source, method, tokenizer, options, base_dir):
    """Returns a function from a row to its Texts."""
    kind, names = source.entry.get("type") or "", DESIRED if method == "kto" else PAIRED
    if isinstance(kind, dict):
        return partial(own_fields, mapping=kind, names=names, where=f"{source.key}.type")
    first, _, style = whole_name(kind).partition(".")
    if kind == "" or first == "passthrough":
        return partial(passed, names=names)
    if first in FORMATS:
        return partial(marked, marks=FORMATS[first], kind=(DESIRE_KINDS if method == "kto" else PAIR_KINDS)[style])
    if first == "zephyr":
        return nectar
    if style == "argilla":
        own = named_template(options.get("chat_template") or "tokenizer_default", options.get("chat_template_jinja"), "chat_template", tokenizer(), base_dir)
        return partial(argilla, render=Rendering(tokenizer(), own))
    roles = {said: role for role, many in (source.entry.get("roles") or ROLES).items() for said in many}
    return partial(templated, entry=source.entry, names=properties_of(source.entry, source.key), roles=roles, whole=style == "argilla_chat",
                   render=Rendering(tokenizer(), find_template(source.entry, source.key, tokenizer(), options, base_dir)))
