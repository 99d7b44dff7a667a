"""Records axolotl's results for the cases in cases.py in expected.json, which axolotl_test.py compares with ours.

    python record.py [--show NAME | --only WORD]

Run it in an environment with axolotl 0.19.0 and the versions of transformers and tokenizers that launcher/tokenize locks
(`pip install --no-deps axolotl==0.19.0 addict colorama`). --show prints one case's
tokens; --only records the cases with WORD in their name and keeps the rest.
"""

import argparse
import copy
import json
import tempfile
from pathlib import Path

from cases import all_cases, digest_of, each_row, fingerprint, make_tokenizers, stop_the_clock, write_expected

OUT = Path(__file__).resolve().parent / "expected.json"


# axolotl.utils.data.wrappers handles these type names itself; they are not modules of axolotl.prompt_strategies.
NAMED = {"alpaca": ("AlpacaPrompter", "AlpacaPromptTokenizingStrategy"),
         "explainchoice": ("MultipleChoiceExplainPrompter", "AlpacaMultipleChoicePromptTokenizingStrategy"),
         "concisechoice": ("MultipleChoiceConcisePrompter", "AlpacaMultipleChoicePromptTokenizingStrategy"),
         "summarizetldr": ("SummarizeTLDRPrompter", "SummarizeTLDRPromptTokenizingStrategy"),
         "jeopardy": ("JeopardyPrompter", "JeopardyPromptTokenizingStrategy"),
         "oasst": ("AlpacaPrompter", "OpenAssistantPromptTokenizingStrategy"),
         "gpteacher": ("GPTeacherPrompter", "GPTeacherPromptTokenizingStrategy"),
         "reflection": ("ReflectAlpacaPrompter", "AlpacaReflectionPTStrategy")}


def strategy_of(entry, tokenizer, config):
    from axolotl import prompt_tokenizers, prompters
    from axolotl.prompt_strategies import load

    if not isinstance(entry.type, str):
        return load("user_defined", tokenizer, config, entry.type.to_dict())
    found = load(entry.type, tokenizer, config, entry)
    if found:
        return found
    base, _, style = entry.type.partition(":")
    prompter, strategy = NAMED[base]
    return getattr(prompt_tokenizers, strategy)(getattr(prompters, prompter)(style or None), tokenizer, config.train_on_inputs, config.sequence_len)


def tokens_of(case, tokenizers):
    """Returns, for each row, [(ids, labels)], or None if axolotl refuses the row."""
    from axolotl.datasets import wrap_dataset_for_tokenized_prompt
    from axolotl.utils.chat_templates import get_chat_template_from_config
    from axolotl.utils.dict import DictDefault
    from axolotl.utils.schemas.datasets import SFTDataset
    from datasets import Dataset

    is_judged = case["entry"]["type"] == "stepwise_supervised"  # axolotl's schema of these rows has no `type`
    entry = DictDefault(case["entry"] if is_judged else SFTDataset(**copy.deepcopy(case["entry"])).model_dump(exclude_none=True))
    config = DictDefault({"seed": 42, **case["config"]})
    tokenizer = copy.deepcopy(tokenizers[case["tokenizer"]])
    if config.chat_template:
        tokenizer.chat_template = get_chat_template_from_config(cfg=config, tokenizer=tokenizer)

    def tokens(row):
        made = wrap_dataset_for_tokenized_prompt(strategy_of(entry, tokenizer, config), Dataset.from_list([row]))
        return [trimmed(item) for item in made]

    return each_row(case, tokens)


def trimmed(item):
    """Returns (ids, labels) without the padding that llama2_chat adds."""
    mask = item.get("attention_mask") or [1] * len(item["input_ids"])
    length = len(mask) - next((i for i, value in enumerate(reversed(mask)) if value), len(mask))
    return item["input_ids"][:length], item["labels"][:length]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", metavar="NAME")
    parser.add_argument("--only", metavar="WORD", default="")
    asked = parser.parse_args()
    from datasets import disable_caching, disable_progress_bars

    stop_the_clock()
    disable_caching()
    disable_progress_bars()
    with tempfile.TemporaryDirectory() as folder:
        tokenizers = make_tokenizers(folder)
        before = json.loads(OUT.read_text())["cases"] if OUT.exists() else {}
        origin = {"axolotl": "0.19.0", "tokenizers": {name: digest_of(tokenizer) for name, tokenizer in tokenizers.items()}}
        kept = {}
        for case in all_cases():
            if (asked.show and case["name"] != asked.show) or asked.only not in case["name"]:
                if OUT.exists() and not asked.show:
                    kept[case["name"]] = before.get(case["name"])
                continue
            found = tokens_of(case, tokenizers)
            if asked.show:
                for row in found:
                    for ids, labels in row or []:
                        print([(tokenizers[case["tokenizer"]].decode([i]), int(label != -100)) for i, label in zip(ids, labels, strict=True)])
            kept[case["name"]] = [None if row is None else [fingerprint(*item) for item in row] for row in found]
    if not asked.show:
        write_expected(OUT, origin, kept)


if __name__ == "__main__":
    main()
