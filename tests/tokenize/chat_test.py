"""Tests chat_template: compares ids with transformers' apply_chat_template, and labels with conversations that the
test assembles."""

import pytest
from conftest import make_tokenizer, write_lines

IGNORED = -100
TALK = [("system", "Be brief."), ("user", "Where is the fox?"), ("assistant", "It jumps over 7 lazy dogs.\n\nŽluťoučký 漢字 🙂"),
        ("user", "And the cat?"), ("assistant", "  It leaps,\n  happy.  ")]
ENTRY = {"type": "chat_template"}


def messages(talk, role="role", content="content"):
    return [{role: who, content: text} for who, text in talk]


def by_hand(tokenizer, talk, trained, ends="turn"):
    """Builds ChatML piece by piece; returns (ids, labels)."""
    def encode(text):
        return tokenizer.encode(text, add_special_tokens=False)

    ids, labels = [], []
    for who, text in talk:
        head, body, end, tail = encode(f"<|im_start|>{who}\n"), encode(text), encode("<|im_end|>"), encode("\n")
        train = who in trained
        ids += head + body + end + tail
        labels += [IGNORED] * len(head) + (body if train else [IGNORED] * len(body))
        labels += (end if ends == "all" or (ends == "turn" and train) else [IGNORED]) + [IGNORED] * len(tail)
    return ids, labels


@pytest.fixture
def chat(tokenize, model, tmp_path):
    def run(rows, entry=ENTRY, **request):
        request = {"special_tokens": {"eos_token": "<|im_end|>"}, "sequence_len": 1000, "tokenizer": str(model[0])} | request
        path = write_lines(tmp_path / "chat.jsonl", rows)
        return tokenize(datasets=[{"path": path, **entry}], **request)

    return run


def test_only_the_assistants_texts_and_ends_are_labels(chat, model):
    talk = [(who, text.strip()) for who, text in TALK]
    answer = chat([{"messages": messages(talk)}])
    assert answer.rows() == [by_hand(model[1], talk, {"assistant"})]


def test_ids_are_those_of_transformers_whatever_the_texts_hold(chat, model):
    talks = [TALK, [("user", "\n\n x "), ("assistant", "\ty\n")], [("user", ""), ("assistant", "")],
             [("user", "assistant"), ("assistant", "<|im_start|>assistant\n<|im_end|>")]]
    answer = chat([{"messages": messages(talk)} for talk in talks])
    expected = [model[1].apply_chat_template(messages(talk), tokenize=True, return_dict=False) for talk in talks]
    assert [ids for ids, _ in answer.rows()] == expected


def test_blanks_at_a_texts_edges_are_labels(chat, model):
    answer = chat([{"messages": messages([("user", "x"), ("assistant", "  leaps\n\n\n")])}])
    ids, labels = answer.rows()[0]
    trained = model[1].decode([label for label in labels if label != IGNORED])
    assert trained.startswith("  leaps\n\n\n")


@pytest.mark.parametrize(("ends", "trained"), [("all", {"assistant"}), ("turn", {"assistant", "user"}), ("none", {"user"})])
def test_roles_and_ends_to_train_are_chosen(chat, model, ends, trained):
    talk = [(who, text.strip()) for who, text in TALK]
    answer = chat([{"messages": messages(talk)}], ENTRY | {"roles_to_train": sorted(trained), "train_on_eos": ends})
    assert answer.rows() == [by_hand(model[1], talk, trained, ends)]


def test_the_last_end_alone_can_be_trained(chat, model):
    talk = TALK[1:4]
    answer = chat([{"messages": messages(talk)}], ENTRY | {"train_on_eos": "last"})
    ids, labels = by_hand(model[1], talk, {"assistant"}, "none")
    end = model[1].convert_tokens_to_ids("<|im_end|>")
    labels[[i for i, token in enumerate(ids) if token == end][1]] = end
    assert answer.rows() == [(ids, labels)]


def test_train_on_inputs_trains_every_turn(chat, model):
    answer = chat([{"messages": messages(TALK[1:4])}], tokenization={"train_on_inputs": True})
    assert answer.rows() == [by_hand(model[1], TALK[1:4], {"user", "assistant"})]


def test_fields_and_roles_are_mapped(chat, model):
    row = {"conversations": messages([("human", "Where?"), ("gpt", "There.")], "from", "value"), "system": "Be brief."}
    entry = ENTRY | {"field_messages": "conversations", "message_property_mappings": {"role": "from", "content": "value"}}
    talk = [("system", "Be brief."), ("user", "Where?"), ("assistant", "There.")]
    assert chat([row], entry).rows() == [by_hand(model[1], talk, {"assistant"})]
    old = ENTRY | {"field_messages": "conversations", "message_field_role": "from", "message_field_content": "value"}
    assert chat([row], old).rows() == [by_hand(model[1], talk, {"assistant"})]


def test_a_message_can_say_whether_it_is_trained(chat, model):
    rows = messages([("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d")])
    rows[1]["learn"], rows[2]["learn"] = False, True
    ids, labels = chat([{"messages": rows}], ENTRY | {"message_field_training": "learn"}).rows()[0]
    trained = model[1].decode([label for label in labels if label != IGNORED])
    assert trained == "c<|im_end|>d<|im_end|>"


def test_a_named_template_and_end_of_turn_tokens(tokenize, model, tmp_path):
    """Uses a template like Llama 3's, which trims texts and writes a BOS itself."""
    folder = tmp_path / "llama3"
    tokenizer = make_tokenizer(folder, bos=True, special=["<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"])
    path = write_lines(tmp_path / "chat.jsonl", [{"messages": messages(TALK)}])
    answer = tokenize(tokenizer=str(folder), sequence_len=1000, datasets=[{"path": path, **ENTRY, "chat_template": "llama3"}],
                      tokenization={"eot_tokens": ["<|eot_id|>"]})
    ids, labels = [tokenizer.bos_token_id], [IGNORED]
    for who, text in TALK:
        head = tokenizer.encode(f"<|start_header_id|>{who}<|end_header_id|>\n\n", add_special_tokens=False)
        body = tokenizer.encode(text.strip() + "<|eot_id|>", add_special_tokens=False)
        ids += head + body
        labels += [IGNORED] * len(head) + (body if who == "assistant" else [IGNORED] * len(body))
    assert answer.rows() == [(ids, labels)]


THINKING = ("{% for message in messages %}<|im_start|>{{ message.role }}\n{% if message.role == 'assistant' and loop.last %}<think>"
            "{{ message.reasoning_content or '' }}</think>\n{% endif %}{{ message.content.split('</think>')[-1] }}<|im_end|>\n{% endfor %}")


def test_a_template_that_looks_at_the_turns_place_and_drops_thoughts(chat, model):
    talk = [("user", "a"), ("assistant", "hidden</think>b"), ("user", "c"), ("assistant", "d")]
    entry = ENTRY | {"chat_template": "jinja", "chat_template_jinja": THINKING}
    ids, labels = chat([{"messages": messages(talk)}], entry).rows()[0]
    assert model[1].decode(ids).count("hidden") == 0
    assert model[1].decode([label for label in labels if label != IGNORED]) == "b<|im_end|>d<|im_end|>"
    thoughtful = messages(talk[2:])
    thoughtful[1]["reasoning_content"] = "because"
    ids, labels = chat([{"messages": thoughtful}], entry).rows()[0]
    assert model[1].decode([label for label in labels if label != IGNORED]) == "because</think>\nd<|im_end|>"


def test_a_template_can_lie_in_a_file_and_counts_as_content(chat, tmp_path):
    entry = ENTRY | {"chat_template": "jinja", "chat_template_jinja": "talk.jinja"}
    rows = [{"messages": messages([("user", "a"), ("assistant", "b")])}]
    (tmp_path / "talk.jinja").write_text("{% for m in messages %}{{ m.content }}{{ eos_token }}{% endfor %}")
    first = chat(rows, entry).rows()
    (tmp_path / "talk.jinja").write_text("{% for m in messages %}{{ m.content }} {{ eos_token }}{% endfor %}")
    second = chat(rows, entry)
    assert not second.result["cached"] and second.rows() != first


@pytest.mark.parametrize(("row", "message"), [
    ({"text": "x"}, "field 'messages' is missing"), ({"messages": []}, "is empty"), ({"messages": 5}, "not a number"),
    ({"messages": [{"content": "x"}]}, "message 0 has no 'role'"), ({"messages": "[{"}, "not valid JSON"),
    ({"messages": [{"role": "user", "content": 5}]}, "message 0"),
    ({"messages": [{"role": "user", "content": [{"type": "image"}]}]}, "only parts of plain text"),
])
def test_a_broken_conversation_is_named_by_line(chat, tmp_path, row, message):
    answer = chat([{"messages": messages([("user", "a"), ("assistant", "b")])}, row])
    assert answer.status == 1 and message in answer.failure["error"] and answer.failure["where"].endswith("chat.jsonl, line 2")


def test_what_a_template_refuses_is_named_by_line(chat):
    entry = ENTRY | {"chat_template_jinja": "{{ raise_exception('roles must alternate') }}"}
    answer = chat([{"messages": messages([("user", "a")])}], entry)
    assert answer.status == 1 and "roles must alternate" in answer.failure["error"] and "line 1" in answer.failure["where"]


def test_a_missing_or_unknown_template_is_an_error_that_lists_the_known(tokenize, chat, model_with_bos, tmp_path):
    path = write_lines(tmp_path / "chat.jsonl", [{"messages": messages([("user", "a")])}])
    missing = tokenize(tokenizer=str(model_with_bos[0]), datasets=[{"path": path, **ENTRY}])
    assert missing.status == 1 and "no chat template" in missing.failure["error"] and "chatml" in missing.failure["hint"]
    unknown = chat([{"messages": messages([("user", "a")])}], ENTRY | {"chat_template": "vicuna"})
    assert unknown.status == 1 and "vicuna" in unknown.failure["error"]


def test_parts_and_json_text_are_read(chat, model):
    row = {"messages": '[{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": " b"}]}, '
                       '{"role": "assistant", "content": "c"}]'}
    assert chat([row]).rows() == [by_hand(model[1], [("user", "a b"), ("assistant", "c")], {"assistant"})]


def test_sharegpt_keeps_the_speakers_that_the_entry_names(chat):
    talk = [("user", "Where is the fox?"), ("assistant", "It jumps."), ("user", "And the cat?"), ("assistant", "It leaps.")]
    usual = [("human" if who == "user" else "gpt", text) for who, text in talk]
    entry = {"type": "sharegpt", "conversation": "chatml"}
    expected = chat([{"conversations": messages(usual, "from", "value")}], entry)
    named = chat([{"conversations": messages(talk, "from", "value")}], {**entry, "field_human": "user", "field_model": "assistant"})
    assert named.rows() == expected.rows()
    assert any(label != IGNORED for label in named.rows()[0][1])
