"""type: chat_template. A conversation is rendered by a Jinja template; labels are the tokens that overlap the text of the
turns to train on, and the end-of-turn tokens behind them (axolotl's roles_to_train, train_on_eos, eot_tokens).

Where a turn's text stands is found by rendering the same conversation with marks instead of texts: what is around the
marks must be around the texts. That holds for templates that trim, too."""

import json
from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from .cache import template_file
from .encoders import IGNORED, Example, batches, check_text
from .hub import first_line
from .report import Failure
from .rows import json_kind

# Shapes of prompts that axolotl knows by these names.
TEMPLATES = {
    "chatml": "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
              "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    "llama3": "{{ bos_token }}{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n"
              "{{ m.content | trim }}<|eot_id|>{% endfor %}"
              "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}",
}
ROLES = {"human": "user", "user": "user", "assistant": "assistant", "gpt": "assistant", "system": "system", "tool": "tool"}
FALLBACK = "tokenizer_default_fallback_"
WHEN = ("all", "turn", "last", "none")
# How many tokens the template may put between a turn's text and its end-of-turn token, as in axolotl.
EOS_DISTANCE = 3


class ChatOptions(NamedTuple):
    """One dataset entry, with its defaults."""

    template: str
    template_arguments: dict
    messages: str
    system: str
    tools: str
    properties: dict  # the template's word -> the message's field
    training: str | None
    roles: dict
    roles_to_train: set
    train_on_inputs: bool
    drop_system: bool
    thinking: str
    when: tuple  # (train_on_eot, train_on_eos)
    ends: tuple  # (eot ids, eos ids)


class Turn(NamedTuple):
    message: dict  # as the template sees it
    train: bool


def chat_options(source, tokenizer, options, base_dir):
    entry, key = source.entry, source.key
    template = find_template(entry, key, tokenizer, options, base_dir)
    roles = entry.get("roles")
    roles = {said: role for role, many in roles.items() for said in many} if roles else ROLES
    roles_to_train = entry.get("roles_to_train")
    eos_when = entry.get("train_on_eos") or "turn"
    when = (entry.get("train_on_eot") or eos_when, eos_when)
    for value, name in zip(when, ("train_on_eot", "train_on_eos"), strict=True):
        if value not in WHEN:
            raise Failure(f"{name} is {value}", f"{key}.{name}", f"one of {', '.join(WHEN)}")
    return ChatOptions(
        template=template, template_arguments=options.get("chat_template_kwargs") or {},
        messages=entry.get("field_messages") or "messages", system=entry.get("field_system") or "system",
        tools=entry.get("field_tools") or "tools", properties=properties_of(entry),
        training=entry.get("message_field_training"), roles=roles,
        roles_to_train={roles.get(role, role) for role in (["assistant"] if roles_to_train is None else roles_to_train)},
        train_on_inputs=bool(options.get("train_on_inputs")), drop_system=bool(entry.get("drop_system_message")),
        thinking=entry.get("template_thinking_key") or "reasoning_content", when=when,
        ends=(end_tokens(tokenizer, options.get("eot_tokens"), template), {tokenizer.eos_token_id} - {None}))


def properties_of(entry):
    if entry.get("message_property_mappings"):
        return dict(entry["message_property_mappings"])
    thinking = entry.get("template_thinking_key") or "reasoning_content"
    return {"role": entry.get("message_field_role") or "role", "content": entry.get("message_field_content") or "content",
            thinking: entry.get("field_thinking") or "reasoning_content"}


def find_template(entry, key, tokenizer, options, base_dir):
    holder, where = (entry, f"{key}.chat_template") if entry.get("chat_template") or entry.get("chat_template_jinja") else (
        options, "chat_template")
    jinja = holder.get("chat_template_jinja")
    name = holder.get("chat_template") or ("jinja" if jinja else "tokenizer_default")
    if name == "jinja":
        if not jinja:
            raise Failure("chat_template is jinja, and chat_template_jinja is missing", where)
        file = template_file(jinja, base_dir)
        return file.read_text(encoding="utf-8") if file else jinja
    if name == "tokenizer_default" or name.startswith(FALLBACK):
        if isinstance(tokenizer.chat_template, str):
            return tokenizer.chat_template
        name = name.removeprefix(FALLBACK)
        if name == "tokenizer_default":
            raise Failure("the tokenizer has no chat template", where,
                          f"name one: {', '.join(TEMPLATES)}, or jinja with chat_template_jinja")
    if name not in TEMPLATES:
        raise Failure(f"chat template {name} is not known here", where,
                      f"known: tokenizer_default, {', '.join(TEMPLATES)}; any other as jinja with chat_template_jinja")
    return TEMPLATES[name]


def end_tokens(tokenizer, asked, template):
    """Ids of the tokens that end a turn: `eot_tokens` that the template has, else EOS."""
    if not asked:
        return {tokenizer.eos_token_id} - {None}
    ids = set()
    for token in asked:
        found = tokenizer.encode(token, add_special_tokens=False)
        if len(found) != 1:
            raise Failure(f"{token!r} is {len(found)} tokens in this vocabulary", "eot_tokens", "it has to be one token")
        if token in template or (token == tokenizer.eos_token and "eos_token" in template):
            ids.add(found[0])
    return ids


def chat_template(rows, tokenizer, options):
    encoding = plain_encoding(tokenizer)
    texts = (render(row, tokenizer, options) for row in rows)
    for batch in batches(texts, lambda item: len(item[1])):
        encoded = encoding.encode_batch([text for _, text, _, _ in batch], add_special_tokens=False)
        for (place, _, turns, spans), tokens in zip(batch, encoded, strict=True):
            ids = np.asarray(tokens.ids, np.int64)
            yield Example(place, ids, labels_of(ids, tokens.offsets, turns, spans, options))


def plain_encoding(tokenizer):
    """The tokenizer without its post-processor, which would trim blanks off the offsets (and adds nothing here)."""
    from tokenizers import Tokenizer

    if not getattr(tokenizer, "is_fast", False):
        raise Failure("chat_template needs a fast tokenizer (one with a tokenizer.json)", "tokenizer_config",
                      "convert it with transformers, or name another one")
    encoding = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
    encoding.post_processor = None
    encoding.no_truncation()
    encoding.no_padding()
    return encoding


def render(row, tokenizer, options):
    """(place, text, turns, span of each turn's text in it, None where the turn shows none)."""
    turns = turns_of(row, options)
    arguments = {**options.template_arguments, "chat_template": options.template, "tokenize": False}
    tools = row.values.get(options.tools)
    if tools:
        arguments["tools"] = parsed(tools, options.tools, row.place)

    def rendered(messages):
        try:
            return tokenizer.apply_chat_template(messages, **arguments)
        except Exception as error:
            raise Failure(f"the chat template refuses the conversation: {first_line(error)}", str(row.place)) from error

    messages = [turn.message for turn in turns]
    text = rendered(messages)
    return row.place, text, turns, find_spans(text, messages, rendered, options.thinking)


def turns_of(row, options):
    messages = parsed(row.values.get(options.messages), options.messages, row.place)
    if not isinstance(messages, list) or not messages or not all(isinstance(message, dict) for message in messages):
        there = ", ".join(map(str, row.values)) or "none"
        what = ("is empty" if messages == [] else f"has to be a list of messages, not {json_kind(messages)}"
                if options.messages in row.values else "is missing")
        raise Failure(f"field {options.messages!r} {what}", str(row.place), f"the row has: {there}")
    turns = [turn_of(message, index, row.place, options) for index, message in enumerate(messages)]
    system = row.values.get(options.system)
    if turns[0].message["role"] != "system" and isinstance(system, str):
        turns.insert(0, Turn({"role": "system", "content": system}, "system" in options.roles_to_train))
    if options.drop_system and turns[0].message["role"] == "system" and len(turns) > 1:
        del turns[0]
    return turns


def turn_of(message, index, place, options):
    message = without_nulls(message)
    mapped = {word: message[name] for word, name in options.properties.items() if name in message}
    if "role" not in mapped:
        raise Failure(f"message {index} has no {options.properties.get('role', 'role')!r}", str(place),
                      f"it has: {', '.join(message)}; message_property_mappings names the fields")
    mapped["role"] = options.roles.get(mapped["role"], mapped["role"])
    mapped["content"] = content_of(mapped.get("content", ""), index, place)
    taken = set(options.properties.values()) | {options.training}
    mapped |= {name: value for name, value in message.items() if name not in taken and name not in mapped}
    for call in mapped.get("tool_calls") or []:
        function = call.get("function") if isinstance(call, dict) else None
        if function and isinstance(function.get("arguments"), str):
            function["arguments"] = parsed(function["arguments"], "tool_calls", place)
    train = options.train_on_inputs or mapped["role"] in options.roles_to_train
    if options.training and options.training in message:
        train = bool(message[options.training])
    return Turn(mapped, train)


def content_of(content, index, place):
    """Text, or a list of parts whose texts are joined."""
    if isinstance(content, list):
        for part in content:
            if not isinstance(part, dict) or part.get("type", "text") != "text" or {"train", "weight"} & set(part):
                raise Failure(f"message {index}: only parts of plain text are supported", str(place),
                              "no images, and no training flags of single parts")
        content = "".join(str(part.get("text") or part.get("content") or part.get("value") or "") for part in content)
    return check_text(content, f"message {index}", place)


def parsed(value, name, place):
    """Some datasets hold JSON as text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError as error:
        raise Failure(f"field {name!r} is text that is not valid JSON: {error}", str(place)) from error


def without_nulls(value):
    """Columnar files fill fields that a message does not have with nulls."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def find_spans(text, messages, rendered, thinking):
    marks = [f"\ue000ring{index}master\ue001" for index in range(len(messages))]
    if not any(thinking in message for message in messages):
        marked = [message | {"content": mark} for message, mark in zip(messages, marks, strict=True)]
        spans = match_marks(text, rendered(marked), marks, messages)
        if spans:
            return spans
    return [differing_span(text, rendered, messages, index, mark, thinking) for index, mark in enumerate(marks)]


def match_marks(text, marked, marks, messages):
    """All spans from one rendering; None where the text around the marks is not that around the contents."""
    pieces, rest = [], marked
    for mark in marks:
        if rest.count(mark) != 1:
            return None
        piece, rest = rest.split(mark)
        pieces.append(piece)
    pieces.append(rest)
    spans, position = [], 0
    for index, message in enumerate(messages):
        position += len(pieces[index])
        after, last = pieces[index + 1], index + 1 == len(messages)
        content = message["content"]
        for shown in (content, content.strip(), content.rstrip(), content.lstrip()):
            end = position + len(shown)
            if text.startswith(shown + after, position) and (not last or end + len(after) == len(text)):
                break
        else:
            return None
        spans.append((position, end))
        position = end
    return spans if text.startswith(pieces[0]) else None


def differing_span(text, rendered, messages, index, mark, thinking):
    """One turn's span: where the text differs from that with a mark instead of the turn's content and thinking."""
    message = {key: value for key, value in messages[index].items() if key != thinking} | {"content": mark}
    marked = rendered([*messages[:index], message, *messages[index + 1 :]])
    if mark not in marked:
        return None
    before, after = marked.split(mark)[0], marked.split(mark)[-1]
    begin = len(before) if text.startswith(before) else common_prefix(text, before)
    end = len(text) - (len(after) if text.endswith(after) else common_prefix(text[::-1], after[::-1]))
    return (begin, end) if begin <= end else None


def common_prefix(left, right):
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if left[:middle] == right[:middle] else (low, middle - 1)
    return low


def labels_of(ids, offsets, turns, spans, options):
    labels = np.full(len(ids), IGNORED, np.int64)
    ends = [end for _, end in offsets]
    begins = [begin for begin, _ in offsets]
    last = [None, None]
    for turn, span in zip(turns, spans, strict=True):
        if span is None:
            continue
        first = bisect_left(ends, span[0] + 1)  # the first token that ends behind the text's begin
        behind = max(first, bisect_left(begins, span[1]))
        if turn.train:
            labels[first:behind] = ids[first:behind]
        for kind, (when, end_ids) in enumerate(zip(options.when, options.ends, strict=True)):
            found = next((i for i in range(behind, min(behind + EOS_DISTANCE + 1, len(ids))) if ids[i] in end_ids), None)
            if found is None:
                continue
            if turn.train:
                last[kind] = found
            if when == "all" or (when == "turn" and turn.train):
                labels[found] = ids[found]
    for when, found in zip(options.when, last, strict=True):
        if when == "last" and found is not None:
            labels[found] = ids[found]
    return labels
