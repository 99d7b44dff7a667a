"""Trains every axolotl example that has a valid plan and a supported architecture, with a tiny random model of that
architecture, rows of its dataset types, two ranks and three steps. The rest of the file is unchanged."""

import json
import math
import pathlib
import random
import shutil
import sys
import tarfile

import pytest
import yaml

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "support"))
from ringmaster_runs import events_of, launch, make_model, ringmaster, state_of  # noqa: E402
from tekken import tekken  # noqa: E402

ARCHIVE = HERE / "axolotl-0.18.0-examples.tar.xz"
LINEAR = dict(head_dim=16, num_hidden_layers=4, linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=16, linear_value_head_dim=16)
EXPERTS = dict(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=48, shared_expert_intermediate_size=48)
GROUPED = dict(n_routed_experts=4, num_experts_per_tok=2, n_group=1, topk_group=1, moe_intermediate_size=48, first_k_dense_replace=1)
LATENT = dict(num_key_value_heads=4, q_lora_rank=24, kv_lora_rank=16, qk_rope_head_dim=8, qk_nope_head_dim=16, v_head_dim=16)
YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 128, "mscale": 1.0, "mscale_all_dim": 1.0,
        "llama_4_scaling_beta": 0.1}
PIXTRAL = dict(model_type="pixtral", hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, image_size=28,
               patch_size=14, head_dim=8)
MISTRAL4 = dict(text_config=dict(model_type="mistral4", **LATENT, **{**GROUPED, "first_k_dense_replace": 0}, rope_parameters=YARN),
                vision_config=PIXTRAL)
HYBRID = dict(text_config=dict(head_dim=16, num_hidden_layers=4, linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=8,
                               linear_value_head_dim=12),
              vision_config=dict(hidden_size=16, intermediate_size=32, depth=1, num_heads=2, out_hidden_size=64))
GEMMA4 = dict(text_config=dict(head_dim=16, global_head_dim=32, sliding_window=64, attention_k_eq_v=True, num_global_key_value_heads=1,
                               hidden_size_per_layer_input=0, pad_token_id=0),
              vision_config=dict(model_type="gemma4_vision", hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
                                 num_key_value_heads=2, head_dim=8, patch_size=4, position_embedding_size=64), audio_config=None)
GEMMA4_EXPERTS = {**GEMMA4, "text_config": dict(GEMMA4["text_config"], enable_moe_block=True, num_experts=4, top_k_experts=2,
                                                moe_intermediate_size=48)}
GEMMA4_UNIFIED = dict(text_config=dict(head_dim=16, global_head_dim=32, sliding_window=64, pad_token_id=0),
                      vision_config=dict(patch_size=4, mm_embed_dim=64, mm_posemb_size=16, output_proj_dims=64), audio_config=None)
# Maps a part of a model's name to its stand-in: the architecture, and the differences from make_model's
# shape. None means that the architecture is not supported.
ARCHITECTURES = {
    "Mistral-Small-4": ("mistral3", MISTRAL4), "GLM-4.5-Air": ("glm4_moe", dict(GROUPED, head_dim=16)), "GLM-4.7-Flash": ("glm4_moe_lite", {**GROUPED, **LATENT}),
    "DeepSeek-V2": ("deepseek_v2", {**GROUPED, **LATENT, "q_lora_rank": None}),
    "gemma-4-26B": ("gemma4", GEMMA4_EXPERTS), "gemma-4-31B": ("gemma4", GEMMA4),
    "gemma-4-12B": ("gemma4_unified", GEMMA4_UNIFIED),
    "LFM2-350M": ("lfm2", dict(layer_types=["conv", "full_attention", "conv"])),
    "LFM2-8B": ("lfm2_moe", dict(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=48, num_dense_layers=1, layer_types=["conv", "full_attention", "conv"])),
    "gemma-3n": (None, {}), "Mistral-Medium": ("mistral3", dict(text_config=dict(model_type="ministral3", head_dim=16), vision_config=PIXTRAL)),
    "Magistral": ("mistral", {}), "Devstral": ("mistral", {}), "MiniMax-M2": ("minimax_m2", dict(head_dim=16, num_local_experts=4, num_experts_per_tok=2)),
    "Voxtral": ("voxtral", dict(text_config=dict(model_type="llama", head_dim=16), audio_config=dict(
        hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, max_source_positions=16, num_mel_bins=8))),
    "Jamba": ("jamba", dict(num_experts=4, attn_layer_period=2, attn_layer_offset=1)),
    "Falcon-H1": ("falcon_h1", dict(mamba_d_ssm=64, mamba_n_heads=4, mamba_d_head=16, mamba_n_groups=1, mamba_d_state=16)),
    "granite-4.0-tiny": ("granitemoehybrid", dict(intermediate_size=48, shared_intermediate_size=48, num_local_experts=4, num_experts_per_tok=2,
                                                  mamba_n_heads=4, mamba_d_state=16, layer_types=["mamba", "attention", "mamba"])),
    "Nemotron-3-Super": ("nemotron_h", dict(hybrid_override_pattern="ME*E", mamba_num_heads=4, mamba_head_dim=16, n_groups=1, ssm_state_size=16,
                                            head_dim=16, n_routed_experts=4, moe_intermediate_size=48, moe_latent_size=32,
                                            moe_shared_expert_intermediate_size=48)),
    "Nemotron-3-Nano": ("nemotron_h", dict(hybrid_override_pattern="ME*-", mamba_num_heads=4, mamba_head_dim=16, n_groups=1, ssm_state_size=16,
                                           head_dim=16, n_routed_experts=4, moe_intermediate_size=48, moe_shared_expert_intermediate_size=48)),
    "falcon-7b": ("falcon", dict(intermediate_size=None, num_key_value_heads=None)), "gpt-j": ("gptj", dict(intermediate_size=None, num_key_value_heads=None, rotary_dim=8)),
     "gemma-3": ("gemma3_text", dict(head_dim=16, sliding_window=64)), "gemma-2": ("gemma2", dict(head_dim=16, sliding_window=64)),
    "gemma-7b": ("gemma", dict(head_dim=16)), "GLM-4-32B": ("glm4", dict(head_dim=16)), "Hunyuan-0.5B": ("hunyuan_v1_dense", dict(head_dim=16)),
    "AFM-4.5B": ("arcee", {}), "Olmo-3": ("olmo3", dict(sliding_window=64)), "Phi-3": ("phi3", {}), "Seed-OSS": ("seed_oss", dict(head_dim=16, residual_dropout=0.0, attention_dropout=0.0)),
    "Ministral": ("mistral", {}), "Mistral": ("mistral", {}), "Mixtral": ("mixtral", dict(num_local_experts=4)), "Qwen3.5-27B": ("qwen3_5", HYBRID),
    "Qwen3.5": ("qwen3_5_moe_text", dict(intermediate_size=None, **LINEAR, **EXPERTS)),
    "Qwen3-30B": ("qwen3_moe", dict(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=48, head_dim=16)), "Qwen3-Next": ("qwen3_next", {**LINEAR, **EXPERTS}),
    "gpt-oss": ("gpt_oss", dict(head_dim=16, num_local_experts=4, num_experts_per_tok=2, sliding_window=64)),
    "Qwen1.5-MoE": ("qwen2_moe", EXPERTS), "Qwen-7B": (None, {}), "Qwen3": ("qwen3", {}), "Plano": ("qwen3", {}), "Qwen2": ("qwen2", {}), "Llama-4": (None, {}),
    "DeepCoder": ("qwen2", {}), "cogito-v1-preview-qwen": ("qwen2", {}), "pythia": ("gpt_neox", dict(num_key_value_heads=None)),
    "stablelm": ("stablelm", dict(use_qkv_bias=True)), "starcoder2": ("starcoder2", dict(sliding_window=64)), "command-r7b": ("cohere2", dict(sliding_window=64)),
    "Nemotron-Mini": ("nemotron", dict(head_dim=16)), "phi-1_5": ("phi", {}), "phi-2": ("phi", {}),
    "Llama": ("llama", {}), "llama": ("llama", {}), "Yi-34B": ("llama", {}), "SmolLM2": ("llama", {}), "orpheus": ("llama", {}),
}
# Maps each file that is refused only after its model is known to the finding that refuses it: for qwen3_next and
# deepseek_v2, PEFT 0.21 treats the names of the shared expert's modules as those of the other experts; the pattern for
# Voxtral matches none of its class's modules.
REFUSED = {"deepseek-v2/qlora-fsdp-2_5.yaml": ("KEY-UNSUPPORTED", "lora_target_linear"),
           "qwen3-next/qwen3-next-80b-a3b-qlora.yaml": ("KEY-UNSUPPORTED", "lora_target_modules"),
           "voxtral/voxtral-mini-qlora.yml": ("CFG-VALUE", "lora_target_modules")}
WORDS = "the fox jumps over seven lazy dogs and a happy cat leaps into deep water again while nobody looks".split()


def architecture_of(base_model):
    return next((kind for piece, kind in ARCHITECTURES.items() if piece in base_model), (None, {}))


def examples():
    """Returns [(name, configuration)] of the files that can be planned and have a supported architecture."""
    planned = [line.split("\t")[0] for line in (HERE / "verdicts.tsv").read_text().splitlines() if line.split("\t")[1] == "plans"]
    with tarfile.open(ARCHIVE) as archive:
        files = {name: yaml.safe_load(archive.extractfile("examples/" + name).read()) for name in planned}
    return [(name, config) for name, config in files.items() if architecture_of(config["base_model"])[0]]


def sentence(source):
    return " ".join(source.choice(WORDS) for _ in range(source.randint(4, 24)))


def row_of(kind, source, entry):
    if not kind:  # the rows hold tokens already
        ids = [source.randint(20, 250) for _ in range(source.randint(8, 60))]
        return {"input_ids": ids, "labels": ids, "attention_mask": [1] * len(ids)}
    if kind == "llama3.ultra":
        return {"prompt": sentence(source), "completion": sentence(source), "label": source.random() < 0.5}
    if kind == "chat_template.argilla" or entry.get("field_chosen"):
        asked, answers = {"role": "user", "content": sentence(source)}, [{"role": "assistant", "content": sentence(source)} for _ in range(2)]
        names = [entry.get("field_chosen", "chosen"), entry.get("field_rejected", "rejected")]
        turns = [[asked, answer] if kind == "chat_template.argilla" else answer for answer in answers]
        return {"prompt": asked["content"], entry.get("field_messages", "messages"): [asked], **dict(zip(names, turns))}
    if kind.startswith("chat_template"):
        roles = entry.get("message_property_mappings") or {}
        role, content = roles.get("role", entry.get("message_field_role", "role")), roles.get("content", entry.get("message_field_content", "content"))
        turns = [{role: name, content: sentence(source)} for name in ("user", "assistant") * source.randint(1, 3)]
        return {entry.get("field_messages", "messages"): turns}
    if kind.startswith(("pretrain", "completion")):
        return {entry.get("text_column") or entry.get("field") or "text": sentence(source)}
    if kind == "stepwise_supervised":
        return {"prompt": sentence(source), "completions": [sentence(source) for _ in range(3)], "labels": [True, source.random() < 0.5, False]}
    if kind.startswith("bradley_terry"):
        return {name: sentence(source) for name in ("system", "input", "chosen", "rejected")}
    return {"instruction": sentence(source), "input": "", "output": sentence(source)}


def write_rows(file, entry, seed):
    source = random.Random(seed)
    kind = entry.get("type") if isinstance(entry.get("type"), str) else "" if not entry.get("type") else "alpaca"
    file.write_text("".join(json.dumps(row_of(kind, source, entry)) + "\n" for _ in range(240)))


def save_tokenizer(config, tokenizer, folder):
    """Saves a tokenizer of the kind that the configuration asks for; returns the number of its tokens."""
    tokenizer.save_pretrained(folder)
    if not config.get("tokenizer_use_mistral_common"):
        return len(tokenizer)
    content = tekken([bytes([byte]) for byte in range(256)], "v7")
    (folder / "tekken.json").write_text(json.dumps(content))
    return content["config"]["default_vocab_size"]


def stand_ins(config, folder, tokenizer):
    """Replaces the configuration's model, rows and output by small stand-ins, and shortens the run."""
    kind, changes = architecture_of(config["base_model"])
    (folder / "tokenizer").mkdir()
    tokens = save_tokenizer(config, tokenizer, folder / "tokenizer")
    model = make_model(folder / "model", kind, **{**changes, "vocab_size": -(-tokens // 32) * 32})
    shutil.copytree(folder / "tokenizer", model, dirs_exist_ok=True)
    config = {**config, "base_model": str(model), "output_dir": str(folder / "out"), "sequence_len": 512, "max_steps": 3}
    for key in ("base_model_config", "tokenizer_config", "dataset_prepared_path", "hub_model_id", "special_tokens", "revision_of_model", "tokenizer_type"):
        config.pop(key, None)
    for key in ("datasets", "pretraining_dataset", "test_datasets"):
        if not config.get(key):
            continue
        entries = config[key] if isinstance(config[key], list) else [{"path": config[key], "type": "pretrain"}]
        config[key] = []
        for i, entry in enumerate(entries):
            write_rows(folder / f"{key}{i}.jsonl", entry, i)
            kept = {name: value for name, value in entry.items() if name not in ("name", "split", "data_files", "revision")}
            config[key].append({**kept, "path": str(folder / f"{key}{i}.jsonl"), "ds_type": "json"})
    file = folder / "config.yaml"
    file.write_text(json.dumps(config, indent=1))
    return file


@pytest.fixture(scope="module")
def tokenizer():
    """Makes a tokenizer with one token per byte and the special tokens of the templates that the examples
    name."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    marks = ["<s>", "</s>", "<pad>", "<unk>", "<|im_start|>", "<|im_end|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>",
             "<|begin_of_text|>", "<start_of_turn>", "<end_of_turn>", "<|end|>", "<|user|>", "<|assistant|>", "<think>", "</think>",
             "<|turn>", "<turn|>"]
    backend = Tokenizer(models.BPE(vocab={letter: i for i, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}, merges=[]))
    backend.pre_tokenizer, backend.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    backend.add_special_tokens(marks)
    made = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>")
    made.chat_template = ("{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
                          "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")
    return made


@pytest.mark.parametrize("name, config", [pytest.param(name, config, id=name) for name, config in examples() if name in REFUSED])
def test_an_example_that_its_model_refuses_is_told_so(name, config, tokenizer, tmp_path):
    plan = json.loads(ringmaster("plan", stand_ins(config, tmp_path, tokenizer), "--ranks", 2, "--json", check=False).stdout)
    assert [(one["code"], one["key"]) for one in plan["diagnostics"] if one["severity"] == "error"] == [REFUSED[name]]


@pytest.mark.parametrize("name, config", [pytest.param(name, config, id=name) for name, config in examples() if name not in REFUSED])
def test_an_example_that_plans_trains(name, config, tokenizer, tmp_path):
    file = stand_ins(config, tmp_path, tokenizer)
    run = launch(file, tmp_path / "runs", "--ranks", 2, "--device", "cpu", env={"CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1"})
    steps = events_of(run)
    assert state_of(run)["state"] == "completed" and [step["step"] for step in steps] == [1, 2, 3]
    assert all(math.isfinite(step["loss"]) and 0 < step["loss"] < 10 for step in steps)
    assert steps[0]["valid_tokens"] > 0 and list((tmp_path / "out").glob("*.safetensors"))
