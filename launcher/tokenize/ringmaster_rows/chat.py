"""type: chat_template. A conversation is rendered by a Jinja template; labels are the tokens of the turns to train on and the
end-of-turn tokens after them, as axolotl chooses them by roles_to_train, train_on_eos, train_on_eot and eot_tokens."""

from typing import NamedTuple

import numpy as np

from .chat_labels import labels_of
from .chat_spans import Conversation
from .chat_template import find_template, message_variables
from .chat_turns import tools_of, turns_of
from .encoders import Example, batches
from .report import Failure

ROLES = {"human": "user", "user": "user", "assistant": "assistant", "gpt": "assistant", "system": "system", "tool": "tool"}
WHEN = ("all", "turn", "last", "none")


class ChatOptions(NamedTuple):
    """The options of one dataset entry, with their defaults."""

    template: str
    template_arguments: dict
    variables: set  # fields of a message that the template reads, besides the mapped ones
    messages: str
    system: str
    tools: str
    properties: dict  # name in the template → field of the message
    training: str | None
    training_detail: str | None
    roles: dict
    roles_to_train: set
    train_on_inputs: bool
    drop_system: bool
    split_thinking: bool
    thinking: str
    shows_system: bool
    when: tuple  # (train_on_eot, train_on_eos)
    ends: tuple  # (eot ids, eos ids)


def chat_options(source, tokenizer, options, base_dir):
    entry, key = source.entry, source.key
    encodes = getattr(tokenizer, "encodes_chats", False)
    template = "" if encodes else find_template(entry, key, tokenizer, options, base_dir)
    roles = entry.get("roles")
    roles = {said: role for role, many in roles.items() for said in many} if roles else ROLES
    trained = entry.get("roles_to_train")
    eos_when = entry.get("train_on_eos") or "turn"
    when = (entry.get("train_on_eot") or eos_when, eos_when)
    for value, name in zip(when, ("train_on_eot", "train_on_eos"), strict=True):
        if value not in WHEN:
            raise Failure(f"{name} is {value}", f"{key}.{name}", f"one of {', '.join(WHEN)}")
    return ChatOptions(
        template=template, template_arguments=options.get("chat_template_kwargs") or {},
        variables=tokenizer.message_fields if encodes else message_variables(template, f"{key}.chat_template"),
        messages=entry.get("field_messages") or "messages", system=entry.get("field_system") or "system",
        tools=entry.get("field_tools") or "tools", properties=properties_of(entry, key),
        training=entry.get("message_field_training"), training_detail=entry.get("message_field_training_detail"), roles=roles,
        roles_to_train={roles.get(role, role) for role in (["assistant"] if trained is None else trained)},
        train_on_inputs=bool(options.get("train_on_inputs")), drop_system=bool(entry.get("drop_system_message")),
        split_thinking=bool(entry.get("split_thinking")), thinking=entry.get("template_thinking_key") or "reasoning_content",
        shows_system="mistral" not in (options.get("tokenizer_name") or tokenizer.name_or_path).lower(), when=when,
        ends=(end_tokens(tokenizer, None if encodes else options.get("eot_tokens"), template, when, key), {tokenizer.eos_token_id} - {None}))


def properties_of(entry, key):
    mappings = dict(entry.get("message_property_mappings") or {})
    for word in ("role", "content"):
        old = entry.get(f"message_field_{word}")
        if old and mappings.get(word, old) != old:
            raise Failure(f"message_field_{word} is {old}, message_property_mappings says {mappings[word]}",
                          f"{key}.message_field_{word}", "keep message_property_mappings alone")
        mappings.setdefault(word, old or word)
    if entry.get("field_thinking") or entry.get("template_thinking_key"):
        mappings.setdefault(entry.get("template_thinking_key") or "reasoning_content",
                            entry.get("field_thinking") or "reasoning_content")
    return mappings


def end_tokens(tokenizer, asked, template, when, key):
    """Returns the ids of the tokens that end a turn: those of `eot_tokens` that the template has, else EOS."""
    eos = tokenizer.eos_token
    if asked is None or asked == [eos]:
        return {tokenizer.eos_token_id} - {None}
    ids = set()
    for token in asked:
        if token not in template:
            continue
        found = tokenizer.encode(token, add_special_tokens=False)
        if len(found) != 1:
            raise Failure(f"{token!r} is {len(found)} tokens in this vocabulary", "eot_tokens",
                          "add it under `tokens`, or give an unused token this text with `added_tokens_overrides`")
        if token == eos and when[0] != when[1]:
            raise Failure(f"train_on_eot is {when[0]} and train_on_eos {when[1]}, and {eos} is both tokens", f"{key}.train_on_eot",
                          "give both the same value")
        ids.add(found[0])
    return ids


def chat_template(rows, tokenizer, options):
    conversations = (Conversation(row.place, turns_of(row, options), tools_of(row, options), tokenizer, options) for row in rows)
    if getattr(tokenizer, "encodes_chats", False):
        yield from (example_of(item, item.tokens(), None, tokenizer, options) for item in conversations)
        return
    for batch in batches((item.rendered() for item in conversations), lambda item: len(item.text)):
        for conversation, (ids, offsets) in zip(batch, encoded([item.text for item in batch], tokenizer), strict=True):
            yield example_of(conversation, ids, offsets, tokenizer, options)


def example_of(conversation, ids, offsets, tokenizer, options):
    return Example(conversation.place, np.asarray(ids, np.int64), labels_of(conversation, ids, offsets, tokenizer, options))


def encoded(texts, tokenizer):
    """Returns [(ids, offsets of each token in the text)]; offsets are None if the tokenizer does not know them."""
    if getattr(tokenizer, "is_fast", False):
        found = tokenizer(texts, add_special_tokens=False, return_offsets_mapping=True, return_attention_mask=False)
        return list(zip(found["input_ids"], found["offset_mapping"], strict=True))
    return [(tokenizer(text, add_special_tokens=False)["input_ids"], None) for text in texts]
