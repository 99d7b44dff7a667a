"""Loads the tokenizer that the request names, with the special tokens that the file asks for."""

import json
from pathlib import Path

from .chat_template import named_template
from .hub import first_line, from_hub
from .report import USAGE, Failure

NAMES = ("bos_token", "eos_token", "pad_token", "unk_token", "additional_special_tokens")


def load_tokenizer(request, report):
    where, options = "tokenizer_config", request["tokenization"]
    name = request["tokenizer"]
    if not name:
        raise Failure("no tokenizer is named, and the rows are text", "base_model", "name a model folder or tokenizer_config")
    if Path(name).is_absolute() and not Path(name).is_dir():
        raise Failure(f"no such folder: {name}", where, "", USAGE)
    report.progress("tokenizer", 0, 0)
    tokenizer = from_pretrained(name, options, where)
    if options.get("tokenizer_use_mistral_common"):
        return tokenizer
    set_special_tokens(tokenizer, request["special_tokens"])
    if tokenizer.pad_token is None and tokenizer.eos_token is not None:
        tokenizer.pad_token = tokenizer.eos_token
    set_chat_template(tokenizer, options, request.base_dir)
    return tokenizer


def grown_tokenizer(request, folder, report):
    """Returns the tokenizer with every token that the file asks for, new ones too, in axolotl's order."""
    from tokenizers import AddedToken

    options, special = request["tokenization"], dict(request["special_tokens"])
    name, more = request["tokenizer"], special.pop("additional_special_tokens", None)
    report.progress("tokenizer", 0, 0)
    if options.get("added_tokens_overrides"):
        name = renamed_tokens(name, options, folder / "renamed-tokenizer")
    tokenizer = from_pretrained(name, options, "tokenizer_config")
    for kind, text in special.items():
        if text is not None:
            tokenizer.add_special_tokens({kind: AddedToken(text, rstrip=False, lstrip=False, normalized=False)})
    if getattr(tokenizer, "add_bos_token", False) or getattr(tokenizer, "add_eos_token", False):
        tokenizer.update_post_processor()
    tokenizer.add_tokens([AddedToken(token, rstrip=False, lstrip=False, normalized=False) for token in options.get("tokens") or []])
    if more:
        tokenizer.add_special_tokens({"additional_special_tokens": more})
    return tokenizer


def renamed_tokens(name, options, folder):
    """Copies the tokenizer and replaces the texts of the tokens whose ids `added_tokens_overrides` names; these must be added tokens."""
    texts = {int(number): text for number, text in options["added_tokens_overrides"].items()}
    from_pretrained(name, options, "tokenizer_config").save_pretrained(folder)
    file = folder / "tokenizer.json"
    if not file.is_file():
        raise Failure("added_tokens_overrides needs a tokenizer with a tokenizer.json", "added_tokens_overrides")
    content = json.loads(file.read_text(encoding="utf-8"))
    added = {entry["id"]: entry for entry in content.get("added_tokens", [])}
    for number, text in texts.items():
        if number not in added:
            raise Failure(f"token {number} is none of the tokenizer's added tokens", f"added_tokens_overrides.{number}",
                          f"they are {', '.join(map(str, sorted(added)))}")
        added[number]["content"] = text
    vocabulary = content.get("model", {}).get("vocab")
    if isinstance(vocabulary, dict):
        content["model"]["vocab"] = {texts.get(number, token): number for token, number in vocabulary.items()}
    file.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    rename_settings(folder / "tokenizer_config.json", texts)
    return str(folder)


def rename_settings(file, texts):
    if not file.is_file():
        return
    content = json.loads(file.read_text(encoding="utf-8"))
    for number, text in texts.items():
        if str(number) in content.get("added_tokens_decoder", {}):
            content["added_tokens_decoder"][str(number)]["content"] = text
    file.write_text(json.dumps(content, indent=2), encoding="utf-8")


def set_chat_template(tokenizer, options, base_dir):
    """Replaces the tokenizer's template with the file's template, so that tokenizer_default of a dataset means that one too."""
    name, jinja = options.get("chat_template"), options.get("chat_template_jinja")
    if not name and not jinja:
        return
    template = named_template(name or "jinja", jinja, "chat_template", tokenizer, base_dir)
    if name == "chatml" and options.get("default_system_message"):
        template = template.replace("You are a helpful assistant.", options["default_system_message"])
    tokenizer.chat_template = template


def from_pretrained(name, options, where):
    if not Path(name).is_dir():
        with from_hub(name, "model", where, f"the tokenizer of {name}"):
            return call_from_pretrained(name, options)
    try:
        return call_from_pretrained(name, options)
    except Failure:
        raise
    except Exception as error:
        raise Failure(f"no tokenizer can be loaded from {name}: {first_line(error)}", where,
                      f"it needs {needed_file(options)}, or name another one in tokenizer_config") from error


def needed_file(options):
    return "tekken.json or tokenizer.model" if options.get("tokenizer_use_mistral_common") else "tokenizer.json"


def call_from_pretrained(name, options):
    if options.get("tokenizer_use_mistral_common"):
        return load_mistral(name, options.get("revision_of_model"))
    import transformers

    chosen = getattr(transformers, options.get("tokenizer_type") or "AutoTokenizer", None)
    if chosen is None:
        raise Failure(f"transformers {transformers.__version__} has no {options['tokenizer_type']}", "tokenizer_type",
                      "leave it out: AutoTokenizer finds the right one")
    arguments = {"revision": options.get("revision_of_model"), "legacy": options.get("tokenizer_legacy"),
                 "trust_remote_code": options.get("trust_remote_code")}
    return chosen.from_pretrained(name, **{key: value for key, value in arguments.items() if value is not None})


def load_mistral(name, revision):
    try:
        from . import mistral
    except ImportError as error:
        raise Failure(f"mistral-common is not installed here: {first_line(error)}", "tokenizer_use_mistral_common",
                      "`ringmaster setup` installs what is missing") from error
    return mistral.load(name, revision)


def set_special_tokens(tokenizer, asked):
    """Sets special tokens that are already in the vocabulary: a new token would change the model's shape."""
    from tokenizers import AddedToken

    vocabulary = tokenizer.get_vocab()
    for name, text in asked.items():
        if text is None:
            continue
        where = f"special_tokens.{name}"
        if name not in NAMES:
            raise Failure(f"{name} is not supported", where, f"one of {', '.join(NAMES)}")
        if name == "additional_special_tokens":
            continue
        if text not in vocabulary:
            raise Failure(f"{text!r} is not in the tokenizer's vocabulary of {len(vocabulary)} tokens", where,
                          "adding tokens would change the model's shape, which is not supported; name one that exists")
        if getattr(tokenizer, name) != text:
            tokenizer.add_special_tokens({name: AddedToken(text, rstrip=False, lstrip=False, normalized=False)})
    if getattr(tokenizer, "add_bos_token", False) or getattr(tokenizer, "add_eos_token", False):
        tokenizer.update_post_processor()  # so that the tokenizer puts the new tokens around each text

