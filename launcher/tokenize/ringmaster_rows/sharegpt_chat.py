"""Encodes type: sharegpt:chat, which axolotl had until its version 0.3: turns of human and gpt after `USER:` and `ASSISTANT:`. Every
turn is tokenized by itself, and every token of an answer is a label, `ASSISTANT:` included."""

from .encoders import IGNORED, check_text
from .report import Failure
from .talks import Texts, example, list_of

SYSTEM = ("A chat between a curious user and an artificial intelligence assistant. "
          "The assistant gives helpful, detailed, and polite answers to the user's questions.")
ROLES = {"human": "USER", "gpt": "ASSISTANT"}


def sharegpt_chat(rows, tokenizer, sequence_len):
    encode = Texts(tokenizer, sequence_len)
    marks = {role: mark_of(role, tokenizer) for role in ROLES.values()}
    for row in rows:
        system, turns = thread_of(row)
        ids = encode(system.strip(), False, False)
        labels = [IGNORED] * len(ids)
        for role, text in turns:
            answer, mark = role == "ASSISTANT", marks[role]
            found = mark + encode((text if mark else f"{role}: {text}" if text else f"{role}:").strip(), answer, True)
            ids += found
            labels += found if answer else [IGNORED] * len(found)
        yield example(row.place, ids, labels)


def mark_of(role, tokenizer):
    """Returns the token <|USER|> or <|ASSISTANT|>, if the tokenizer has one, as a list."""
    number = tokenizer.convert_tokens_to_ids(f"<|{role}|>")
    return [number] if number else []


def thread_of(row):
    """Returns the system's text and [(role, text)], beginning with the user's first turn."""
    said = list_of(row, "conversations", "from", "value")
    if len(said) < 2:
        raise Failure("the conversation has fewer than two turns", str(row.place))
    texts = [(turn["from"], check_text(turn["value"], "value", row.place)) for turn in said]
    system = texts.pop(0)[1] if texts[0][0] == "system" else SYSTEM
    texts = texts if texts[0][0] == "human" else texts[1:]
    for index, (speaker, _) in enumerate(texts):
        if speaker != ("human", "gpt")[index % 2]:
            raise Failure("human and gpt do not take turns", str(row.place))
    return system, [(ROLES[speaker], text) for speaker, text in texts]
