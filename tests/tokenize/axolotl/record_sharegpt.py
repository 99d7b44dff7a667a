"""Records FastChat's conversation templates, and the results of the last axolotl with `type: sharegpt` for the cases in
cases_sharegpt.py.

    PYTHONPATH=<axolotl at 3265b7095>/src:<FastChat at 27a05b04> python record_sharegpt.py --forms FILE

It also needs transformers, termcolor and colorama. --forms writes launcher/tokenize/ringmaster_rows/templates/conversations.json.
"""

import argparse
import json
import tempfile
from pathlib import Path

from axolotl.monkeypatch.fastchat_conversation_turns import add_get_turns_to_conversation
from axolotl.prompt_strategies import sharegpt
from cases import digest_of, each_row, fingerprint, make_tokenizers, write_expected
from cases_sharegpt import all_cases
from fastchat.conversation import conv_templates

OUT = Path(__file__).resolve().parent / "expected_sharegpt.json"


class Config(dict):
    """Holds a mapping whose keys can be read as attributes; missing keys are None."""

    __getattr__ = dict.get

    def to_dict(self):
        return dict(self)


def keep_forms(file):
    forms = {name: {"system_template": form.system_template, "system_message": form.system_message, "roles": list(form.roles),
                    "style": form.sep_style.name, "sep": form.sep, "sep2": form.sep2} for name, form in conv_templates.items() if form.sep_style}
    file.write_text(json.dumps(forms, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


def tokens_of(case, tokenizer):
    entry = Config({key: Config(value) if isinstance(value, dict) else value for key, value in case["entry"].items()})
    function = case["entry"]["type"].partition(".")[2] or "load"
    strategy = getattr(sharegpt, function)(tokenizer, Config(case["config"]), entry)

    def tokens(row):
        made = strategy.tokenize_prompt(row)
        return [fingerprint(made["input_ids"], made["labels"])]

    return each_row(case, tokens)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--forms", type=Path, required=True)
    keep_forms(parser.parse_args().forms)
    add_get_turns_to_conversation()
    sharegpt.register_chatml_template()
    sharegpt.register_llama3_template()
    with tempfile.TemporaryDirectory() as folder:
        tokenizers = make_tokenizers(folder)
        digests = {name: digest_of(tokenizer) for name, tokenizer in tokenizers.items()}
        found = {case["name"]: tokens_of(case, tokenizers[case["tokenizer"]]) for case in all_cases()}
    write_expected(OUT, {"tokenizers": digests}, found)


if __name__ == "__main__":
    main()
