"""Changes texts at random, as a fuzzer does. Equal seeds give equal changes."""

import re

NUMBER = re.compile(rb"-?\d[\d.e+-]*")


def mutated(text, words, source, most):
    """Returns the text after up to `most` changes. A change replaces a number or some bytes by one of `words` or by a
    byte, or removes them."""
    text = bytearray(text)
    for _ in range(source.randint(0, most)):
        numbers = list(NUMBER.finditer(text))
        if numbers and source.random() < 0.5:
            begin, end = source.choice(numbers).span()
        else:
            begin = source.randrange(len(text) + 1)
            end = begin + source.choice((0, 1, 1, 3, 20))
        text[begin:end] = source.choice((source.choice(words), bytes([source.randrange(256)]), b""))
    return bytes(text)
