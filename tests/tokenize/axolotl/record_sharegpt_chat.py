"""Records axolotl 0.3.0's results for the chat_cases of cases_sharegpt.py in expected_sharegpt_chat.json.

    PYTHONPATH=<axolotl at v0.3.0>/src python record_sharegpt_chat.py
"""

import tempfile
from pathlib import Path

from axolotl.prompt_tokenizers import ShareGPTPromptTokenizingStrategy
from axolotl.prompters import ShareGPTPrompter
from cases import digest_of, each_row, fingerprint, make_tokenizers, write_expected
from cases_sharegpt import chat_cases

OUT = Path(__file__).resolve().parent / "expected_sharegpt_chat.json"


def tokens_of(case, tokenizer):
    strategy = ShareGPTPromptTokenizingStrategy(ShareGPTPrompter("chat"), tokenizer, False, case["config"]["sequence_len"])

    def tokens(row):
        made = strategy.tokenize_prompt(row)
        return [fingerprint(made["input_ids"], made["labels"])]

    return each_row(case, tokens)


def main():
    with tempfile.TemporaryDirectory() as folder:
        tokenizers = make_tokenizers(folder)
        digests = {name: digest_of(tokenizer) for name, tokenizer in tokenizers.items()}
        found = {case["name"]: tokens_of(case, tokenizers[case["tokenizer"]]) for case in chat_cases()}
    write_expected(OUT, {"tokenizers": digests}, found)


if __name__ == "__main__":
    main()
