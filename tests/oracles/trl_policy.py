"""Trains on given rollouts with TRL on the CPU, in float64 and with a large epsilon of AdamW (trl_reference.py says why). Run
as a program, it writes trl_policy_losses.json; this needs trl 1.16.0, which the tests' environment lacks."""

import copy
import json
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from trl_reference import BATCH, CALM_EPSILON, MODELS, SETTINGS, STEPS, as_text, float64_for_float32, load, make_pairs, make_tokenizer

LONGEST = 40  # max_completion_length
# Maps a name to (TRL's settings, our keys under `trl`).
RULES = {
    "grpo": dict(loss_type="grpo", beta=0.05),
    "dapo": dict(loss_type="dapo", epsilon=0.2, epsilon_high=0.28),
    "dr_grpo": dict(loss_type="dr_grpo"),
    "gspo": dict(loss_type="grpo", importance_sampling_level="sequence", epsilon=0.03, epsilon_high=0.04, beta=0.02),
    "warm": dict(loss_type="dapo", temperature=0.7, beta=0.01),
}


def make_rollouts(count, seed=5):
    """Returns rollouts of many lengths. The old log-probabilities are near those of an untrained
    model, so that some ratios are clipped and others are not. Every eleventh row has no old
    log-probabilities, and some rows have masked tokens."""
    source = random.Random(seed)
    rows = []
    for index, pair in enumerate(make_pairs(count, seed)):
        answer = pair["chosen"] if index % 2 else pair["rejected"]
        row = {"prompt_ids": pair["prompt"], "completion_ids": answer, "advantages": round(source.gauss(0, 1), 3)}
        if index % 11 != 3:
            row["old_per_token_logps"] = [round(-5.545 + source.uniform(-0.35, 0.35), 3) for _ in answer]
        if index % 5 == 2:
            row["tool_mask"] = [int(source.random() < 0.7) for _ in answer]
        if index % 17 == 9:
            row["completion_mask"] = [0] * len(answer)  # an answer that was cut off
        rows.append(row)
    return rows


def batch_of(rows, torch):
    """Returns a batch as GRPOTrainer makes it: prompts padded on the left, completions on the right."""
    def padded(values, left=False, dtype=torch.long):
        width = max(map(len, values))
        return torch.tensor([[0] * (width - len(v)) * left + list(v) + [0] * (width - len(v)) * (not left) for v in values], dtype=dtype)

    ones = lambda name: [[1] * len(row[name]) for row in rows]
    mask = [row.get("completion_mask", [1] * len(row["completion_ids"])) for row in rows]
    tool = [row.get("tool_mask", [1] * len(row["completion_ids"])) for row in rows]
    old = [row.get("old_per_token_logps", [float("nan")] * len(row["completion_ids"])) for row in rows]
    batch = {"prompt_ids": padded([row["prompt_ids"] for row in rows], left=True), "prompt_mask": padded(ones("prompt_ids"), left=True),
             "completion_ids": padded([row["completion_ids"] for row in rows]), "completion_mask": padded(mask), "tool_mask": padded(tool),
             "advantages": torch.tensor([row["advantages"] for row in rows], dtype=torch.float64)}
    batch["num_items_in_batch"] = (batch["completion_mask"] * batch["tool_mask"]).sum()
    return batch, padded(old, dtype=torch.float64)


def train(model, rows, folder, **settings):
    """Returns the losses of STEPS steps of BATCH rows each."""
    import datasets
    import torch
    import trl

    first = copy.deepcopy(model).eval()
    losses = []

    class Given(trl.GRPOTrainer):
        def _prepare_inputs(self, generation_batch):
            at = len(losses) * BATCH % len(rows)
            batch, old = batch_of(rows[at:at + BATCH], torch)
            ids = torch.cat([batch["prompt_ids"], batch["completion_ids"]], 1)
            seen = torch.cat([batch["prompt_mask"], batch["completion_mask"]], 1)
            answer = batch["completion_ids"]
            with torch.no_grad():
                present = self._get_per_token_logps_and_entropies(self.model, ids, seen, answer.size(1))[0]
                logits = first(input_ids=ids, attention_mask=seen).logits[:, -answer.size(1) - 1:-1] / self.temperature
            batch["old_per_token_logps"] = torch.where(old.isnan(), present, old)
            batch["ref_per_token_logps"] = logits.log_softmax(-1).gather(2, answer.unsqueeze(2)).squeeze(2)
            return batch

        def compute_loss(self, *arguments, **named):
            found = super().compute_loss(*arguments, **named)
            losses.append(found.item())
            return found

    shared = {key: value for key, value in SETTINGS.items() if key not in ("train_sampling_strategy", "max_length")}
    arguments = trl.GRPOConfig(**shared, output_dir=str(folder), per_device_train_batch_size=BATCH, num_generations=2, max_steps=STEPS,
                               max_completion_length=LONGEST, adam_epsilon=CALM_EPSILON, **settings)
    prompts = datasets.Dataset.from_list([{"prompt": as_text(row["prompt_ids"])} for row in rows])
    trainer = Given(model=model, reward_funcs=lambda completions, **_: [0.0] * len(completions), args=arguments, train_dataset=prompts,
                    processing_class=make_tokenizer())
    with float64_for_float32():
        trainer.train()
    return losses


def prepare(folder, kind, adapter):
    """Makes the model, the adapter that training begins with, and the rows; returns the rows and the model."""
    from ringmaster_runs import make_model

    rows = make_rollouts(BATCH * STEPS // 2)
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    model = load(make_model(folder / "model", kind), "grpo")
    if adapter:
        import peft
        import torch

        torch.manual_seed(11)
        model = peft.get_peft_model(model, peft.LoraConfig(task_type="CAUSAL_LM", r=8, lora_alpha=16,
                                                           target_modules=["q_proj", "v_proj", "down_proj"]))
        model.save_pretrained(folder / "begun")
    return rows, model


def record():
    found = {}
    for name, settings in RULES.items():
        for kind in MODELS:
            for adapter in (False, True):
                with tempfile.TemporaryDirectory() as folder:
                    rows, model = prepare(pathlib.Path(folder), kind, adapter)
                    case = f"{name} {kind} {'lora' if adapter else 'full'}"
                    found[case] = train(model.double(), rows, pathlib.Path(folder) / "out", **settings)
                    print(case, found[case][:3], found[case][-1], flush=True)
    lines = [f' "{name}": {json.dumps(values)}' for name, values in found.items()]
    (pathlib.Path(__file__).parent / "trl_policy_losses.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    record()
