"""Turns prompts into tokens: texts, or chats by the chat template."""

import json
from pathlib import Path

from .cache import read_json
from .encoders import token_ids
from .report import Failure
from .vocabulary import load_tokenizer


class Asked(dict):
    """The request, with the folder that relative paths start from."""

    @property
    def base_dir(self):
        return Path(self.get("base_dir") or ".")


def encode_prompts(request_file, report):
    """Returns {"ids": a list for each prompt, "stop_ids": tokens that end an answer}."""
    asked = Asked(read_json(request_file))
    tokenizer = load_tokenizer(asked, report)
    ids = [encoded(tokenizer, prompt, f"prompt {index + 1}") for index, prompt in enumerate(asked["prompts"])]
    return {"ids": ids, "stop_ids": stop_ids(tokenizer, [Path(folder) for folder in asked["folders"]])}


def encoded(tokenizer, prompt, where):
    """Returns a prompt's token ids. A text is to be continued, so the end-of-text token that some tokenizers add is removed; a list of
    messages is to be answered."""
    if isinstance(prompt, str):
        ids = token_ids(tokenizer, [prompt], empty_too=True)[0]
        return ids[:-1] if len(ids) > 1 and ids[-1] == tokenizer.eos_token_id else ids
    if not tokenizer.chat_template:
        raise Failure("the tokenizer has no chat template", where, "set chat_template in the file, or give a text without --chat")
    try:
        return list(tokenizer.apply_chat_template(prompt, add_generation_prompt=True, tokenize=True, return_dict=False))
    except Exception as error:
        raise Failure(f"the chat template refuses the messages: {error}", where) from error


def stop_ids(tokenizer, folders):
    """Returns the tokenizer's end-of-text token, and those of the folders' generation_config.json and config.json."""
    found = {tokenizer.eos_token_id}
    for file in (folder / name for folder in folders for name in ("generation_config.json", "config.json")):
        if file.is_file():
            named = json.loads(file.read_text(encoding="utf-8")).get("eos_token_id")
            found |= set(named if isinstance(named, list) else [named])
    return sorted(token for token in found if isinstance(token, int))
