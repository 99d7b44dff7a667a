"""Turns the errors of the Hugging Face hub's client into one Failure."""

import os
import sys
from contextlib import contextmanager

from .report import REFUSED, UNREACHABLE, Failure

# Exceptions are matched by name, because importing every client's exceptions would slow down a cached answer.
NOT_THERE = {"RepositoryNotFoundError", "RevisionNotFoundError", "EntryNotFoundError", "GatedRepoError",
             "DatasetNotFoundError", "DisabledRepoError", "DataFilesNotFoundError", "HFValidationError"}
NO_WAY = {"LocalEntryNotFoundError", "OfflineModeIsEnabled", "ConnectError", "ConnectTimeout", "ConnectionError",
          "ReadTimeout", "TimeoutException", "ProxyError", "MaxRetryError", "RemoteProtocolError", "SSLError"}


SECONDS_TO_ANSWER = 10


@contextmanager
def from_hub(name, kind, where, what=None):
    """Translates failures while a "model" or "dataset" is fetched. If the hub does not answer, its clients would retry for minutes, so
    they are told to use only their cached copies."""
    unreachable = ask_hub(name, kind)
    if unreachable:
        go_offline()
    try:
        yield
    except Failure:
        raise
    except Exception as error:
        raise hub_failure(unreachable or error, what or name, where) from error


def ask_hub(name, kind):
    """Returns the error if the hub cannot be reached, else None."""
    from huggingface_hub import HfApi, constants

    if constants.HF_HUB_OFFLINE:
        return None
    try:
        getattr(HfApi(), f"{kind}_info")(name, timeout=SECONDS_TO_ANSWER)
    except Exception as error:
        return error if class_names(error) & NO_WAY else None
    return None


def go_offline():
    os.environ["HF_HUB_OFFLINE"] = "1"
    for module in ("huggingface_hub.constants", "datasets.config"):
        if module in sys.modules:
            sys.modules[module].HF_HUB_OFFLINE = True


def hub_failure(error, what, where):
    names, said = class_names(error), first_line(error)
    if names & NO_WAY:
        return Failure(f"{what} could not be fetched from the Hugging Face hub: {said}", where,
                       "a local folder needs no network; HF_ENDPOINT, HF_HOME and HF_TOKEN are obeyed", UNREACHABLE)
    if names & NOT_THERE:
        return Failure(f"{what} is not on the Hugging Face hub, or not for you: {said}", where, "a private or gated repository needs HF_TOKEN", REFUSED)
    return Failure(f"{what} cannot be loaded from the Hugging Face hub: {said}", where)


def class_names(error):
    return {base.__name__ for cause in causes(error) for base in type(cause).__mro__}


def causes(error):
    seen = []
    while error is not None and error not in seen:
        seen.append(error)
        error = error.__cause__ or error.__context__
    return seen


def first_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def fetch_model(model, revision, report):
    """Downloads a model's weights, configuration and tokenizer; returns the folder where the hub's client keeps them."""
    from huggingface_hub import snapshot_download

    report.progress("fetch", 0, 0, model)
    with from_hub(model, "model", "base_model"):
        return snapshot_download(model, revision=revision, allow_patterns=[
            "*.safetensors", "*.safetensors.index.json", "*.json", "*.model", "*.txt", "*.jinja", "*.tiktoken"])
