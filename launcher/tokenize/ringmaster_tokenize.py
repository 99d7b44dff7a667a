"""Prepares rows for training: reads datasets as axolotl describes them, tokenizes them, and writes tokens for the engine.

    ringmaster_tokenize.py --request FILE.json --cache DIR
    ringmaster_tokenize.py --fetch-model ID [--revision REVISION]
    ringmaster_tokenize.py --grow-model FILE.json --to DIR
    ringmaster_tokenize.py --prompts FILE.json
    ringmaster_tokenize.py --push FILE.json
    ringmaster_tokenize.py --rewards FILE.json     (answers questions on stdin; ringmaster_rows/judge.py)
    ringmaster_tokenize.py --rollouts FILE.json    (answers questions on stdin; ringmaster_rows/rollout_folder.py)

Stdout is JSON lines: {"phase", "of", "done", "total"} (total 0: not known), {"warning"}, and last {"result"} or
{"error", "where", "hint", "exit"}. The exit status is that of the error: 1 refused, 2 missing file or unusable request,
3 the hub could not be reached, 130 interrupted. The same request over the same content is answered from the cache.
"""

import argparse
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from ringmaster_rows import cache  # noqa: E402
from ringmaster_rows.report import INTERRUPTED, Failure, Interrupted, Report  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--request", metavar="FILE", help="what to prepare, as JSON")
    what.add_argument("--fetch-model", metavar="ID", help="download a model of the Hugging Face hub")
    what.add_argument("--grow-model", metavar="FILE", help="add tokens to a tokenizer and rows to a model, as JSON")
    what.add_argument("--prompts", metavar="FILE", help="turn prompts into tokens, as JSON")
    what.add_argument("--rewards", metavar="FILE", help="call reward functions for questions on stdin, as JSON")
    what.add_argument("--rollouts", metavar="FILE", help="take rows from a folder for questions on stdin, as JSON")
    what.add_argument("--push", metavar="FILE", help="upload a folder to the Hugging Face hub, as JSON")
    parser.add_argument("--to", metavar="DIR", type=Path, help="folder to write them to (with --grow-model)")
    parser.add_argument("--cache", metavar="DIR", type=Path, help="folder of prepared rows (with --request)")
    parser.add_argument("--revision", help="branch, tag or commit (with --fetch-model)")
    asked = parser.parse_args()
    if asked.request and not asked.cache:
        parser.error("--request needs --cache")
    if asked.grow_model and not asked.to:
        parser.error("--grow-model needs --to")
    return asked


def quiet_libraries():
    for name, value in {"HF_DATASETS_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1",
                        "HF_HUB_DISABLE_TELEMETRY": "1", "TRANSFORMERS_VERBOSITY": "error",
                        "DATASETS_VERBOSITY": "error"}.items():
        os.environ.setdefault(name, value)


def interrupt(number, frame):
    raise Interrupted


def prepared(request_file, cache_dir, report):
    request = cache.read_request(request_file)
    cache_dir.mkdir(parents=True, exist_ok=True)
    key = cache.request_key(request, cache_dir, report)
    if request.prepared and request["datasets"]:
        report.warning(f"the rows come from the prepared dataset in {request.prepared.folder}, not from `datasets`")
    found = cache.cached_result(cache_dir / key)
    if found:
        return {**found, "cached": True}
    from ringmaster_rows.prepare import prepare

    with cache.aside_folder(cache_dir, key) as folder:
        result = prepare(request, folder, report)
        return {**cache.store(folder, cache_dir / key, result), "cached": False}


def main():
    asked, report = arguments(), Report()
    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGINT, interrupt)
    quiet_libraries()
    try:
        if asked.request:
            report.result(prepared(asked.request, asked.cache, report))
        elif asked.grow_model:
            from ringmaster_rows.growth import grow

            report.result(grow(asked.grow_model, asked.to, report))
        elif asked.prompts:
            from ringmaster_rows.prompts import encode_prompts

            report.result(encode_prompts(asked.prompts, report))
        elif asked.push:
            from ringmaster_rows.push import push

            report.result(push(asked.push, report))
        elif asked.rewards:
            from ringmaster_rows.judge import judge

            judge(asked.rewards, report)
        elif asked.rollouts:
            from ringmaster_rows.rollout_folder import answer_questions

            answer_questions(asked.rollouts, report)
        else:
            from ringmaster_rows.hub import fetch_model

            report.result({"model_dir": fetch_model(asked.fetch_model, asked.revision, report)})
        return 0
    except Failure as error:
        failure = error
    except OSError as error:
        failure = Failure(error.strerror or str(error), str(error.filename or asked.cache or ""))
    except Interrupted:
        failure = Failure("interrupted", status=INTERRUPTED)
    report.failure(failure)
    return failure.status


if __name__ == "__main__":
    sys.exit(main())
