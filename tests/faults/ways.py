"""Lists the models and meshes on which faults are tried. Each is tried with fresh weights and with weights after some steps of
training."""

import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from ringmaster_runs import BIN, launch, make_config, make_rows, ringmaster, state_of

PACKED = dict(sample_packing=True, sequence_len=128)

# Maps a name to (ranks, keys).
WAYS = {
    "1 rank": (1, dict(micro_batch_size=2, gradient_accumulation_steps=3, tiled_mlp=True, tiled_mlp_num_shards=3)),
    "1 rank, chunks": (1, dict(micro_batch_size=2, gradient_accumulation_steps=2, gradient_checkpointing=True, sequence_chunks=3)),
    "1 rank, packed": (1, dict(micro_batch_size=2, gradient_accumulation_steps=1, **PACKED)),
    "2 ranks, zigzag": (2, dict(context_parallel_size=2, ring_attn_func="batch_zigzag", gradient_accumulation_steps=3,
                                tiled_mlp=True, tiled_mlp_num_shards=3)),
    "2 ranks, varlen zigzag, packed": (2, dict(context_parallel_size=2, ring_attn_func="varlen_zigzag", **PACKED)),
    "2 ranks, llama3, packed": (2, dict(context_parallel_size=2, ring_attn_func="varlen_llama3", heads_k_stride=1, **PACKED)),
    "3 ranks, ring": (3, dict(context_parallel_size=3, ring_attn_func="batch_ring")),
    "3 ranks, balanced, packed": (3, dict(context_parallel_size=3, ring_attn_func="balanced", **PACKED)),
    "4 ranks, ulysses": (4, dict(context_parallel_size=4, ulysses_size=4)),
    "2 replicas": (2, dict(micro_batch_size=1, gradient_accumulation_steps=3)),
    "2 replicas, zero 1": (2, dict(deepspeed={"zero_optimization": {"stage": 1}})),
    "2 replicas, zero 2": (2, dict(deepspeed={"zero_optimization": {"stage": 2}}, gradient_accumulation_steps=3)),
    "2 replicas, zero 3": (2, dict(deepspeed={"zero_optimization": {"stage": 3}})),
    "4 replicas, zero 2": (4, dict(dp_replicate_size=2, dp_shard_size=2, fsdp_version=2,
                                   fsdp_config={"reshard_after_forward": False})),
    "1 rank, 8-bit states": (1, dict(micro_batch_size=2, optimizer="adamw_bnb_8bit")),
    "2 replicas, zero 2, 8-bit states": (2, dict(optimizer="adamw_bnb_8bit", deepspeed={"zero_optimization": {"stage": 2}})),
    "2 x 2": (4, dict(context_parallel_size=2, ring_attn_func="batch_zigzag", gradient_accumulation_steps=2)),
}
# The models have three key heads, so two ranks share them unevenly and four ranks share some. "short" leaves a block of 8-bit states
# incomplete.
MODELS = {
    "tied": ("qwen2", dict(tie_word_embeddings=True)),
    "untied": ("qwen2", dict()),
    "short": ("qwen2", dict(tie_word_embeddings=True, intermediate_size=90)),
    "window": ("mistral", dict(sliding_window=24, head_dim=8)),
    "experts": ("mixtral", dict(num_local_experts=4)),
}
SHAPE = dict(hidden_size=48, intermediate_size=80, num_hidden_layers=2, num_attention_heads=6, num_key_value_heads=3,
             max_position_embeddings=256)
PRECISIONS = {"fp32": {}, "bf16": {"bf16": True}}


def fresh_model(folder, kind):
    """Saves a model as transformers initialises it; make_model would change its norms and biases."""
    import torch
    import transformers

    name, changes = MODELS[kind]
    classes = {"qwen2": "Qwen2", "mistral": "Mistral", "mixtral": "Mixtral"}
    config = getattr(transformers, classes[name] + "Config")(vocab_size=256, **{"tie_word_embeddings": False, **SHAPE, **changes})
    torch.manual_seed(11)
    getattr(transformers, classes[name] + "ForCausalLM")(config).save_pretrained(folder)
    return folder


class Runs:
    """Holds prepared runs. Each run is prepared once, and copied for every engine that trains it."""

    def __init__(self, folder):
        self.folder = folder
        self.models, self.prepared = {}, {}
        make_rows(folder / "rows.jsonl", 60, seed=9, longest=96)

    def model(self, kind, weights):
        if (kind, weights) not in self.models:
            folder = self.folder / f"{kind}-{weights}"
            folder.mkdir()
            if weights == "fresh":
                fresh_model(folder / "out", kind)
            else:
                config = make_config(folder, self.model(kind, "fresh"), self.folder / "rows.jsonl", max_steps=60,
                                     micro_batch_size=4, learning_rate=1e-2)
                launch(config, folder / "runs", "--ranks", 1, "--no-preflight")
            self.models[kind, weights] = folder / "out"
        return self.models[kind, weights]

    def prepare(self, kind, way, precision, weights):
        key = (kind, way, precision, weights)
        if key not in self.prepared:
            folder = self.folder / f"prepared-{len(self.prepared)}"
            folder.mkdir()
            ranks, keys = WAYS[way]
            config = make_config(folder, self.model(kind, weights), self.folder / "rows.jsonl",
                                 **{"micro_batch_size": 1, "max_steps": 3, **keys, **PRECISIONS[precision]})
            done = ringmaster("prepare", config, "--ranks", ranks, "--runs-dir", folder / "runs")
            self.prepared[key] = pathlib.Path(done.stdout.strip())
        return self.prepared[key]

    def run(self, engine, kind, way, precision, weights, folder):
        """Trains a copy of the prepared run with this engine; returns the state in which the run ended."""
        prepared = self.prepare(kind, way, precision, weights)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(prepared, folder / "run")
        plan = json.loads((folder / "run/plan.json").read_text())
        plan["config"]["output_dir"] = str(folder / "out")
        (folder / "run/plan.json").write_text(json.dumps(plan))
        subprocess.run([BIN / "ringmaster-agent", "--run", folder / "run", "--ranks", str(WAYS[way][0]), "--engine", engine,
                        "--foreground"], timeout=300, capture_output=True)
        return state_of(folder / "run")
