"""Trains on preferences with TRL on the CPU, in float32. Run as a program, it writes the losses of every case to
trl_losses.json; this needs trl 1.16.0, accelerate and peft, which the tests' environment lacks. A tokenizer of words
("w17") makes ids and text the same thing."""

import json
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))

STEPS = 20
BATCH = 4  # rows of a step
MODELS = ["llama", "qwen3"]
# name: (method, TRL's settings, our keys)
LOSSES = {
    "dpo": ("dpo", {}, dict(rl="dpo")),
    "ipo": ("dpo", dict(loss_type=["ipo"]), dict(rl="ipo")),
    "hinge": ("dpo", dict(loss_type=["hinge"]), dict(rl="dpo", dpo_loss_type=["hinge"])),
    "robust": ("dpo", dict(loss_type=["robust"], label_smoothing=0.1),
               dict(rl="dpo", dpo_loss_type=["robust"], dpo_label_smoothing=0.1)),
    "rpo": ("dpo", dict(loss_type=["sigmoid", "sft"], loss_weights=[1.0, 0.5], beta=0.3),
            dict(rl="dpo", dpo_loss_type=["sigmoid", "sft"], dpo_loss_weights=[1.0, 0.5], rl_beta=0.3)),
    "others": ("dpo", dict(loss_type=["sigmoid_norm", "exo_pair", "nca_pair", "bco_pair", "sppo_hard", "apo_zero", "apo_down"],
                           loss_weights=[1.0, 0.5, 0.3, 0.2, 0.01, 0.4, 0.6], label_smoothing=0.1),
               dict(rl="dpo", dpo_loss_type=["sigmoid_norm", "exo_pair", "nca_pair", "bco_pair", "sppo_hard", "apo_zero", "apo_down"],
                    dpo_loss_weights=[1.0, 0.5, 0.3, 0.2, 0.01, 0.4, 0.6], dpo_label_smoothing=0.1)),
    "orpo": ("orpo", dict(beta=0.2), dict(rl="orpo", orpo_alpha=0.2)),
    "simpo": ("simpo", dict(loss_type="simpo", simpo_gamma=0.7, cpo_alpha=0.5, beta=0.4),
              dict(rl="simpo", simpo_gamma=0.7, cpo_alpha=0.5, rl_beta=0.4)),
    "kto": ("kto", dict(desirable_weight=1.2), dict(rl="kto", kto_desirable_weight=1.2)),
}

VOCABULARY = 256
END = VOCABULARY - 1


def make_tokenizer():
    import tokenizers
    import transformers

    words = {f"w{i}": i for i in range(VOCABULARY)}
    model = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="w0"))
    model.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=model, eos_token=f"w{END}", pad_token="w0", unk_token="w0")


def as_text(ids):
    return " ".join(f"w{i}" for i in ids)


def make_pairs(count, seed=1, longest=32):
    """Returns prompts with two answers, of many lengths: the chosen one goes on with the prompt's pattern."""
    source = random.Random(seed)
    rows = []
    for _ in range(count):
        start, stride = source.randint(1, VOCABULARY - 2), source.choice([1, 2, 3, 5])
        prompt = [1 + (start + stride * i) % (VOCABULARY - 2) for i in range(source.randint(3, 24))]
        chosen = [1 + (start + stride * (len(prompt) + i)) % (VOCABULARY - 2) for i in range(source.randint(2, longest - 1))]
        rejected = [source.randint(1, VOCABULARY - 2) for _ in range(source.randint(2, longest - 1))]
        rows.append({"prompt": prompt, "chosen": chosen + [END], "rejected": rejected + [END]})
    return rows


def make_answers(count, seed=2):
    """Returns KTO's rows: prompts with an answer and whether it is desirable."""
    source = random.Random(seed)
    return [{"prompt": row["prompt"], "completion": row["chosen"] if good else row["rejected"], "label": good}
            for row in make_pairs(count, seed) for good in [source.random() < 0.6]]


SETTINGS = dict(learning_rate=1e-3, lr_scheduler_type="constant", weight_decay=0.0, max_grad_norm=1.0, optim="adamw_torch",
                logging_steps=1, report_to=[], use_cpu=True, bf16=False, fp16=False, gradient_checkpointing=False,
                save_strategy="no", disable_tqdm=True, seed=3, train_sampling_strategy="sequential", max_length=96)


def trainer_of(method):
    import trl

    if method == "dpo":
        return trl.DPOTrainer, trl.DPOConfig
    if method == "kto":
        return trl.KTOTrainer, trl.KTOConfig
    if method == "orpo":
        from trl.experimental.orpo import ORPOConfig, ORPOTrainer

        return ORPOTrainer, ORPOConfig
    from trl.experimental.cpo import CPOConfig, CPOTrainer

    return CPOTrainer, CPOConfig


def dataset_of(method, rows):
    import datasets

    adds_end = method in ("orpo", "simpo")  # their trainers end a completion themselves
    def text_of(key, value):
        if key == "label":
            return value
        return as_text(value) if key == "prompt" else " " + as_text(value[:-1] if adds_end else value)

    return datasets.Dataset.from_list([{key: text_of(key, value) for key, value in row.items()} for row in rows])


def train(method, model, rows, folder, steps, batch, **settings):
    """Returns the losses of `steps` steps of `batch` rows each."""
    trainer_class, config_class = trainer_of(method)
    losses = []

    class Recording(trainer_class):
        def compute_loss(self, *arguments, **named):
            found = super().compute_loss(*arguments, **named)
            losses.append((found[0] if isinstance(found, tuple) else found).item())
            return found

    arguments = {**SETTINGS, "output_dir": str(folder), "per_device_train_batch_size": batch, "max_steps": steps, **settings}
    if method in ("dpo", "kto"):
        arguments["precompute_ref_log_probs"] = True
    Recording(model=model, args=config_class(**arguments), train_dataset=dataset_of(method, rows),
              processing_class=make_tokenizer()).train()
    return losses


def rows_as_tokenized(method, rows):
    """Returns the rows as this product takes tokenized ones."""
    def labelled(prompt, completion):
        return {"input_ids": prompt + completion, "labels": [-100] * len(prompt) + completion}

    if method == "kto":
        return [{**labelled(row["prompt"], row["completion"]), "label": row["label"]} for row in rows]
    return [{f"{name}_{key}": value for name in ("chosen", "rejected") for key, value in labelled(row["prompt"], row[name]).items()}
            for row in rows]


def load(model_dir):
    import torch
    import transformers

    return transformers.AutoModelForCausalLM.from_pretrained(model_dir, attn_implementation="sdpa", dtype=torch.float32)


def prepare(folder, method, kind, adapter):
    """Makes the model, the adapter that training begins with, and the rows; returns the rows for TRL and the model."""
    from ringmaster_runs import make_model

    count = BATCH * STEPS // 2  # two epochs
    rows = make_answers(count) if method == "kto" else make_pairs(count)
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows_as_tokenized(method, rows)))
    model = load(make_model(folder / "model", kind))
    if adapter:
        import peft
        import torch

        torch.manual_seed(11)
        model = peft.get_peft_model(model, peft.LoraConfig(task_type="CAUSAL_LM", r=8, lora_alpha=16,
                                                           target_modules=["q_proj", "v_proj", "down_proj"]))
        model.save_pretrained(folder / "begun")
    return rows, model


def record():
    losses = {}
    for name, (method, settings, _) in LOSSES.items():
        for kind in MODELS:
            for adapter in (False, True):
                with tempfile.TemporaryDirectory() as folder:
                    rows, model = prepare(pathlib.Path(folder), method, kind, adapter)
                    case = f"{name} {kind} {'lora' if adapter else 'full'}"
                    losses[case] = train(method, model, rows, pathlib.Path(folder) / "out", STEPS, BATCH, **settings)
                    print(case, losses[case][:3], losses[case][-1], flush=True)
    lines = [f' "{name}": {json.dumps(values)}' for name, values in losses.items()]
    (pathlib.Path(__file__).parent / "trl_losses.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    record()
