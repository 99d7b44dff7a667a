"""Uploads a model's folder to the Hugging Face hub, by the hub's own client and with the user's token."""

import json
from pathlib import Path

from .hub import NO_WAY, class_names, first_line
from .report import REFUSED, UNREACHABLE, Failure

NOT_OF_THE_MODEL = ["ringmaster-run.json", "checkpoint-*/**", "runs/**", "*.tmp", ".*"]
NO_TOKEN = {"LocalTokenNotFoundError", "GatedRepoError"}
TOKEN_HINT = "log in by `hf auth login`, or set HF_TOKEN to a token that may write"


def push(request_file, report):
    """Makes the repository if it does not exist and uploads the folder in one commit. The request is {"folder", "repository",
    "private", "message"}. Returns {"url"}."""
    from huggingface_hub import HfApi

    asked = json.loads(Path(request_file).read_text(encoding="utf-8"))
    api, name = HfApi(), asked["repository"]
    try:
        report.progress("pack-upload", 0, 0)
        api.create_repo(name, private=asked["private"], exist_ok=True)
        report.progress("upload", 0, 0, name)
        done = api.upload_folder(repo_id=name, folder_path=asked["folder"], commit_message=asked["message"], ignore_patterns=NOT_OF_THE_MODEL)
    except Exception as error:
        raise failure_of(error, name) from error
    return {"url": done.commit_url.partition("/commit/")[0]}


def failure_of(error, name):
    names, status = class_names(error), getattr(getattr(error, "response", None), "status_code", None)
    if "HFValidationError" in names:
        return Failure(first_line(error), "--to", "OWNER/NAME")
    if names & NO_WAY:
        return Failure(f"the hub cannot be reached: {first_line(error)}", name, "HF_ENDPOINT and HF_HUB_OFFLINE are obeyed", UNREACHABLE)
    if status in (401, 403) or names & NO_TOKEN:
        return Failure(f"the hub does not let you write there: {first_line(error)}", name, TOKEN_HINT, REFUSED)
    return Failure(f"the hub refused the upload: {first_line(error)}", name)
