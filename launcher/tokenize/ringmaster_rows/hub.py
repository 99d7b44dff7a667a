"""What the Hugging Face hub's client says when something cannot be had, as one Failure."""

from .report import REFUSED, UNREACHABLE, Failure

# By name: importing every client's exceptions costs more than a cached answer may take.
NOT_THERE = {"RepositoryNotFoundError", "RevisionNotFoundError", "EntryNotFoundError", "GatedRepoError",
             "DatasetNotFoundError", "DisabledRepoError", "DataFilesNotFoundError", "HFValidationError"}
NO_WAY = {"LocalEntryNotFoundError", "OfflineModeIsEnabled", "ConnectError", "ConnectTimeout", "ConnectionError",
          "ReadTimeout", "TimeoutException", "ProxyError", "MaxRetryError", "RemoteProtocolError", "SSLError"}


def hub_failure(error, what, where):
    names = {base.__name__ for cause in causes(error) for base in type(cause).__mro__}
    said = first_line(error)
    if names & NO_WAY:
        return Failure(f"{what} could not be fetched from the Hugging Face hub: {said}", where,
                       "a local folder needs no network; HF_ENDPOINT, HF_HOME and HF_TOKEN are obeyed", UNREACHABLE)
    if names & NOT_THERE:
        return Failure(f"{what}: {said}", where, "a private or gated repository needs HF_TOKEN", REFUSED)
    return Failure(f"{what}: {said}", where)


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

    report.progress(f"fetching {model}", 0, 0)
    try:
        return snapshot_download(model, revision=revision, allow_patterns=[
            "*.safetensors", "*.safetensors.index.json", "*.json", "*.model", "*.txt", "*.jinja", "*.tiktoken"])
    except Exception as error:
        raise hub_failure(error, model, "base_model") from error
