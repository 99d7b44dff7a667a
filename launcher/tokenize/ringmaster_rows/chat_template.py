"""Finds the Jinja template that renders a dataset, and the fields of a message that the template reads."""

from pathlib import Path

from .cache import template_file
from .report import Failure

FOLDER = Path(__file__).resolve().parent / "templates"  # axolotl's templates, under its licence: see NOTICE there
FALLBACK = "tokenizer_default_fallback_"


def names():
    return sorted(file.stem for file in FOLDER.glob("*.jinja"))


def find_template(entry, key, tokenizer, options, base_dir):
    """Returns the text of the entry's template, else of the template that the file sets for all datasets, else of the tokenizer's
    template."""
    own = entry.get("chat_template") or entry.get("chat_template_jinja")
    holder, where = (entry, f"{key}.chat_template") if own else (options, "chat_template")
    jinja = holder.get("chat_template_jinja")
    name = holder.get("chat_template") or ("jinja" if jinja else "tokenizer_default")
    return named_template(name, jinja, where, tokenizer, base_dir)


def named_template(name, jinja, where, tokenizer, base_dir):
    if name == "jinja":
        if not jinja:
            raise Failure("chat_template is jinja, and chat_template_jinja is missing", where)
        file = template_file(jinja, base_dir)
        return file.read_text(encoding="utf-8") if file else jinja
    if name == "tokenizer_default" or name.startswith(FALLBACK):
        if isinstance(tokenizer.chat_template, str):
            return tokenizer.chat_template
        if name == "tokenizer_default":
            raise Failure("the tokenizer has no chat template", where,
                          f"name one: {', '.join(names())}, or jinja with chat_template_jinja")
        name = name.removeprefix(FALLBACK)
    file = FOLDER / f"{name}.jinja"
    if name not in names():
        raise Failure(f"chat template {name} is not known here", where,
                      f"known: tokenizer_default, {', '.join(names())}; any other as jinja with chat_template_jinja")
    return file.read_text(encoding="utf-8")


def message_variables(template, where):
    """Returns the names that the template reads from a variable called `message`: the fields that axolotl passes on besides the mapped
    ones. Names that a template reads through another variable or through `get` are not included, as in axolotl."""
    import jinja2
    from jinja2 import nodes
    from jinja2.ext import Extension

    class GenerationTags(Extension):
        """Skips {% generation %} and {% endgeneration %}, which transformers adds to Jinja."""

        tags = {"generation", "endgeneration"}

        def parse(self, parser):
            parser.stream.skip(1)
            return nodes.Const("")

    def base(node):
        while isinstance(node, (nodes.Getattr, nodes.Getitem)):
            node = node.node
        return node.name if isinstance(node, nodes.Name) else None

    try:
        tree = jinja2.Environment(autoescape=True, extensions=[GenerationTags, "jinja2.ext.loopcontrols"]).parse(template)
    except jinja2.TemplateSyntaxError as error:
        raise Failure(f"the chat template is not valid Jinja: {error.message} (line {error.lineno} of the template)", where) from error
    found = {node.attr for node in tree.find_all(nodes.Getattr) if base(node.node) == "message"}
    items = (node for node in tree.find_all(nodes.Getitem) if base(node.node) == "message" and isinstance(node.arg, nodes.Const))
    return found | {node.arg.value for node in items if isinstance(node.arg.value, str)}
