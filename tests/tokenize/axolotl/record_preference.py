"""Records the tokens of axolotl's and TRL's preferences for cases_preference.py in expected_preference.json, which
preference_test.py compares with ours. axolotl builds the texts and drops or cuts long ones; TRL turns them into tokens.

    python record_preference.py [--show NAME]

Run it in an environment with axolotl 0.19.0, trl 1.16.0, and the versions of transformers and tokenizers that
launcher/tokenize locks (`pip install --no-deps axolotl==0.19.0 trl==1.16.0 addict colorama`)."""

import argparse
import copy
import json
import sys
import tempfile
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest.mock import MagicMock

from cases import digest_of, make_tokenizers, stop_the_clock, write_expected
from cases_preference import all_cases, fingerprint

OUT = Path(__file__).resolve().parent / "expected_preference.json"


def import_axolotl():
    """Imports axolotl.utils.data.rl without the modules beside it, which need many packages that the tokens do not depend on."""
    import axolotl.utils

    data = ModuleType("axolotl.utils.data")
    data.__path__ = [str(Path(next(iter(axolotl.utils.__path__)), "data"))]
    sys.modules["axolotl.utils.data"] = data
    for name in ("axolotl.loaders", "axolotl.utils.data.lock", "axolotl.utils.data.shared", "axolotl.utils.data.utils"):
        sys.modules[name] = MagicMock()
    import axolotl.utils.data.rl as rl

    return rl


def reader_of(case, tokenizer, rl):
    """Returns a function that turns a row into its fields with axolotl's texts, or into None if axolotl drops the row as too
    long."""
    import inspect

    from axolotl.utils.dict import DictDefault
    from axolotl.utils.schemas.enums import RLType

    method, kind = RLType(case["rl"]), case["entry"]["type"]
    config = DictDefault({"rl": case["rl"], "datasets": [case["entry"]], **case["config"]})
    load = {RLType.ORPO: rl.load_orpo, RLType.KTO: rl.load_kto}.get(method, rl.load_dpo)
    change = load("user_defined.default" if isinstance(kind, dict) else kind, config, dataset_idx=0)
    change = change[0] if isinstance(change, tuple) else change
    more = {"tokenizer": tokenizer} if "tokenizer" in inspect.signature(change).parameters else {}
    limits = {"rl": method, "tokenizer": tokenizer, "sequence_len": config.sequence_len}

    def read(row):
        made = change(copy.deepcopy(row), **more)
        made = rl._truncate_long_sequences_rl(made, **limits) if config.excess_length_strategy == "truncate" else made
        return made if rl._drop_long_sequences(made, **limits) else None

    return read


def separate(rows, case, tokenizer):
    """Returns [([(ids, labels)], None)] as ORPOTrainer and CPOTrainer compute them. A row without labels becomes None."""
    from trl.experimental.cpo.cpo_trainer import CPOTrainer
    from trl.experimental.orpo.orpo_trainer import ORPOTrainer

    trainer = CPOTrainer if case["rl"] == "simpo" else ORPOTrainer
    itself = SimpleNamespace(is_encoder_decoder=False, processing_class=tokenizer, max_length=case["config"]["sequence_len"])
    itself.build_tokenized_answer = lambda *arguments: trainer.build_tokenized_answer(itself, *arguments)
    found = []
    for row in rows:
        made = trainer.tokenize_row(itself, row)
        documents = [(made[f"{part}_input_ids"], made[f"{part}_labels"]) for part in ("chosen", "rejected")]
        found.append((documents, None) if all(any(label != -100 for label in labels[1:]) for _, labels in documents) else None)
    return found


def joined(rows, case, tokenizer):
    """Returns [([(ids, labels)], label)] as DPOTrainer and KTOTrainer compute them. A row that they drop becomes None."""
    from datasets import Dataset
    from trl.trainer.dpo_trainer import DataCollatorForPreference, DPOTrainer
    from trl.trainer.kto_trainer import DataCollatorForUnpairedPreference, KTOTrainer

    paired, most = case["rl"] == "dpo", case["config"]["sequence_len"]
    itself = SimpleNamespace(_tokenizer=tokenizer, calculate_KL=False, desirable_weight=1.0, undesirable_weight=1.0)
    arguments = SimpleNamespace(dataset_num_proc=None, max_length=most, truncation_mode="keep_start", per_device_train_batch_size=1)
    names = ("prompt", "chosen", "rejected") if paired else ("prompt", "completion", "label")
    listed = Dataset.from_list([{"number": number, **{name: row[name] for name in names}} for number, row in enumerate(rows)])
    prepared = (DPOTrainer if paired else KTOTrainer)._prepare_dataset(itself, listed, tokenizer, arguments, "train")
    collate = (DataCollatorForPreference if paired else DataCollatorForUnpairedPreference)(pad_token_id=tokenizer.pad_token_id, max_length=most)
    found = [None] * len(rows)
    for row in prepared:
        batch, documents = collate([row]), []
        for ids, mask, answer in zip(batch["input_ids"], batch["attention_mask"], batch["completion_mask"], strict=True):
            ids = ids[mask.bool()].tolist()
            documents.append((ids, [token if said else -100 for token, said in zip(ids, answer.tolist(), strict=False)]))
        found[row["number"]] = documents, None if paired else bool(batch["label"][0])
    return found


def scored(rows, case, tokenizer):
    """Returns the recorded form of each row for a reward model, which takes the score of the last non-padding token (transformers,
    modeling_layers.py, GenericForSequenceClassification)."""
    from axolotl.prompt_strategies.bradley_terry import load
    from axolotl.utils.dict import DictDefault

    config = DictDefault({"reward_model": True, "datasets": [case["entry"]], **case["config"]})
    strategy, found = load("chat_template", tokenizer, config, DictDefault(case["entry"])), []
    for row in rows:
        made, documents = strategy.tokenize_prompt(copy.deepcopy(row)), []
        for part in ("chosen_ids", "rejected_ids"):
            ids = made[part]
            end = max(place for place, token in enumerate(ids) if token != tokenizer.pad_token_id) + 1
            documents.append((ids[:end], [-100] * (end - 1) + [0]))
        found.append(fingerprint(documents, None))
    return found


def rows_of(case, tokenizers, rl):
    """Returns the recorded form of each row: None if the libraries refuse it, [] if they drop it."""
    tokenizer = copy.deepcopy(tokenizers[case["tokenizer"]])
    if case["rl"] == "reward":
        return scored(case["rows"], case, tokenizer)
    if case["config"].get("chat_template"):
        from axolotl.utils.chat_templates import get_chat_template_from_config
        from axolotl.utils.dict import DictDefault

        tokenizer.chat_template = get_chat_template_from_config(cfg=DictDefault(case["config"]), tokenizer=tokenizer)
    read, texts, found = reader_of(case, tokenizer, rl), [], []
    for row in case["rows"]:
        try:
            texts.append(read(row))
            found.append([])
        except Exception as error:
            texts.append(None)
            found.append(None)
            print(case["name"], "refused:", type(error).__name__, str(error).splitlines()[:1])
    kept = [number for number, made in enumerate(texts) if made is not None]
    if kept:
        tokenize = joined if case["rl"] in ("dpo", "kto") else separate
        for number, made in zip(kept, tokenize([texts[number] for number in kept], case, tokenizer), strict=True):
            found[number] = [] if made is None else fingerprint(*made)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", metavar="NAME")
    asked = parser.parse_args()
    from datasets import disable_caching, disable_progress_bars

    stop_the_clock()
    disable_caching()
    disable_progress_bars()
    rl, kept = import_axolotl(), {}
    with tempfile.TemporaryDirectory() as folder:
        tokenizers = make_tokenizers(folder)
        for case in all_cases():
            if asked.show in (None, case["name"]):
                kept[case["name"]] = rows_of(case, tokenizers, rl)
        digests = {name: digest_of(tokenizer) for name, tokenizer in tokenizers.items()}
    if asked.show:
        print(json.dumps(kept, indent=1))
        return
    write_expected(OUT, {"axolotl": "0.19.0", "trl": "1.16.0", "tokenizers": digests}, kept)


if __name__ == "__main__":
    main()
