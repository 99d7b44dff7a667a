"""Encodes rows of a prompt and a response: the alpaca family, types of named datasets, and mappings of the user's fields. The prompts'
texts are axolotl's, in templates/prompts.json."""

import json
from functools import cache
from typing import Callable, NamedTuple

import numpy as np

from .chat_template import FOLDER
from .encoders import IGNORED, Example, batches, check_text, eos_of, field_of, token_ids
from .report import Failure


class Form(NamedTuple):
    """Describes how a prompt is put together."""

    with_input: str
    without_input: str
    system: str = ""

    def prompt(self, asked):
        text = self.system.format(system=asked["system"]) if self.system and asked["system"] else ""
        return text + (self.with_input if asked["input"] else self.without_input).format(**asked)


class Kind(NamedTuple):
    """Describes a type of dataset: its form, and the parts of a row that it uses."""

    form: Form
    asked: Callable  # row → {"instruction", "input", "system"}
    response: Callable  # row → text
    ends: int = 1  # end-of-text tokens after the response
    answer: str = ""  # only for reflection: the form of everything after the prompt


@cache
def prompts():
    return json.loads((FOLDER / "prompts.json").read_text(encoding="utf-8"))


def shown(row, name, default=None):
    """Returns a field as a prompt shows it: text and numbers unchanged, null as None, as in axolotl."""
    value = row.values.get(name) if name in row.values or default is None else default
    if name in row.values and (value is None or isinstance(value, (int, float))):
        return value
    return field_of(row, name, default=default)


def fields(instruction, extra=None, output="output", system=None, optional=True):
    """Returns (asked, response), functions that read the fields with these names."""
    def asked(row):
        return {"instruction": shown(row, instruction), "system": shown(row, system) if system else "",
                "input": (shown(row, extra, default="" if optional else None) if extra else "")}

    return asked, lambda row: field_of(row, output)


def with_text(row, *names):
    return {name: field_of(row, name) for name in names}


def choices(row):
    listed = row.values.get("choices")
    if not isinstance(listed, list):
        raise Failure("field 'choices' has to be a list", str(row.place))
    return {"instruction": shown(row, "question"), "input": "\n".join(f'- "{choice}"' for choice in listed), "system": ""}


def scored(form):
    """Returns functions for critiques and revisions: the row's scores and critiques are shown as YAML."""
    def evaluation(row):
        import yaml

        for name in ("scores", "critiques"):
            if name not in row.values:
                field_of(row, name)
        return "".join(yaml.dump(row.values[name], default_flow_style=False, Dumper=yaml.Dumper) for name in ("scores", "critiques"))

    def asked(row):
        text = form["question"].format(question=shown(row, "instruction"), answer=shown(row, "answer"),
                                       **({"evaluation": evaluation(row)} if "{evaluation}" in form["question"] else {}))
        return {"instruction": text, "input": "", "system": ""}

    return asked, evaluation if "{evaluation}" not in form["question"] else lambda row: field_of(row, "revision")


UNKNOWN_ANSWER = ("The context provided does not contain any information about your inquiry. "
                  "Therefore, I'm unable to answer your question based on the given context.")


def article(question):
    def asked(row):
        return {"instruction": field_of(row, "article") + "\n===\n" + field_of(row, question), "input": "", "system": ""}

    return asked


def context(row):
    held = with_text(row, "context", "question")
    return {"instruction": f"Context: {held['context']}\nQuestion: {held['question']}\n", "input": "", "system": ""}


ALPACA = fields("instruction", "input")
QUESTIONS = fields("question", output="response", system="system_prompt")
TAKES = {
    "alpaca": ALPACA, "alpaca_chat": ALPACA, "alpaca_chat.load_concise": ALPACA, "alpaca_chat.load_no_prompt": ALPACA,
    "alpaca_instruct": ALPACA, "alpaca_instruct.load_no_prompt": ALPACA,
    "alpaca_chat.load_qa": fields("question", output="answer"), "alpaca_chat.load_camel_ai": fields("message_1", output="message_2"),
    "gpteacher": fields("instruction", "input", "response"), "oasst": fields("INSTRUCTION", output="RESPONSE"),
    "summarizetldr": fields("article", output="summary"),
    "jeopardy": (fields("question", "category", optional=False)[0], lambda row: "what is " + field_of(row, "answer")),
    "explainchoice": (choices, lambda row: field_of(row, "solution" if "solution" in row.values else "explanation")),
    "context_qa": (article("question"), lambda row: field_of(row, "answer")),
    "context_qa.load_404": (article("unanswerable_question"), lambda row: UNKNOWN_ANSWER),
    "context_qa.load_v2": (context, lambda row: "Answer: " + field_of(row, "answer")),
    "creative_acr.load_answer": fields("instruction", output="revision"), "metharme": fields("prompt", output="generation"),
    "alpaca_w_system": fields("instruction", "input", "output", "system"), "orcamini": QUESTIONS,
    "alpaca_w_system.load_open_orca": QUESTIONS, "alpaca_w_system.load_open_orca_chatml": QUESTIONS, "reflection": ALPACA,
}
TAKES["concisechoice"] = TAKES["explainchoice"]
for name in ("load_chat", "load_instruct"):
    TAKES[f"alpaca_w_system.{name}"] = TAKES["alpaca_w_system"]


def kind_named(name, entry):
    """Returns the Kind of this name, or None. `alpaca_chat` takes its style from the old key `conversation`."""
    if name == "alpaca_chat" and entry.get("conversation"):
        name = f"alpaca_chat:{entry['conversation']}"
    form = prompts().get(name)
    if form is None:
        return None
    base = name.split(":")[0]
    asked, response = scored(form) if "question" in form else TAKES[base]
    return Kind(Form(form["with_input"], form["without_input"], form.get("system", "")), asked, response,
                ends=3 if base == "metharme" else 1, answer=form.get("answer", ""))


DEFAULTS = {"system_prompt": "", "field_system": "system", "field_instruction": "instruction", "field_input": "input",
            "field_output": "output", "format": "{instruction} {input} ", "no_input_format": "{instruction} ",
            "system_format": "{system}"}


def kind_of_fields(mapping, where):
    """Returns the Kind of `type: {field_instruction: …, format: …}`."""
    given = DEFAULTS | {name: value for name, value in mapping.items() if value is not None and name in DEFAULTS}
    for name in ("format", "no_input_format", "system_format"):
        try:
            given[name].format(instruction="", input="", system="")
        except (KeyError, ValueError, IndexError) as error:
            raise Failure(f"{name} cannot be filled in: {error}", f"{where}.{name}",
                          "it may hold {instruction}, {input} and {system}; write {{ and }} for other braces") from error
    form = Form(given["format"], given["no_input_format"], given["system_format"])

    def asked(row):
        system = shown(row, given["field_system"]) if given["field_system"] in row.values else given["system_prompt"]
        return {"instruction": shown(row, given["field_instruction"]), "input": shown(row, given["field_input"], default=""),
                "system": system}

    return Kind(form, asked, lambda row: field_of(row, given["field_output"], default=""))


def instruct(rows, kind, tokenizer, train_on_inputs, sequence_len):
    """Encodes the prompt (no labels unless train_on_inputs), then the response and end-of-text tokens."""
    eos, bos = eos_of(tokenizer), tokenizer.bos_token_id
    texts = ((row.place, kind.form.prompt(kind.asked(row)), kind.response(row)) for row in rows)
    for batch in batches(texts, lambda item: len(item[1]) + len(item[2])):
        prompts_ids = token_ids(tokenizer, [prompt for _, prompt, _ in batch], sequence_len, kind.ends > 1)
        responses = token_ids(tokenizer, [response for _, _, response in batch], sequence_len, kind.ends > 1)
        for (place, _, _), prompt, response in zip(batch, prompts_ids, responses, strict=True):
            response = with_ends(response, eos, kind.ends, sequence_len)
            if response and response[0] == bos:
                response = response[1:]
            labels = (prompt if train_on_inputs else [IGNORED] * len(prompt)) + response
            yield Example(place, np.asarray(prompt + response, np.int64), np.asarray(labels, np.int64))


def with_ends(ids, eos, count, most):
    """Returns the ids and `count` end-of-text tokens, as far as there is room; the text may already end with one of them."""
    if not ids:
        return ids
    missing = count - (ids[-1] == eos)
    return ids + [eos] * min(missing, max(most - len(ids), 0))


def reflection(rows, kind, tokenizer, train_on_inputs, sequence_len):
    """Encodes prompt, thought, reflection and final response as one text; labels begin after the prompt's tokens."""
    eos = eos_of(tokenizer)
    for batch in batches((reflected(row, kind) for row in rows), lambda item: len(item[2])):
        whole = token_ids(tokenizer, [text for _, _, text in batch], sequence_len)
        asked = token_ids(tokenizer, [prompt for _, prompt, _ in batch], sequence_len)
        for (place, _, _), ids, prompt in zip(batch, whole, asked, strict=True):
            ids = with_ends(ids, eos, 1, sequence_len)
            labels = ids if train_on_inputs else [IGNORED] * len(prompt) + ids[len(prompt):]
            yield Example(place, np.asarray(ids, np.int64), np.asarray(labels, np.int64))


def reflected(row, kind):
    prompt = kind.form.prompt(kind.asked(row))
    parts = {name: check_text(row.values.get(name) if name in row.values else field_of(row, name), name, row.place)
             for name in ("output", "reflection", "corrected")}
    return row.place, prompt, prompt + (kind.answer.format(**parts) if all(parts.values()) else "")
