"""Records axolotl 0.3.0's results for the chat_cases of cases_sharegpt.py in expected_sharegpt_chat.json.

    PYTHONPATH=<axolotl at v0.3.0>/src python record_sharegpt_chat.py
"""

import copy
import json
import tempfile
from pathlib import Path

from axolotl.prompt_tokenizers import ShareGPTPromptTokenizingStrategy
from axolotl.prompters import ShareGPTPrompter
from cases import digest_of, fingerprint, make_tokenizers
from cases_sharegpt import chat_cases

OUT = Path(__file__).resolve().parent / "expected_sharegpt_chat.json"


def tokens_of(case, tokenizer):
    strategy = ShareGPTPromptTokenizingStrategy(ShareGPTPrompter("chat"), tokenizer, False, case["config"]["sequence_len"])
    found = []
    for row in case["rows"]:
        try:
            made = strategy.tokenize_prompt(copy.deepcopy(row))
            found.append([fingerprint(made["input_ids"], made["labels"])])
        except Exception as error:
            found.append(None)
            print(case["name"], "refused:", type(error).__name__, str(error).splitlines()[:1])
    return found


def main():
    with tempfile.TemporaryDirectory() as folder:
        tokenizers = make_tokenizers(folder)
        kept = {"tokenizers": {name: digest_of(tokenizer) for name, tokenizer in tokenizers.items()},
                "cases": {case["name"]: tokens_of(case, tokenizers[case["tokenizer"]]) for case in chat_cases()}}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(rows)}" for name, rows in kept.pop("cases").items())
    OUT.write_text(json.dumps(kept)[:-1] + f', "cases": {{\n{lines}\n}}}}\n')


if __name__ == "__main__":
    main()
