"""Finds a turn's text in a rendered conversation: it renders the conversation with marks instead of texts, and whatever differs from
the real rendering belongs to the turn. This also works for templates that trim, and for those that depend on a turn's position."""

from bisect import bisect_left, bisect_right

from .hub import first_line
from .report import Failure

# Two marks with different first and last characters. If a turn's text begins or ends with the same character as one mark, the span found
# with that mark is too short there; the other mark shows that edge exactly.
MARKS = ("[[dummy_message]]", "zzdummymessagezz")
NOWHERE = (-1, -1)
PLAIN = {"role", "content"}


class Conversation:
    """The rendered turns of a row. A tokenizer that `encodes_chats` turns them into tokens without a text in between."""

    def __init__(self, place, turns, tools, tokenizer, options):
        self.place, self.turns, self.tools = place, turns, tools
        self._tokenizer, self._options = tokenizer, options
        self._encodes = getattr(tokenizer, "encodes_chats", False)
        self.text, self.spans, self.thinking = "", None, options.thinking

    def rendered(self):
        """Renders the conversation and returns itself. If one rendering with marks shows all turns, their spans are known too."""
        messages = [turn.message for turn in self.turns]
        self.text = self.render(messages)
        if all(set(message) <= PLAIN and message.get("content") for message in messages):
            marks = [f"\ue000ring{index}master\ue001" for index in range(len(messages))]
            marked = [message | {"content": mark} for message, mark in zip(messages, marks, strict=True)]
            self.spans = match_marks(self.text, self.render(marked, refusal=None), marks, messages)
        return self

    def tokens(self):
        return self._tokens([turn.message for turn in self.turns])

    def _tokens(self, messages, **more):
        if self._encodes:
            return self.render(messages, "mistral-common refuses the conversation", tokenize=True, return_dict=False, **more)
        return self._tokenizer(self.render(messages, **more), add_special_tokens=False)["input_ids"]

    def render(self, messages, refusal="the chat template refuses the conversation", **more):
        arguments = {**self._options.template_arguments, "tokenize": False, **more, "chat_template": self._options.template}
        if self.tools:
            arguments["tools"] = self.tools
        try:
            return self._tokenizer.apply_chat_template(messages, **arguments)
        except Exception as error:
            if refusal is None:
                return ""
            raise Failure(f"{refusal}: {first_line(error)}", str(self.place)) from error

    def token_span(self, index, ids, offsets, keep_thought=False, only_thought=False):
        """Returns (first token, token after the last) of a turn, or NOWHERE."""
        if index == 0 and self.turns[0].message["role"] == "system" and not self._options.shows_system:
            return NOWHERE
        span = self._from_text(index, offsets, keep_thought, only_thought) if offsets is not None else None
        if span is None:
            span = self._from_tokens(index, keep_thought, only_thought)
        return span if span[0] < span[1] and span[0] >= 0 else NOWHERE

    def _marked(self, index, mark, keep_thought, only_thought):
        message, thinking = self.turns[index].message, self._options.thinking
        if only_thought:
            marked = {"role": message["role"], "content": message.get("content", "")}
            return marked | ({thinking: mark} if thinking in message else {})
        kept = {thinking: message[thinking]} if keep_thought and thinking in message else {}
        return {"role": message["role"], "content": mark, **kept}

    def _from_text(self, index, offsets, keep_thought, only_thought):
        if self.spans and not only_thought:
            begin, end = self.spans[index]
        else:
            messages = [turn.message for turn in self.turns]
            found = []
            for mark in MARKS:
                messages[index] = self._marked(index, mark, keep_thought, only_thought)
                marked = self.render(messages)
                if not marked:
                    return None
                found.append(differing_span(self.text, marked))
            begin, end = min(span[0] for span in found), max(span[1] for span in found)
        if end <= begin:
            return NOWHERE
        first = bisect_right(offsets, begin, key=lambda offset: offset[1])
        behind = bisect_left(offsets, end, key=lambda offset: offset[0])
        return None if first >= len(offsets) else (first, behind)

    def _from_tokens(self, index, keep_thought, only_thought):
        """Returns the same as token_span, for text and tokens that cannot be matched: compares the tokens of two renderings."""
        messages = [turn.message for turn in self.turns[:index]]
        more = {"real_last_index": len(self.turns) - 1} if len(self.turns) > 1 else {}
        marked, full = (self._tokens([*messages, last], **more)
                        for last in (self._marked(index, MARKS[0], keep_thought, only_thought), self.turns[index].message))
        both = range(min(len(marked), len(full)))
        begin = next((i for i in both if marked[i] != full[i]), None)
        end = next((i for i in both if marked[-1 - i] != full[-1 - i]), None)
        return NOWHERE if begin is None or end is None else (begin, len(full) - end)


def match_marks(text, marked, marks, messages):
    """Returns all spans from one rendering; None if the text around the marks differs from that around the contents."""
    pieces, rest = [], marked
    for mark in marks:
        if rest.count(mark) != 1:
            return None
        piece, rest = rest.split(mark)
        pieces.append(piece)
    pieces.append(rest)
    spans, position = [], 0
    for index, message in enumerate(messages):
        position += len(pieces[index])
        after, last = pieces[index + 1], index + 1 == len(messages)
        content = message["content"]
        for shown in (content, content.strip(), content.rstrip(), content.lstrip()):
            end = position + len(shown)
            if text.startswith(shown + after, position) and (not last or end + len(after) == len(text)):
                break
        else:
            return None
        spans.append((position, end))
        position = end
    return spans if text.startswith(pieces[0]) else None


def differing_span(text, marked):
    """Returns (begin, end) of the part of `text` that is not in `marked`."""
    limit = min(len(text), len(marked))
    begin = common_prefix(text, marked, limit)
    return begin, len(text) - common_prefix(text[::-1], marked[::-1], limit - begin)


def common_prefix(left, right, limit):
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if left[:middle] == right[:middle] else (low, middle - 1)
    return low
