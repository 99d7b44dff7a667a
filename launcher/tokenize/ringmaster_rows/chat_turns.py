"""Turns a row into the turns of its conversation: maps fields and roles, splits off thoughts, and reads training flags."""

import json
from typing import Any, NamedTuple

from .encoders import check_text
from .report import Failure
from .rows import json_kind

THOUGHTS = (("<think>", "</think>"), ("<reasoning>", "</reasoning>"), ("<|begin_of_thought|>", "<|end_of_thought|>"))
SOLUTION = ("<|begin_of_solution|>", "<|end_of_solution|>")
MEDIA = {"image", "image_url", "audio", "audio_url", "input_audio", "video", "video_url"}


class Turn(NamedTuple):
    message: dict  # the message as the template sees it
    train: Any = None  # the message's own training flag
    content_parts: list | None = None  # trained characters of the content
    thought_parts: list | None = None


def turns_of(row, options):
    refuse_media(row)
    messages = parsed(row.values.get(options.messages), options.messages, row.place)
    if not isinstance(messages, list) or not messages or not all(isinstance(message, dict) for message in messages):
        there = ", ".join(map(str, row.values)) or "none"
        what = ("is empty" if messages == [] else f"has to be a list of messages, not {json_kind(messages)}"
                if options.messages in row.values else "is missing")
        raise Failure(f"field {options.messages!r} {what}", str(row.place), f"the row has: {there}")
    turns = [turn_of(without_nulls(message), index, row.place, options) for index, message in enumerate(messages)]
    system = row.values.get(options.system)
    if turns[0].message["role"] != "system" and isinstance(system, str):
        turns.insert(0, Turn({"role": "system", "content": check_text(system, options.system, row.place)}))
    if options.drop_system and turns[0].message["role"] == "system" and len(turns) > 1:
        del turns[0]
    return turns


def refuse_media(row):
    held = next((name for name in ("images", "image", "videos", "audio", "audios") if row.values.get(name)), None)
    if held:
        raise Failure(f"the row has {held}: only text is trained here", str(row.place), "leave such rows out")


def turn_of(message, index, place, options):
    mapped = {word: message[name] for word, name in options.properties.items() if message.get(name) is not None}
    if not isinstance(mapped.get("role"), str):
        raise Failure(f"message {index} has no {options.properties.get('role', 'role')!r}", str(place),
                      f"it has: {', '.join(message)}; message_property_mappings names the fields")
    mapped["role"] = options.roles.get(mapped["role"], mapped["role"])
    if options.split_thinking and mapped["role"] == "assistant":
        split_thought(mapped, options.thinking, index, place)
    taken = set(options.properties.values())
    mapped |= {name: value for name, value in message.items() if name in options.variables and name not in taken}
    parse_calls(mapped, place)
    content_parts = message.get(options.training_detail)
    joined, flags = joined_parts(mapped.get("content"), index, place)
    if "content" in mapped:
        mapped["content"] = check_text(joined, f"message {index}", place)
    thought, thought_flags = joined_parts(mapped.get(options.thinking), index, place)
    if thought is not None:
        mapped[options.thinking] = thought
    return Turn(mapped, message.get(options.training), content_parts if flags is None else flags, thought_flags)


def split_thought(message, thinking, index, place):
    """Moves the text between a pair of thought marks into a separate field."""
    content = message.get("content")
    if not isinstance(content, str):
        raise Failure(f"message {index}: split_thinking needs its content to be text", str(place))
    for begin, end in THOUGHTS:
        if begin in content and end in content:
            message[thinking] = content[content.find(begin) + len(begin) : content.find(end)].strip()
            rest = content[content.find(end) + len(end) :].lstrip()
            if SOLUTION[0] in rest and SOLUTION[1] in rest:
                rest = rest[rest.find(SOLUTION[0]) + len(SOLUTION[0]) : rest.find(SOLUTION[1])].strip()
            message["content"] = rest
            return


def parse_calls(message, place):
    for call in message.get("tool_calls") or []:
        function = call.get("function") if isinstance(call, dict) else None
        if function and isinstance(function.get("arguments"), str):
            function["arguments"] = parsed(function["arguments"], "tool_calls", place)


def joined_parts(content, index, place):
    """Returns (text, [which characters are trained] or None) of content that may be a list of parts."""
    if not isinstance(content, list):
        return content, None
    texts, flags, flagged = [], [], False
    for part in content:
        if not isinstance(part, dict):
            continue
        if part.get("type") in MEDIA or MEDIA & set(part):
            raise Failure(f"message {index} holds more than text: only parts of plain text are supported", str(place),
                          "no images, no sound")
        text = part.get("text") or part.get("content") or part.get("value") or ""
        check_text(text, f"message {index}", place)
        train, weight = part.get("train"), part.get("weight")
        flagged = flagged or train is not None or weight is not None
        if text:
            begin = sum(map(len, texts))
            trained = train if train is not None else weight not in (0, 0.0)
            flags.append({"begin_offset": begin, "end_offset": begin + len(text) - 1, "train": trained})
        texts.append(text)
    return "".join(texts), flags if flagged else None


def tools_of(row, options):
    """Returns the row's tools; some datasets store them, or their parameters, as JSON text."""
    tools = parsed(row.values.get(options.tools), options.tools, row.place)
    if tools is None:
        return None
    tools = without_nulls(tools)
    if not isinstance(tools, list):
        raise Failure(f"field {options.tools!r} has to be a list of tools, not {json_kind(tools)}", str(row.place))
    for tool in tools:
        function = tool.get("function") if isinstance(tool, dict) else None
        if isinstance(function, dict) and isinstance(function.get("parameters"), str):
            function["parameters"] = parsed(function["parameters"], options.tools, row.place)
    return tools


def parsed(value, name, place):
    """Parses JSON that a dataset stores as text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError as error:
        raise Failure(f"field {name!r} is text that is not valid JSON: {error}", str(place)) from error


def without_nulls(value):
    """Removes the nulls with which columnar files fill fields that a message does not have."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value
