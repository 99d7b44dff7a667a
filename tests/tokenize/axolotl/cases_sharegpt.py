"""Defines the cases in which tokens of `type: sharegpt` are compared with those of the last axolotl version that
supported this type."""

from cases import case, talk

FORMS = ("chatml chatml_glaive llama3 vicuna_v1.1 airoboros_v1 alpaca llama-2 llama-3 mistral zephyr gemma dolly_v2 rwkv phoenix Robin internlm-chat "
         "falcon-chat metharme tulu openchat_3.5 orca-2 stablelm redpajama-incite Yi-34b-chat TinyLlama oasst_llama one_shot raw").split()


def said(*texts, **more):
    return {"conversations": talk(*texts, roles=("human", "gpt"), names=("from", "value"), **more)}


def weighted(row, *weights):
    for message, weight in zip(row["conversations"], weights, strict=True):
        message["weight"] = weight
    return row


ROWS = [said("Where is the fox?", "It jumps over 7 lazy dogs.\n\nŽluť 漢字", "And the cat?", "It leaps."), said("Count.", "7", system="Be brief."),
        said("One", "", "Two", "2"), weighted(said("Hi", "Hello", "Why?", "So"), 1, 0, 0, 1),
        {"conversations": talk("Hi", "Hello", roles=("user", "assistant"), names=("role", "content"))},
        {"conversations": talk("Hi", "Hello", roles=("human", "gpt"), names=("from", "text"))}, said("alone"),
        {**said("Hi", "Hello"), "roles": ["Ann", "Bob"]}]
OTHERS = [{"conversations": [{"from": "human", "value": "Hi"}, {"from": "tool", "value": "7"}, {"from": "gpt", "value": "Seven."}]}]


MARKED = [said("Hi", "Hello", "More?", "So."), said("Hi <|USER|>", "Ho")]


def chat_cases():
    """Returns cases of `type: sharegpt:chat` in axolotl 0.3, which supported no other conversation templates."""
    rows = [*ROWS[:4], said("", "Only an answer"), said("Hi", "Hello", "More?"), said("alone"),
            {"conversations": talk("Ignored", "Hi", "Hello", roles=("gpt", "human"), names=("from", "value"))},
            {"conversations": talk("Hi", "Twice", roles=("human", "human"), names=("from", "value"))}, *MARKED]
    for tokenizer in ("plain", "bos", "blocks"):
        for length in (1024, 16):
            yield case(f"sharegpt:chat/{length}/{tokenizer}", {"type": "sharegpt:chat"}, {"sequence_len": length}, rows, tokenizer)


def all_cases():
    cases = []
    for form in FORMS:
        for tokenizer in ("plain", "bos"):
            cases.append(case(f"sharegpt/{form}/{tokenizer}", {"type": "sharegpt", "conversation": form}, {}, ROWS, tokenizer))
        cases.append(case(f"sharegpt/{form}/inputs", {"type": "sharegpt", "conversation": form}, {"train_on_inputs": True}, ROWS, "bos"))
    for form in ("chatml", "vicuna_v1.1", "zephyr", "llama3"):
        cases.append(case(f"sharegpt/{form}/others", {"type": "sharegpt", "conversation": form, "roles": {"input": ["tool"]}}, {}, OTHERS, "bos"))
        cases.append(case(f"sharegpt/{form}/strict", {"type": "sharegpt", "conversation": form, "strict": True}, {}, ROWS[:4], "bos"))
    named = [{"talk": row["conversations"]} for row in ROWS[:3]]
    cases.append(case("sharegpt/messages", {"type": "sharegpt", "field_messages": "talk"}, {}, named))
    cases.append(case("sharegpt/default", {"type": "sharegpt"}, {}, ROWS, "bos"))
    cases.append(case("sharegpt.load_role/chatml", {"type": "sharegpt.load_role", "conversation": "chatml"}, {},
                      [{"conversations": talk("Hi", "Hello", roles=("human", "gpt"), names=("role", "value"))}], "bos"))
    cases.append(case("sharegpt.load_ultrachat/chatml", {"type": "sharegpt.load_ultrachat", "conversation": "chatml"}, {},
                      [{"messages": talk("Hi", "Hello", "Why?", "So")}], "bos"))
    cases.append(case("sharegpt.load_guanaco/default", {"type": "sharegpt.load_guanaco"}, {},
                      [{"conversations": talk("Hi", "Hello", roles=("prompter", "assistant"), names=("role", "text"))}], "bos"))
    cases.append(case("sharegpt.load_glaive/default", {"type": "sharegpt.load_glaive"}, {},
                      [{"system": "SYSTEM: Be brief.", "chat": "USER: Hi there\n\nASSISTANT: Hello USER: Why? ASSISTANT: So"}], "bos"))
    return cases
