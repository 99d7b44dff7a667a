"""Defines the cases in which our tokens are compared with axolotl's. A case is a combination of type, template and option, with a
few rows.

Its form is {"name", "tokenizer", "entry", "config", "rows"}. record.py records axolotl's results; axolotl_test.py compares
ours."""

import copy
import hashlib
import json
import os
import sys
from pathlib import Path

os.environ.setdefault("RINGMASTER_BIN", "")  # record.py needs no programs
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from conftest import TEXTS  # noqa: E402

MARKS = ["<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|begin_of_text|>", "[INST]", "[/INST]", "<start_of_turn>", "<end_of_turn>",
         "<|user|>", "<|assistant|>", "<|system|>", "<|end|>", "<|endoftext|>", "<think>", "</think>", "<|model|>", "<|header_start|>",
         "<|header_end|>", "<|eot|>", "<turn|>", "<|turn>", "<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "[|endofturn|]", "<bos>"]
SEQUENCE_LEN = 1024
TEMPLATES = ("alpaca aya chatml cohere command_a command_a_rag command_a_tool_use deepseek_v2 deepseek_v3 exaone exaone4 falcon_h1 gemma gemma3 "
             "gemma3n gemma4 gemma4_unified jamba llama3 llama3_2_vision llama4 llava metharme mistral_v1 mistral_v2v3 mistral_v3_tekken "
             "mistral_v7_tekken nemotron_h phi_3 phi_35 phi_4 pixtral qwen2_vl qwen3 qwen3_5 qwen_25").split()
ENDS = {"llama3": "<|eot_id|>", "gemma": "<end_of_turn>", "gemma3": "<end_of_turn>", "phi_35": "<|end|>", "llama4": "<|eot|>",
        "chatml": "<|im_end|>", "qwen3": "<|im_end|>", "qwen_25": "<|im_end|>", "exaone": "[|endofturn|]", "phi_3": "<|end|>"}


def stop_the_clock():
    """Sets the date to the day on which the cases were recorded, because some templates write today's date into the prompt."""
    from datetime import datetime

    from transformers.utils import chat_template_utils

    class RecordingDay(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime(2026, 11, 22, tzinfo=tz)

    chat_template_utils.datetime = RecordingDay


def make_tokenizers(folder):
    """Returns three tokenizers by name: "plain" adds no BOS, "bos" adds BOS before each text, and "blocks" adds BOS and writes
    blanks as "▁", as Llama 2 does."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    special = ["<s>", "</s>", "<pad>", "<|im_start|>", "<|im_end|>", *MARKS]
    made = {}
    for name in ("plain", "bos", "blocks"):
        backend = Tokenizer(models.BPE(byte_fallback=name == "blocks", unk_token="<unk>" if name == "blocks" else None))
        if name == "blocks":
            backend.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
            backend.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
            alphabet = [f"<0x{byte:02X}>" for byte in range(256)]
            trainer = trainers.BpeTrainer(vocab_size=900, special_tokens=["<unk>", *special, *alphabet], show_progress=False)
        else:
            backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
            backend.decoder = decoders.ByteLevel()
            trainer = trainers.BpeTrainer(vocab_size=640, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                          show_progress=False)
        backend.train_from_iterator(TEXTS, trainer)
        steps = [] if name == "blocks" else [processors.ByteLevel(trim_offsets=True)]
        if name != "plain":
            steps.append(processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", backend.token_to_id("<s>"))]))
        backend.post_processor = processors.Sequence(steps)
        made[name] = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>", pad_token="<pad>",
                                             name_or_path=str(Path(folder) / name))
        made[name].save_pretrained(Path(folder) / name)
    return made


def digest_of(tokenizer):
    return hashlib.sha256(json.dumps(json.loads(tokenizer.backend_tokenizer.to_str()), sort_keys=True).encode()).hexdigest()[:16]


def talk(*texts, system=None, roles=("user", "assistant"), names=("role", "content")):
    turns = [{names[0]: roles[i % 2], names[1]: text} for i, text in enumerate(texts)]
    return ([{names[0]: "system", names[1]: system}] if system is not None else []) + turns


TALKS = [
    {"messages": talk("Where is the fox?", "It jumps over 7 lazy dogs.\n\nŽluťoučký 漢字 🙂", "And the cat?", "It leaps, happy.")},
    {"messages": talk("Count the dogs.", "7", system="Be brief.")},
    {"messages": talk("  blanks  ", "  kept\n\n\n"), "system": "A system field."},
    {"messages": talk("One", "1", "Two", "", "Three", "3", system="")},
    {"messages": talk("[[dummy", "zz[]zz", "<think>", "x</think>y<|im_end|>")},
    {"messages": talk("only a question")},
]
TOOL = {"type": "function", "function": {"name": "count", "description": "Counts dogs.",
                                         "parameters": {"type": "object", "properties": {"where": {"type": "string"}}}}}
CALL = {"id": "call00001", "type": "function", "function": {"name": "count", "arguments": {"where": "here"}}}
TOOLED = [{"messages": [{"role": "user", "content": "How many?"}, {"role": "assistant", "content": "", "tool_calls": [CALL]},
                        {"role": "tool", "content": "7", "name": "count", "tool_call_id": "call00001"}, {"role": "assistant", "content": "7 dogs."}],
           "tools": [TOOL]},
          {"messages": json.dumps([{"role": "user", "content": "How many?"},
                                   {"role": "assistant", "content": "Counting", "tool_calls": [
                                       {**CALL, "function": {"name": "count", "arguments": "{\"where\": \"here\"}"}}]},
                                   {"role": "tool", "content": "7", "name": "count", "tool_call_id": "call00001"},
                                   {"role": "assistant", "content": "Seven."}]),
           "tools": json.dumps([{**TOOL, "function": {**TOOL["function"], "parameters": json.dumps(TOOL["function"]["parameters"])}}])}]
THOUGHTFUL = [{"messages": [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "Because.", "reasoning_content": "Let me think."},
                            {"role": "user", "content": "Sure?"}, {"role": "assistant", "content": "Yes.", "reasoning_content": "Again."}]}]
TAGGED = [{"messages": talk("Why?", "<think>\nhidden\n</think>\n\nshown", "How?", "<reasoning>r</reasoning>plain")},
          {"messages": talk("Why?", "<|begin_of_thought|> t <|end_of_thought|> <|begin_of_solution|> s <|end_of_solution|>")}]
PARTS = [{"messages": [{"role": "user", "content": [{"type": "text", "text": "The"}, {"type": "text", "text": " fox"}]},
                       {"role": "assistant", "content": [{"type": "text", "text": "It jumps", "train": False},
                                                         {"type": "text", "text": " over 7 dogs", "train": True}]},
                       {"role": "user", "content": "More"},
                       {"role": "assistant", "content": [{"text": "lazy cat", "weight": 0}, {"value": " leaps over", "weight": 1}, {"content": "!"}]}]},
         {"messages": [{"role": "user", "content": "Think"},
                       {"role": "assistant", "content": [{"text": "Answer: ", "train": True}, {"text": "seven", "train": False}],
                        "reasoning_content": [{"text": "It was", "train": False}, {"text": " happy", "train": True}]}]}]
PARTS = [{"messages": json.dumps(row["messages"])} for row in PARTS]  # Arrow has no column that mixes text and lists
FLAGGED = [{"messages": [{"role": "user", "content": "a", "learn": True}, {"role": "assistant", "content": "b jumps", "learn": False},
                         {"role": "user", "content": "c"}, {"role": "assistant", "content": "d leaps"}]}]
DETAILED = [{"messages": [{"role": "user", "content": "The fox"},
                          {"role": "assistant", "content": "It jumps over 7 lazy dogs.",
                           "detail": [{"begin_offset": 0, "end_offset": 7, "train": True}, {"begin_offset": 8, "end_offset": 14, "train": False},
                                      {"begin_offset": 15, "end_offset": 25, "train": True}]}]}]
HUMANS = [{"conversations": talk("Where is it?", "There.", "Why?", "So.", system="Be brief.", roles=("human", "gpt"), names=("from", "value"))},
          {"conversations": talk("Where?", "There.", roles=("client", "bot"), names=("from", "value"))}]
CHAT_OPTIONS = {
    "default": ({}, {}), "inputs": ({}, {"train_on_inputs": True}), "eos-all": ({"train_on_eos": "all"}, {}), "eos-last": ({"train_on_eos": "last"}, {}),
    "eos-none": ({"train_on_eos": "none"}, {}), "both-roles": ({"roles_to_train": ["user", "assistant"]}, {}),
    "no-roles": ({"roles_to_train": []}, {}), "no-system": ({"drop_system_message": True}, {}),
}


def chat_cases():
    for template in TEMPLATES:
        tokenizers = ("plain", "bos", "blocks") if template in ("chatml", "llama3", "gemma3", "qwen3", "mistral_v7_tekken", "phi_4") else ("plain",)
        for tokenizer in tokenizers:
            for option, (entry, config) in CHAT_OPTIONS.items():
                yield case(f"chat/{template}/{option}/{tokenizer}", {"type": "chat_template", "chat_template": template, **entry}, config, TALKS, tokenizer)
        for name, rows, entry in (("tools", TOOLED, {}), ("thoughts", THOUGHTFUL, {}), ("split", TAGGED, {"split_thinking": True}),
                                  ("parts", PARTS, {})):
            yield case(f"chat/{template}/{name}", {"type": "chat_template", "chat_template": template, **entry}, {}, rows)
    for template, end in ENDS.items():
        for when in ("all", "turn", "last", "none"):
            yield case(f"chat/{template}/eot-{when}", {"type": "chat_template", "chat_template": template, "train_on_eot": when},
                       {"eot_tokens": [end]}, TALKS)
        yield case(f"chat/{template}/eot-and-eos", {"type": "chat_template", "chat_template": template, "train_on_eot": "all", "train_on_eos": "none"},
                   {"eot_tokens": [end, "<|absent|>"]}, TALKS)
    for template in ("chatml", "llama3", "qwen3", "gemma3"):
        base = {"type": "chat_template", "chat_template": template}
        yield case(f"chat/{template}/flags", {**base, "message_field_training": "learn"}, {}, FLAGGED)
        yield case(f"chat/{template}/detail", {**base, "message_field_training_detail": "detail"}, {}, DETAILED)
        yield case(f"chat/{template}/mapped", {**base, "field_messages": "conversations", "message_property_mappings": {"role": "from", "content": "value"}},
                   {}, HUMANS)
        yield case(f"chat/{template}/old-names", {**base, "field_messages": "conversations", "message_field_role": "from", "message_field_content": "value"},
                   {}, HUMANS)
        yield case(f"chat/{template}/roles", {**base, "field_messages": "conversations", "message_property_mappings": {"role": "from", "content": "value"},
                                              "roles": {"assistant": ["bot", "gpt"], "user": ["client", "human"]}}, {}, HUMANS)
        yield case(f"chat/{template}/global", {"type": "chat_template"}, {"chat_template": template}, TALKS)
        yield case(f"chat/{template}/fallback", {"type": "chat_template", "chat_template": f"tokenizer_default_fallback_{template}"}, {}, TALKS)
    jinja = ("{% for m in messages %}[{{ m.role }}]{{ m.content }}{% if m.name is defined %}({{ m.name }}){% endif %}{{ eos_token }}{% endfor %}")
    yield case("chat/jinja", {"type": "chat_template", "chat_template": "jinja", "chat_template_jinja": jinja}, {}, TALKS)
    named = jinja.replace("for m in", "for message in").replace("m.", "message.")
    called = [{"messages": [{"role": "user", "content": "a", "name": "Ann"}, {"role": "assistant", "content": "b", "name": "Bob"}]}]
    for name, text in (("jinja-m", jinja), ("jinja-message", named)):
        yield case(f"chat/{name}/names", {"type": "chat_template", "chat_template": "jinja", "chat_template_jinja": text}, {}, called)
    switch = "{% for message in messages %}{{ message.role }}: {{ message.content }}{% if loud %}!{% endif %}</s>{% endfor %}"
    yield case("chat/kwargs", {"type": "chat_template", "chat_template": "jinja", "chat_template_jinja": switch}, {"chat_template_kwargs": {"loud": True}}, TALKS)


ANSWERS = [("Count.", "dogs", "7 dogs"), ("Jump.", "", "It jumps over 3 lazy dogs."), ("Žluť {x}", None, "漢字"), ("Leap", "cats", ""), ("End", "", "so</s>")]


def pairs(instruction="instruction", extra="input", output="output", **more):
    rows = []
    for asked, given, answer in ANSWERS:
        rows.append({instruction: asked, output: answer, **more} | ({extra: given} if extra else {}))
    return rows


ALPACA = pairs()
SYSTEM = pairs(system="Be brief.") + pairs(system="")
QUIZ = [{"question": "Which?", "choices": ["a dog", "a cat"], "solution": "a cat"}, {"question": "Who?", "choices": ["x"], "explanation": "x it is"}]
SCORES = {"refusal": 9, "creativity": 2}
CRITIQUES = {"refusal": {"explanation": "none", "improvements": "more\nlines"}}
CREATIVE = [{"instruction": "Sing.", "answer": "La", "revision": "La la", "scores": SCORES, "critiques": CRITIQUES}]
REFLECTED = [{**row, "reflection": "It was happy", "corrected": "fixed"} for row in ALPACA]
INSTRUCT = {
    "alpaca": ALPACA, "alpaca_chat": ALPACA, "alpaca_chat.load_concise": ALPACA, "alpaca_chat.load_no_prompt": ALPACA, "alpaca_instruct": ALPACA,
    "alpaca_instruct.load_no_prompt": ALPACA, "alpaca_chat.load_qa": pairs("question", None, "answer"),
    "alpaca_chat.load_camel_ai": pairs("message_1", None, "message_2"), "gpteacher": pairs(output="response"),
    "oasst": pairs("INSTRUCTION", None, "RESPONSE"), "summarizetldr": pairs("article", None, "summary"), "jeopardy": pairs("question", "category", "answer"),
    "explainchoice": QUIZ, "concisechoice": QUIZ, "context_qa": pairs("question", None, "answer", article="An article."),
    "context_qa.load_404": pairs("unanswerable_question", None, "answer", article="An article."),
    "context_qa.load_v2": pairs("question", None, "answer", context="A context."), "creative_acr.load_answer": CREATIVE,
    "creative_acr.load_critique": CREATIVE, "creative_acr.load_revise": CREATIVE, "metharme": pairs("prompt", None, "generation"),
    "alpaca_w_system": SYSTEM, "alpaca_w_system.load_chat": SYSTEM, "alpaca_w_system.load_instruct": SYSTEM,
    "alpaca_w_system.load_open_orca": pairs("question", None, "response", system_prompt="Be brief."),
    "alpaca_w_system.load_open_orca_chatml": pairs("question", None, "response", system_prompt="Be brief."),
    "orcamini": pairs("question", None, "response", system_prompt="Be brief."), "reflection": REFLECTED,
}
STYLED = ("alpaca", "gpteacher", "oasst", "jeopardy", "summarizetldr", "explainchoice", "concisechoice")


def instruct_cases():
    kinds = {**INSTRUCT, **{f"{kind}:{style}": INSTRUCT[kind] for kind in STYLED for style in ("instruct", "chat", "chatml", "phi")},
             "reflection:instruct": REFLECTED, "reflection:chat": REFLECTED}
    for kind, rows in kinds.items():
        for tokenizer in ("plain", "bos") if ":" in kind else ("plain", "bos", "blocks"):
            yield case(f"{kind}/{tokenizer}", {"type": kind}, {}, rows, tokenizer)
        yield case(f"{kind}/inputs", {"type": kind}, {"train_on_inputs": True}, rows, "bos")
        yield case(f"{kind}/short", {"type": kind}, {"sequence_len": 24}, rows, "bos")
    for style in ("instruct", "chat", "chatml", "phi"):
        yield case(f"alpaca_chat/conversation-{style}", {"type": "alpaca_chat", "conversation": style}, {}, ALPACA)


OWN = {
    "fields": {"field_instruction": "q", "field_output": "a"},
    "formats": {"field_instruction": "q", "field_input": "i", "field_output": "a", "format": "Q: {instruction}\nI: {input}\nA:",
                "no_input_format": "Q: {instruction}\nA:"},
    "system": {"system_prompt": "Be kind.", "field_instruction": "q", "field_output": "a", "system_format": "<<{system}>>\n", "format": "{instruction} ",
               "no_input_format": "[INST] {instruction} [/INST]"},
    "own-system": {"field_system": "s", "field_instruction": "q", "field_input": "i", "field_output": "a", "no_input_format": "{instruction}"},
    "no-answer": {"field_instruction": "q", "field_output": "missing", "format": "{instruction}", "no_input_format": "{instruction}"},
}


def other_cases():
    rows = [{"q": asked, "i": given, "a": answer, "s": "A system."} for asked, given, answer in ANSWERS]
    for name, mapping in OWN.items():
        for tokenizer in ("plain", "bos", "blocks"):
            yield case(f"own/{name}/{tokenizer}", {"type": mapping}, {}, rows, tokenizer)
        yield case(f"own/{name}/inputs", {"type": mapping}, {"train_on_inputs": True}, rows, "bos")
    texts = [{"text": text} for text in ("The fox jumps.", "It was happy, " * 40, "", "ends</s>", "Žluť 漢字 🙂")]
    for tokenizer in ("plain", "bos", "blocks"):
        for length in (1024, 32, 2):
            yield case(f"completion/{length}/{tokenizer}", {"type": "completion"}, {"sequence_len": length}, texts, tokenizer)
        yield case(f"completion/field/{tokenizer}", {"type": "completion", "field": "body"}, {}, [{"body": row["text"]} for row in texts], tokenizer)
        segments = [{"segments": [{"label": False, "text": "<s>Hello\n"}, {"label": True, "text": "hi there!. </s>"}, {"label": True, "text": ""}]}]
        for inputs in (False, True):
            yield case(f"input_output/{inputs}/{tokenizer}", {"type": "input_output"}, {"train_on_inputs": inputs}, segments, tokenizer)
        personas = [{"conversations": [{"role": "system", "value": "A fox.\n<START>"}, {"role": "human", "value": " Hi "}, {"role": "bot", "value": "Jump!"}]}]
        yield case(f"pygmalion/{tokenizer}", {"type": "pygmalion"}, {}, personas, tokenizer)
        llama = [{"conversations": talk("Hi", "Hello", "Why?", "So", roles=("human", "gpt"), names=("from", "value"))},
                 {"conversations": talk("Hi", "Hello", "More?", roles=("human", "gpt"), names=("from", "value"), system="Brief.")}]
        for length in (1024, 96):
            yield case(f"llama2_chat/{length}/{tokenizer}", {"type": "llama2_chat"}, {"sequence_len": length}, llama, tokenizer)


STEPPED = [{"prompt": "Where is the fox?", "completions": ["It jumps.", "", "It was happy, " * 9], "labels": [1, 0, 1]},
           {"prompt": "Žluť 漢字 🙂\n", "completions": ["7 dogs", "leap\nover"], "labels": [0, 1]}, {"prompt": "", "completions": ["So"], "labels": [1]}]
STEP_OPTIONS = {"default": ({}, {}), "separator": ({"step_separator": " ки\n\n"}, {}), "last": ({"train_on_last_step_only": True}, {}),
                "cut": ({"max_completion_length": 7}, {}), "short": ({}, {"sequence_len": 12})}


def step_cases():
    for name, (entry, config) in STEP_OPTIONS.items():
        for tokenizer in ("plain", "bos", "blocks"):
            yield case(f"stepwise_supervised/{name}-{tokenizer}", {"type": "stepwise_supervised", **entry}, {"token_labels": 2, **config}, STEPPED, tokenizer)


def case(name, entry, config, rows, tokenizer="plain"):
    return {"name": name, "tokenizer": tokenizer, "entry": {"path": "rows.jsonl", **entry},
            "config": {"sequence_len": SEQUENCE_LEN, "train_on_inputs": False, **config}, "rows": rows}


def all_cases():
    return [*chat_cases(), *instruct_cases(), *other_cases(), *step_cases()]


def fingerprint(ids, labels):
    """Returns the recorded form of a row: the number of tokens, the number of labels, and a hash of tokens and labels."""
    text = json.dumps([list(map(int, ids)), list(map(int, labels))])
    return [len(ids), sum(label != -100 for label in labels), hashlib.sha256(text.encode()).hexdigest()[:16]]


def each_row(case, tokens_of):
    """Returns tokens_of(row) for each row; prints and returns None for a row that it refuses."""
    found = []
    for row in case["rows"]:
        try:
            found.append(tokens_of(copy.deepcopy(row)))
        except Exception as error:
            found.append(None)
            print(case["name"], "refused:", type(error).__name__, str(error).splitlines()[:1])
    return found


def write_expected(file, origin, rows_of_cases):
    """Writes the recorded results to `file`: their origin, and then the rows of one case per line."""
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(rows)}" for name, rows in rows_of_cases.items())
    file.write_text(json.dumps(origin)[:-1] + f', "cases": {{\n{lines}\n}}}}\n')
