"""Loads the tokenizer of Mistral's package mistral-common, which `tokenizer_use_mistral_common` asks for. It encodes conversations
itself, so no chat template is rendered. As in axolotl it checks conversations by the rules of finetuning and ends each text with
EOS."""

import os
from pathlib import Path

from mistral_common.protocol.instruct.validator import ValidationMode
from mistral_common.tokens.tokenizers.utils import download_tokenizer_from_hf_hub, get_one_valid_tokenizer_file
from transformers.tokenization_mistral_common import MistralCommonBackend
from transformers.tokenization_utils_base import VERY_LARGE_INTEGER


class MistralTokenizer(MistralCommonBackend):
    """Gives the encoders the interface of a transformers tokenizer."""

    chat_template = None
    encodes_chats = True
    message_fields = {"tool_call_id", "name", "tool_calls"}  # fields that axolotl passes on besides the role and the content

    def apply_chat_template(self, conversation, chat_template=None, add_generation_prompt=False, real_last_index=None, **options):
        """Drops the arguments that only a rendered template reads, as axolotl does."""
        return super().apply_chat_template(conversation, **options)


def load(name, revision):
    """Returns the tokenizer of a folder or of a repository of the hub. Raises what mistral-common and the hub's client raise."""
    if Path(name).is_dir():
        file = Path(name) / get_one_valid_tokenizer_file(os.listdir(name))
    else:
        file = download_tokenizer_from_hf_hub(repo_id=name, cache_dir=None, token=None, revision=revision or "main", force_download=False,
                                              local_files_only=os.environ.get("HF_HUB_OFFLINE") == "1")
    tokenizer = MistralTokenizer(tokenizer_path=str(file), mode=ValidationMode.finetuning, model_max_length=VERY_LARGE_INTEGER)
    tokenizer.name_or_path = name
    return tokenizer
