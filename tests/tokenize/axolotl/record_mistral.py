"""Records axolotl's results for the cases in cases_mistral.py in expected_mistral.json.

    python record_mistral.py [--show NAME]

Run it where record.py runs, with axolotl and mistral-common[sentencepiece].
"""

import argparse
import tempfile
from pathlib import Path

from cases import fingerprint, write_expected
from cases_mistral import all_cases, digest_of, make_tekkens
from record import tokens_of

OUT = Path(__file__).resolve().parent / "expected_mistral.json"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", metavar="NAME")
    asked = parser.parse_args()
    from axolotl.utils.mistral import HFMistralTokenizer
    from datasets import disable_caching, disable_progress_bars

    disable_caching()
    disable_progress_bars()
    with tempfile.TemporaryDirectory() as folder:
        folders = make_tekkens(folder)
        tokenizers = {version: HFMistralTokenizer.from_pretrained(str(place)) for version, place in folders.items()}
        digests = {version: digest_of(place) for version, place in folders.items()}
        found = {case["name"]: tokens_of(case, tokenizers) for case in all_cases() if asked.show in (None, case["name"])}
    if asked.show:
        tokenizer = tokenizers[asked.show.split("/")[1]]
        for ids, labels in (item for row in found[asked.show] for item in row or []):
            print([(tokenizer.convert_ids_to_tokens(i), int(label != -100)) for i, label in zip(ids, labels, strict=True)])
        return
    rows = {name: [None if row is None else [fingerprint(*item) for item in row] for row in rows] for name, rows in found.items()}
    write_expected(OUT, {"axolotl": "0.19.0", "tekken": digests}, rows)


if __name__ == "__main__":
    main()
