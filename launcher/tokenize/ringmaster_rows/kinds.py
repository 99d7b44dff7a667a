"""Chooses the encoder of each type of dataset and the keys of an entry that it reads, and says why some types are refused."""

from functools import partial

from . import asked
from .chat import chat_options, chat_template
from .encoders import completion
from .instruct import TAKES, instruct, kind_named, kind_of_fields, prompts, reflection
from .preference_texts import names_of, reader_of, whole_name
from .preference_tokens import Rules, preferences, token_preferences
from .report import Failure
from .rewards import compared, token_pairs
from .rollouts import rollouts
from .sharegpt import settings_of, sharegpt
from .sharegpt_chat import sharegpt_chat
from .steps import judged
from .streams import is_pretraining, pretrain
from .talks import input_output, llama2_chat, pygmalion

FILES = {"path", "type", "ds_type", "data_files", "name", "split", "train_on_split", "revision", "trust_remote_code", "shards", "shards_idx",
         "preprocess_shards"}
CHAT = {"field_messages", "field_system", "field_tools", "field_thinking", "template_thinking_key", "message_property_mappings",
        "message_field_role", "message_field_content", "message_field_training", "message_field_training_detail", "roles",
        "roles_to_train", "train_on_eos", "train_on_eot", "chat_template", "chat_template_jinja", "drop_system_message",
        "split_thinking"}
SHAREGPT = {f"sharegpt{part}" for part in ("", ".load_role", ".load_ultrachat", ".load_guanaco", ".load_glaive")}
FIELDS = {"completion": {"field"}, "pretrain": {"text_column"}, "chat_template": CHAT, "alpaca_chat": {"conversation"},
          **dict.fromkeys(SHAREGPT, {"conversation", "field_human", "field_model", "field_messages", "roles", "strict"})}
TALK_ENCODERS = {"pygmalion": pygmalion, "llama2_chat": llama2_chat, "sharegpt:chat": sharegpt_chat}
TALKS = ("input_output", *TALK_ENCODERS)
# Keys of an entry that would change the rows or labels in a way that this package does not support;
# they are refused.
UNSUPPORTED = {"input_transform", "input_format", "skip", "streaming", "temperature"}
STEPS = {"step_separator", "max_completion_length", "train_on_last_step_only"}
PAIRS = {"chat_template": {"field_messages", "field_chosen", "field_rejected", "message_property_mappings", "message_field_role",
                           "message_field_content", "roles", "chat_template", "chat_template_jinja"}}
REWARDS = "bradley_terry.chat_template"
REWARD_KEYS = {"message_property_mappings", "message_field_training", "message_field_training_detail", "roles", "drop_system_message",
               "roles_to_train", "train_on_eos", "chat_template", "chat_template_jinja"}
PREFERENCES = "rows for preferences or rewards: they belong to `rl` or `reward_model`, and this run trains on next tokens"
REFUSED = {"bradley_terry": PREFERENCES, "stepwise_supervised": PREFERENCES, "dpo": PREFERENCES, "kto": PREFERENCES,
           "orpo": PREFERENCES, "ebft": PREFERENCES, "rwd": PREFERENCES, "chatml": PREFERENCES, "llama3": PREFERENCES,
           "zephyr": PREFERENCES, "user_defined": PREFERENCES}


def known():
    return sorted({*prompts(), *FIELDS, *TALKS})


def type_of(source):
    return source.entry.get("type") or ""


def find_encoder(source, request, tokenizer):
    """Returns a function from rows to examples."""
    kind, options, length = type_of(source), request["tokenization"], request["sequence_len"]
    pretrains = is_pretraining(source.entry)
    if options.get("tokenizer_use_mistral_common") and (str(kind).startswith("sharegpt") or pretrains):
        raise Failure(f"no version of axolotl reads {'a stream' if source.entry.get('streamed') else kind} with mistral-common",
                      "tokenizer_use_mistral_common", "leave it out, or name rows of another type")
    trained = bool(options.get("train_on_inputs"))
    if isinstance(kind, dict):
        return partial(instruct, kind=kind_of_fields(kind, f"{source.key}.type"), tokenizer=tokenizer(), train_on_inputs=trained,
                       sequence_len=length)
    if kind == "pretrain" or (pretrains and not request["sample_packing"]):  # axolotl packs these texts into windows, or cuts them
        return partial(pretrain, entry=source.entry, tokenizer=tokenizer(), sequence_len=length, packed=request["sample_packing"])
    if kind == "stepwise_supervised":
        return partial(judged, entry=source.entry, tokenizer=tokenizer(), sequence_len=length, labels=request["token_labels"])
    if kind == "completion":
        return partial(completion, entry=source.entry, tokenizer=tokenizer(), sequence_len=length)
    if kind == "chat_template":
        settings = chat_options(source, tokenizer(), options, request.base_dir)
        return partial(chat_template, tokenizer=tokenizer(), options=settings)
    if kind in SHAREGPT:
        return partial(sharegpt, settings=settings_of(source.entry, source.key, options), tokenizer=tokenizer(), sequence_len=length)
    if kind == "input_output":
        return partial(input_output, tokenizer=tokenizer(), train_on_inputs=trained)
    if kind in TALKS:
        return partial(TALK_ENCODERS[kind], tokenizer=tokenizer(), sequence_len=length)
    encode = reflection if kind.split(":")[0] == "reflection" else instruct
    return partial(encode, kind=kind_named(kind, source.entry), tokenizer=tokenizer(), train_on_inputs=trained, sequence_len=length)


def find_preferences(source, request, tokenizer, first, report):
    """Returns a function that turns rows into examples of preferences or rollouts."""
    if request["preference"] == "grpo" and request["completion_tokens"]:
        return partial(asked.prompts, tokenizer=tokenizer(), most=request["sequence_len"] - request["completion_tokens"],
                       transform=asked.transform_of(source, request, tokenizer()))
    if request["preference"] == "grpo":
        return partial(rollouts, sequence_len=request["sequence_len"])
    if request["preference"] == "reward":
        return find_rewards(source, request, tokenizer, first)
    rules, options = Rules(request["preference"], request["sequence_len"], request["excess_length"]), request["tokenization"]
    if options.get("tokenizer_use_mistral_common"):
        raise Failure("rows of preferences are not read with mistral-common", "tokenizer_use_mistral_common", "leave it out")
    if type_of(source) == "" and {"chosen_input_ids", "input_ids"} & set(first):
        return partial(token_preferences, rules=rules)
    if options.get("chat_template_kwargs"):
        report.warning("chat_template_kwargs has no effect on rows of preferences, as in axolotl")
    read = reader_of(source, rules.method, tokenizer, options, request.base_dir)
    return partial(preferences, read=read, tokenizer=tokenizer(), rules=rules, report=report)


def find_rewards(source, request, tokenizer, first):
    """Returns a function that turns rows into pairs of conversations for a reward model."""
    options, length = request["tokenization"], request["sequence_len"]
    if type_of(source) == "" and "chosen_input_ids" in first:
        return partial(token_pairs, sequence_len=length)
    if options.get("tokenizer_use_mistral_common"):
        raise Failure("rows for a reward model are not read with mistral-common", "tokenizer_use_mistral_common", "leave it out")
    settings = chat_options(source, tokenizer(), options, request.base_dir)._replace(messages="messages", system="system")
    return partial(compared, tokenizer=tokenizer(), options=settings, sequence_len=length)


def check_entry(source, report, request):
    kind, where, preference = type_of(source), f"{source.key}.type", request["preference"]
    if request["token_labels"]:
        check_steps(kind, where)
        read = STEPS
    elif preference:
        if not request["completion_tokens"]:
            check_preference(kind, where, preference)
        read = REWARD_KEYS if preference == "reward" else PAIRS.get(str(kind).split(".")[0], set()) if preference != "orpo" else set()
    else:
        check_type(kind, where, source.entry)
        read = FIELDS.get(kind, set()) if isinstance(kind, str) else set()
    for key, value in source.entry.items():
        if value is None or value is False or key in FILES | read | {"streamed"} or is_pretraining(source.entry):
            continue
        if key in UNSUPPORTED:
            raise Failure(f"{key} would choose other rows or labels, and is not supported", f"{source.key}.{key}")
        shown = (kind if isinstance(kind, str) else "rows with fields of their own") or "rows that hold input_ids"
        report.warning(f"{source.key}.{key} has no effect on {shown}")


def check_preference(kind, where, method):
    if kind == "" or method not in ("grpo", "reward") and (isinstance(kind, dict) or whole_name(str(kind)) in names_of(method)):
        return
    if method == "grpo":
        raise Failure("rows of rollouts hold token ids, so they have no dataset type", where, "leave the type out")
    if method == "reward":
        if kind == REWARDS:
            return
        raise Failure(f"dataset type {kind} is not known with reward_model", where, f"known: {REWARDS}")
    known = ", ".join(name.removesuffix(".default") for name in names_of(method))
    raise Failure(f"dataset type {kind} is not known under rl: {method}", where, f"known: {known}; or a mapping of the row's fields")


def check_steps(kind, where):
    if kind not in ("", "stepwise_supervised"):
        raise Failure(f"dataset type {kind} is not known with process_reward_model", where, "known: stepwise_supervised")


def check_type(kind, where, entry):
    if kind == "" or isinstance(kind, dict) or kind in FIELDS or kind in TALKS:
        return
    if not isinstance(kind, str):
        raise Failure(f"{where} has to be a name, or a mapping of fields", where)
    base = kind.split(".")[0].split(":")[0]
    if base in REFUSED:
        raise Failure(f"type {kind} is for {REFUSED[base]}", where, "type: chat_template trains on the chosen answers alone")
    if kind_named(kind, entry) is None:
        near = kind.replace(":load_", ".load_")
        raise Failure(f"dataset type {kind} is not known", where,
                      f"did you mean {near}?" if near != kind and near in TAKES else f"known: {', '.join(known())}")
