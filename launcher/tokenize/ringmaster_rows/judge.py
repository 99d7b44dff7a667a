"""Calls the user's reward functions for a run that trains on completions, and asks a server for
completions if the request names one. The engine starts it as a separate process:

    ringmaster_tokenize.py --rewards FILE.json

The file is {"functions": ["module.function", …], "prompts": a file with a JSON object per line,
"base_dir", and the keys of a request for tokens that name the tokenizer}. Requests come on stdin
and answers go to stdout, one line of JSON each:

    {"step", "prompts": [index of a line], "completions": [[token ids]]}
    {"ready": [names]}, then for each question {"running": name} for each function, and {"rewards": a list of numbers or nulls per function}

or {"error", "where", "hint", "exit"}, after which the process ends. With "server": {"url",
"key_variable", "key_file", "ca_file", "timeout", "reload_command"} in the file, {"sample": …}
asks the server for completions (engine/train/served_completions.h). A function is called as TRL
1.16 calls it: with the lists `prompts`, `completions`, `completion_ids`, a list for each other
field of the rows, and `trainer_state`, whose `global_step` is the number of completed steps.
`log_extra` and `log_metric` are not passed. What a function prints goes to stderr."""

import asyncio
import inspect
import json
import math
import numbers
import os
import traceback
from types import SimpleNamespace

from .cache import read_json
from .functions import described, function_named
from .prompts import Asked
from .report import Failure
from .rollout_server import RolloutServer
from .vocabulary import load_tokenizer

NOT_PASSED = ("prompt", "completion", "completion_ids")  # fields of a row that are no argument, as in TRL


def judge(request_file, report):
    """Answers requests until stdin ends."""
    questions = os.fdopen(os.dup(0), "r", encoding="utf-8")
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)  # a function that reads its stdin must not consume a request
    asked = Asked(read_json(request_file))
    functions = [(name, function_named(name, f"trl.reward_funcs: {name}", asked.base_dir)) for name in asked["functions"]]
    rows = rows_in(asked["prompts"])
    tokenizer = load_tokenizer(asked, report)
    server = None
    report.line({"ready": asked["functions"]})
    for line in questions:
        question = json.loads(line)
        if "sample" in question:
            server = server or RolloutServer(asked["server"], report)
            report.line(server.rollouts(question["sample"]))
        else:
            report.line({"rewards": answer(question, functions, rows, tokenizer, report)})


def rows_in(file):
    with open(file, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def answer(question, functions, rows, tokenizer, report):
    """Returns a list of rewards for each function."""
    places, ids = question["prompts"], question["completions"]
    chosen = [rows[place] for place in places]
    prompts = [row["prompt"] for row in chosen]
    texts = tokenizer.batch_decode(ids, skip_special_tokens=True)
    completions = [[{"role": "assistant", "content": text}] if isinstance(prompt, list) else text
                   for prompt, text in zip(prompts, texts, strict=True)]
    fields = {name: [row.get(name) for row in chosen] for name in chosen[0] if name not in NOT_PASSED}
    state = SimpleNamespace(global_step=question["step"])
    found = []
    for name, function in functions:
        report.line({"running": name})
        found.append(checked(called(name, function, prompts=list(prompts), completions=list(completions),
                                    completion_ids=[list(one) for one in ids], trainer_state=state, **fields), name, prompts))
    return found


def called(name, function, **arguments):
    try:
        result = function(**arguments)
        return asyncio.run(result) if inspect.isawaitable(result) else result
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        raise Failure(described(error), f"reward function {name}", "its whole traceback is in the log of rank 0") from error


def checked(values, name, prompts):
    where = f"reward function {name}"
    if not hasattr(values, "__len__") or isinstance(values, (str, bytes, dict)):
        raise Failure(f"returned {type(values).__name__}, not a list of rewards", where)
    if len(values) != len(prompts):
        raise Failure(f"returned {len(values)} rewards for {len(prompts)} completions", where, "return one for each completion")
    return [number(value, f"{where}, completion {index + 1}, prompt {shown(prompt)}")
            for index, (value, prompt) in enumerate(zip(values, prompts, strict=True))]


def number(value, where):
    """Returns the reward as a finite number; None stays None, because the function did not judge this completion."""
    if value is None:
        return None
    if hasattr(value, "item") and getattr(value, "size", 1) in (1, ()) or callable(getattr(value, "numel", None)):
        value = value.item()
    if not isinstance(value, numbers.Real):
        raise Failure(f"the reward is {type(value).__name__}, not a number", where)
    if not math.isfinite(value):
        raise Failure(f"the reward is {float(value)}", where, "return None for a completion that is not to be judged")
    return float(value)


def shown(prompt):
    text = prompt if isinstance(prompt, str) else json.dumps(prompt, ensure_ascii=False)
    return repr(text if len(text) <= 80 else text[:77] + "…")
