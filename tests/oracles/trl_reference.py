"""Trains on preferences with TRL on the CPU. Run as a program, it writes trl_losses.json; this needs trl 1.16.0, accelerate
and peft, which the tests' environment lacks. A tokenizer whose tokens are words ("w17") maps each id to exactly one word, so
ids and text are equivalent.

The file holds, for every case, the losses in float32 and how far they are from TRL's losses in float64 ("drift"). AdamW divides by
the gradient's size plus epsilon, so elements whose gradient is about 1e-8 turn rounding into whole updates: noise of half a
float32 ulp in the first weights changes some cases' float64 losses by 1e-4. If a case drifts by more than MOST_DRIFT or is in
SENSITIVE, the file also holds its losses in float64 with epsilon CALM_EPSILON, where the same noise changes less than 1e-6. "long"
has the losses with completions of up to 512 tokens, in float64 with that epsilon."""

import contextlib
import json
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))

STEPS = 20
BATCH = 4  # rows of a step
MOST_DRIFT = 5e-6
SENSITIVE = {"ipo llama full"}  # on a ring of two ranks, rounding errors change its losses by 3e-5 with AdamW's usual epsilon
CALM_EPSILON = 1e-5
MODELS = ["llama", "qwen3"]
# Maps a name to (method, TRL's settings, our keys).
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
    "reward": ("reward", dict(center_rewards_coefficient=0.01), dict(reward_model=True, center_rewards_coefficient=0.01)),
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


def make_pairs(count, seed=1, long=False):
    """Returns prompts with two answers, of many lengths: the chosen one continues the prompt's pattern."""
    source, (shortest, longest) = random.Random(seed), (400, 512) if long else (2, 32)
    rows = []
    for _ in range(count):
        start, stride = source.randint(1, VOCABULARY - 2), source.choice([1, 2, 3, 5])
        prompt = [1 + (start + stride * i) % (VOCABULARY - 2) for i in range(source.randint(3, 24))]
        chosen = [1 + (start + stride * (len(prompt) + i)) % (VOCABULARY - 2) for i in range(source.randint(shortest, longest - 1))]
        rejected = [source.randint(1, VOCABULARY - 2) for _ in range(source.randint(shortest, longest - 1))]
        rows.append({"prompt": prompt, "chosen": chosen + [END], "rejected": rejected + [END]})
    return rows


def make_answers(count, seed=2, long=False):
    """Returns KTO's rows: each is a prompt, an answer, and whether the answer is desirable."""
    source = random.Random(seed)
    return [{"prompt": row["prompt"], "completion": row["chosen"] if good else row["rejected"], "label": good}
            for row in make_pairs(count, seed, long) for good in [source.random() < 0.6]]


SETTINGS = dict(learning_rate=1e-3, lr_scheduler_type="constant", weight_decay=0.0, max_grad_norm=1.0, optim="adamw_torch",
                logging_steps=1, report_to=[], use_cpu=True, bf16=False, fp16=False, gradient_checkpointing=False,
                save_strategy="no", disable_tqdm=True, seed=3, train_sampling_strategy="sequential", max_length=640)


def trainer_of(method):
    import trl

    if method == "dpo":
        return trl.DPOTrainer, trl.DPOConfig
    if method == "kto":
        return trl.KTOTrainer, trl.KTOConfig
    if method == "reward":
        return trl.RewardTrainer, trl.RewardConfig
    if method == "orpo":
        from trl.experimental.orpo import ORPOConfig, ORPOTrainer

        return ORPOTrainer, ORPOConfig
    from trl.experimental.cpo import CPOConfig, CPOTrainer

    return CPOTrainer, CPOConfig


def dataset_of(method, rows):
    import datasets

    if method == "reward":
        return datasets.Dataset.from_list([{f"{name}_ids": row["prompt"] + row[name] for name in ("chosen", "rejected")} for row in rows])
    adds_end = method in ("orpo", "simpo")  # these trainers append the end token themselves
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
    """Returns the rows in Ringmaster's format for tokenized rows."""
    def labelled(prompt, completion):
        return {"input_ids": prompt + completion, "labels": [-100] * len(prompt) + completion}

    if method == "reward":
        return [{f"{name}_input_ids": row["prompt"] + row[name] for name in ("chosen", "rejected")} for row in rows]
    if method == "kto":
        return [{**labelled(row["prompt"], row["completion"]), "label": row["label"]} for row in rows]
    return [{f"{name}_{key}": value for name in ("chosen", "rejected") for key, value in labelled(row["prompt"], row[name]).items()}
            for row in rows]


def load(model_dir, method):
    import torch
    import transformers

    settings = dict(attn_implementation="sdpa", dtype=torch.float32)
    if method != "reward":
        return transformers.AutoModelForCausalLM.from_pretrained(model_dir, **settings)
    torch.manual_seed(5)  # seeds the head's initial weights
    model = transformers.AutoModelForSequenceClassification.from_pretrained(model_dir, num_labels=1, **settings)
    model.save_pretrained(model_dir)
    return model


def prepare(folder, method, kind, adapter, long=False):
    """Makes the model, the adapter that training begins with, and the rows; returns the rows for TRL and the model."""
    from ringmaster_runs import make_model

    count = BATCH * STEPS // 2  # two epochs
    rows = make_answers(count, long=long) if method == "kto" else make_pairs(count, long=long)
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows_as_tokenized(method, rows)))
    model = load(make_model(folder / "model", kind, max_position_embeddings=1024 if long else 512), method)
    if adapter:
        import peft
        import torch

        torch.manual_seed(11)
        model = peft.get_peft_model(model, peft.LoraConfig(task_type="SEQ_CLS" if method == "reward" else "CAUSAL_LM", r=8, lora_alpha=16,
                                                           target_modules=["q_proj", "v_proj", "down_proj"]))
        model.save_pretrained(folder / "begun")
    return rows, model


@contextlib.contextmanager
def float64_for_float32():
    """Makes transformers and TRL compute in float64. Replaces torch.float32 and Tensor.float(), which their code uses where it
    needs precision."""
    import torch

    before = torch.float32, torch.Tensor.float
    torch.float32 = torch.float = torch.float64
    torch.Tensor.float = torch.Tensor.double
    yield
    torch.float32 = torch.float = before[0]
    torch.Tensor.float = before[1]


def losses_of_case(name, kind, adapter, doubles, long=False, **more):
    method, settings, _ = LOSSES[name]
    with tempfile.TemporaryDirectory() as folder:
        rows, model = prepare(pathlib.Path(folder), method, kind, adapter, long)
        trainer_of(method)  # imports the module, so that the replacement above takes effect
        with float64_for_float32() if doubles else contextlib.nullcontext():
            return train(method, model.double() if doubles else model, rows, pathlib.Path(folder) / "out", STEPS, BATCH, **settings, **more)


def distance(ours, theirs):
    return max(abs(one / other - 1) for one, other in zip(ours, theirs, strict=True))


def record(names):
    """Adds the losses of these cases to the file."""
    file = pathlib.Path(__file__).parent / "trl_losses.json"
    found = json.loads(file.read_text()) if file.exists() else {"float32": {}, "drift": {}, "float64 calm": {}, "long": {}}
    for name in names:
        for kind in MODELS:
            for adapter in (False, True):
                case = f"{name} {kind} {'lora' if adapter else 'full'}"
                found["float32"][case] = losses_of_case(name, kind, adapter, False)
                found["drift"][case] = distance(found["float32"][case], losses_of_case(name, kind, adapter, True))
                if found["drift"][case] > MOST_DRIFT or case in SENSITIVE:
                    found["float64 calm"][case] = losses_of_case(name, kind, adapter, True, adam_epsilon=CALM_EPSILON)
                print(case, found["drift"][case], flush=True)
            found["long"][f"{name} {kind} full"] = losses_of_case(name, kind, False, True, long=True, adam_epsilon=CALM_EPSILON)
    parts = [f'"{part}": {{\n' + ",\n".join(f' "{name}": {json.dumps(values)}' for name, values in cases.items()) + "\n}" for part, cases in found.items()]
    file.write_text("{" + ",\n".join(parts) + "}\n")


if __name__ == "__main__":
    record(sys.argv[1:] or LOSSES)
