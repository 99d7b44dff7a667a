"""Reads what a server of completions answers: OpenAI's completions protocol with token ids, as vLLM
and SGLang speak it. These functions have no side effects, and limit what they accept: no part of
an answer is trusted until it has passed these checks."""

import json
import math
from dataclasses import dataclass

ROUNDING = 1e-5  # log-probabilities of 32 bits may be this far above 0
TOKEN = "token_id:"  # vLLM's `return_tokens_as_token_ids`


class InvalidAnswer(Exception):
    """Raised if an answer does not fit the request."""


@dataclass(frozen=True)
class Wanted:
    """Describes one request: `n` completions of one prompt."""

    prompt: list
    n: int
    max_tokens: int
    vocabulary: int
    stop_ids: frozenset
    log_probabilities: bool
    version: str = ""  # version of the weights, if the server was told one

    def longest(self):
        """Returns the most bytes that an answer may have: each token comes as id, text, log-probability and offset."""
        return (1 << 20) + self.n * (400 * (self.max_tokens + 1) + 12 * len(self.prompt))


def parsed(body):
    """Returns the JSON object in `body`."""
    try:
        value = json.loads(body, parse_constant=not_a_number)
    except (ValueError, RecursionError) as error:
        raise InvalidAnswer(f"the answer is no JSON: {error}"[:200]) from error
    if not isinstance(value, dict):
        raise InvalidAnswer("the answer is no JSON object")
    return value


def not_a_number(word):
    raise InvalidAnswer(f"the answer holds {word}, which is no number")


def completions_in(body, wanted):
    """Returns [(ids, log-probabilities or None)] of the completions, in the order of their indices."""
    answer = parsed(body)
    choices = answer.get("choices")
    if not isinstance(choices, list) or len(choices) != wanted.n or not all(isinstance(choice, dict) for choice in choices):
        raise InvalidAnswer(f"the answer does not hold {wanted.n} completions")
    indices = [choice.get("index", place) for place, choice in enumerate(choices)]
    if any(type(index) is not int for index in indices) or sorted(indices) != list(range(wanted.n)):
        raise InvalidAnswer("the completions are not numbered from 0")
    metadata = answer.get("metadata")
    version = metadata.get("weight_version") if isinstance(metadata, dict) else None
    if wanted.version and version is not None and version != wanted.version:
        raise InvalidAnswer(f"the completions are of other weights: {str(version)[:80]}, not {wanted.version}")
    return [completion_in(choices[indices.index(index)], wanted) for index in range(wanted.n)]


def completion_in(choice, wanted):
    logprobs = choice.get("logprobs")
    logprobs = logprobs if isinstance(logprobs, dict) else {}
    ids = ids_in(choice, logprobs)
    if not 1 <= len(ids) <= wanted.max_tokens:
        raise InvalidAnswer(f"a completion has {len(ids)} tokens, not 1 to {wanted.max_tokens}")
    for id in ids:
        if type(id) is not int or not 0 <= id < wanted.vocabulary:
            raise InvalidAnswer(f"a completion has the token {str(id)[:40]}, which the model does not know")
    if choice.get("prompt_token_ids") not in (None, wanted.prompt):
        raise InvalidAnswer("a completion is of another prompt")
    if any(id in wanted.stop_ids for id in ids[:-1]):
        raise InvalidAnswer("a completion goes on after a stop token")
    reason = choice.get("finish_reason")
    if reason not in ("stop", "length"):
        raise InvalidAnswer(f"a completion ended by {str(reason)[:40]!r}, not by 'stop' or 'length'")
    if reason == "stop" and ids[-1] not in wanted.stop_ids:
        raise InvalidAnswer(f"a completion ended at the token {ids[-1]}, which is no stop token of this run")
    return ids, log_probabilities_in(logprobs, len(ids)) if wanted.log_probabilities else None


def ids_in(choice, logprobs):
    """Returns the token ids; older versions of vLLM give them in place of the tokens' texts."""
    ids = choice.get("token_ids")
    if ids is None:
        texts = logprobs.get("tokens")
        if not isinstance(texts, list) or not all(isinstance(text, str) and text[:9] == TOKEN and text[9:19].isdecimal() for text in texts):
            raise InvalidAnswer("a completion comes without token ids: the server has to know return_token_ids (vLLM 0.10.2 or later, a recent SGLang)")
        ids = [int(text[9:19]) for text in texts]
    if not isinstance(ids, list):
        raise InvalidAnswer("a completion's token ids are no list")
    return ids


def log_probabilities_in(logprobs, count):
    values = logprobs.get("token_logprobs")
    if not isinstance(values, list) or len(values) != count:
        raise InvalidAnswer(f"a completion of {count} tokens does not have as many log-probabilities")
    for value in values:
        if type(value) not in (int, float) or not math.isfinite(value) or value > ROUNDING:
            raise InvalidAnswer(f"a log-probability is {str(value)[:40]}")
    return [float(value) for value in values]
