"""The tokenizer that the request names, with the special tokens that the file asks for."""

from pathlib import Path

from .chat_template import named_template
from .hub import first_line, from_hub
from .report import USAGE, Failure

NAMES = ("bos_token", "eos_token", "pad_token", "unk_token")


def load_tokenizer(request, report):
    where, options = "tokenizer_config", request["tokenization"]
    name = request["tokenizer"]
    if not name:
        raise Failure("no tokenizer is named, and the rows are text", "base_model", "name a model folder or tokenizer_config")
    if Path(name).is_absolute() and not Path(name).is_dir():
        raise Failure(f"no such folder: {name}", where, "", USAGE)
    report.progress("loading the tokenizer", 0, 0)
    tokenizer = from_pretrained(name, options, where)
    set_special_tokens(tokenizer, request["special_tokens"])
    if tokenizer.pad_token is None and tokenizer.eos_token is not None:
        tokenizer.pad_token = tokenizer.eos_token
    set_chat_template(tokenizer, options, request.base_dir)
    return tokenizer


def set_chat_template(tokenizer, options, base_dir):
    """The template of the whole file takes the tokenizer's place: a dataset's tokenizer_default means it, too."""
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
                      "it needs tokenizer.json, or name another one in tokenizer_config") from error


def call_from_pretrained(name, options):
    import transformers

    chosen = getattr(transformers, options.get("tokenizer_type") or "AutoTokenizer", None)
    if chosen is None:
        raise Failure(f"transformers {transformers.__version__} has no {options['tokenizer_type']}", "tokenizer_type",
                      "leave it out: AutoTokenizer finds the right one")
    arguments = {"revision": options.get("revision_of_model"), "legacy": options.get("tokenizer_legacy"),
                 "trust_remote_code": options.get("trust_remote_code")}
    return chosen.from_pretrained(name, **{key: value for key, value in arguments.items() if value is not None})


def set_special_tokens(tokenizer, asked):
    """Overrides must stand in the vocabulary already: a new token would change the model's shape."""
    from tokenizers import AddedToken

    vocabulary = tokenizer.get_vocab()
    for name, text in asked.items():
        if text is None:
            continue
        where = f"special_tokens.{name}"
        if name not in NAMES:
            raise Failure(f"{name} is not supported", where, f"one of {', '.join(NAMES)}")
        if text not in vocabulary:
            raise Failure(f"{text!r} is not in the tokenizer's vocabulary of {len(vocabulary)} tokens", where,
                          "adding tokens would change the model's shape, which is not supported; name one that exists")
        if getattr(tokenizer, name) != text:
            tokenizer.add_special_tokens({name: AddedToken(text, rstrip=False, lstrip=False, normalized=False)})
    if getattr(tokenizer, "add_bos_token", False) or getattr(tokenizer, "add_eos_token", False):
        tokenizer.update_post_processor()  # those that it puts around each text are the new ones

