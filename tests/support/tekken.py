"""Builds small tekken.json files, which are mistral-common's tokenizers."""

import base64

PATTERN = r"[^\r\n\p{L}\p{N}]?[\p{L}]+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CONTROLS = ["<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]",
            "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]",
            "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]", "[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]", "[MODEL_SETTINGS]", "[/MODEL_SETTINGS]"]


def tekken(tokens, version):
    """Returns the content of a file with these tokens, given as bytes, after 64 special ones."""
    return {"config": {"pattern": PATTERN, "num_vocab_tokens": len(tokens), "default_vocab_size": len(tokens) + 64,
                       "default_num_special_tokens": 64, "version": version},
            "vocab": [{"rank": rank, "token_bytes": base64.b64encode(piece).decode(), "token_str": None} for rank, piece in enumerate(tokens)],
            "special_tokens": [{"rank": rank, "token_str": text, "is_control": True} for rank, text in enumerate(CONTROLS)],
            "version": 1, "type": "Tekken"}
