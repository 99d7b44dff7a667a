"""Makes the tokenizer of a run that adds or renames tokens, and the model whose embeddings have a row for each token. Both go into the
run's folder: `tokenizer`, and `model` if the number of rows changes. The unchanged weights are links to the base model's files;
transformers resizes the embeddings, on a model of the same kind without layers."""

import json
import math
from pathlib import Path

from .cache import read_json
from .hub import first_line
from .report import Failure
from .vocabulary import grown_tokenizer

GROWN_FILE = "model-embeddings.safetensors"
INDEX = "model.safetensors.index.json"


def grow(request_file, folder, report):
    request = read_json(request_file)
    tokenizer = grown_tokenizer(request, folder, report)
    result = {"tokenizer": str(folder / "tokenizer"), "model_dir": ""}
    tokenizer.save_pretrained(result["tokenizer"])
    base = Path(request["model_dir"])
    rows, wanted = rows_of(base), wanted_rows(len(tokenizer), request["tokenization"])
    if wanted > rows or (wanted < rows and request["tokenization"].get("shrink_embeddings")):
        refuse_adapter(request, wanted, rows)
        report.progress("embeddings", 0, 0)
        resize_model(base, folder / "model", wanted, request)
        result["model_dir"] = str(folder / "model")
    return {**result, "vocab_size": wanted if result["model_dir"] else rows}


def wanted_rows(tokens, options):
    return math.ceil(tokens / 32) * 32 if options.get("resize_token_embeddings_to_32x") else tokens


def refuse_adapter(request, wanted, rows):
    if request.get("adapter") and len(request.get("modules_to_save") or ()) < 2:
        raise Failure(f"the tokenizer has {wanted} tokens, the model {rows}, and an adapter saves no embeddings", "lora_modules_to_save",
                      "lora_modules_to_save: [embed_tokens, lm_head], or name tokens that the vocabulary has")


def rows_of(base):
    return text_config(read_json(base / "config.json"))["vocab_size"]


def text_config(config):
    return config if "vocab_size" in config else config["text_config"]


def resize_model(base, folder, wanted, request):
    folder.mkdir(parents=True, exist_ok=True)
    config = read_json(base / "config.json")
    text_config(config)["vocab_size"] = wanted
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    if (base / "generation_config.json").is_file():
        (folder / "generation_config.json").write_bytes((base / "generation_config.json").read_bytes())
    if request.get("reinit_weights"):
        return
    files = weight_files(base)
    grown = resized(base, files, wanted, request)
    from safetensors.torch import save_file

    save_file(grown, folder / GROWN_FILE, metadata={"format": "pt"})
    links = {}
    for name, file in files.items():
        links[name] = GROWN_FILE if name in grown else f"base-{file.name}"
        if name not in grown and not (folder / links[name]).exists():
            (folder / links[name]).symlink_to(file.resolve())
    (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": links}, indent=2) + "\n", encoding="utf-8")


def weight_files(base):
    """Returns {tensor: the file that holds it}."""
    from safetensors import safe_open

    if (base / INDEX).is_file():
        return {name: base / file for name, file in read_json(base / INDEX)["weight_map"].items()}
    single = base / "model.safetensors"
    if not single.is_file():
        raise Failure(f"{base} holds no model.safetensors", "base_model")
    with safe_open(single, "pt") as file:
        return dict.fromkeys(file.keys(), single)


def resized(base, files, wanted, request):
    """Returns {name: tensor} of the embedding and, unless it is tied, the head, as transformers' resize_token_embeddings resizes them."""
    import torch
    from safetensors import safe_open

    model = layerless(base)
    named = {id(parameter): name for name, parameter in model.named_parameters()}  # a tied head has the embedding's name
    names = {}
    for part, parameter in embedding_parameters(model).items():
        name = named.get(id(parameter), "")
        stored = next((held for held in (name, name.removeprefix("model.")) if held in files), None)
        if stored is None or stored in names.values():
            continue
        with safe_open(files[stored], "pt") as file:
            parameter.data = file.get_tensor(stored)
        names[part] = stored
    if "embedding" not in names:
        raise Failure("the weights hold no embedding that can be resized", "base_model")
    torch.manual_seed(request.get("seed") or 0)
    options = {} if request["tokenization"].get("mean_resizing_embeddings") is None else {
        "mean_resizing": request["tokenization"]["mean_resizing_embeddings"]}
    model.resize_token_embeddings(wanted, **({"mean_resizing": False} | options))
    resized_parameters = embedding_parameters(model)
    return {stored: resized_parameters[part].data.contiguous() for part, stored in names.items()}


def embedding_parameters(model):
    """Returns the parameters that have a row for each token, by part of the model."""
    head = model.get_output_embeddings()
    found = {"embedding": model.get_input_embeddings().weight, "head": getattr(head, "weight", None), "bias": getattr(head, "bias", None)}
    return {part: parameter for part, parameter in found.items() if parameter is not None}


def layerless(base):
    import transformers

    try:
        config = transformers.AutoConfig.from_pretrained(base)
        text = config.get_text_config()
        text.num_hidden_layers = 0
        if getattr(text, "layer_types", None):
            text.layer_types = []
        return transformers.AutoModelForCausalLM.from_config(config)
    except Exception as error:
        raise Failure(f"the embeddings of {base} cannot be resized: {first_line(error)}", "tokens",
                      "name tokens that the vocabulary has") from error
