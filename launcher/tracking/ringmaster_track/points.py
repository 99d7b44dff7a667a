"""Defines points: the numbers of one step or one evaluation, by the names that transformers logs."""
from __future__ import annotations

import math
from dataclasses import dataclass

OWN = "ringmaster/"  # prefix of the figures that only Ringmaster has
STEP_KEY = "train/global_step"
MOST_STEPS = 10**12

# Field of a step event -> name in transformers' logs.
STEP_NAMES = {
    "loss": "loss",
    "router_loss": OWN + "router_loss",
    "grad_norm": "grad_norm",
    "lr": "learning_rate",
    "epoch": "epoch",
    "tokens": OWN + "tokens",
    "tokens_per_s": OWN + "tokens_per_s",
    "step_s": OWN + "step_s",
    "peak_memory_bytes": OWN + "peak_memory_bytes",
    # TRL logs the following figures by these names.
    "reward_margin": "rewards/margins",
    "reward_accuracy": "rewards/accuracies",
    "rewards_chosen": "rewards/chosen",
    "rewards_rejected": "rewards/rejected",
    "kl": "kl",
    "nll": "nll_loss",
    "clip_share": "clip_ratio/region_mean",
    "sampler_gap": "sampling/sampling_logp_difference/mean",
    "reward": "reward",
    "reward_std": "reward_std",
    "completion_tokens": "completions/mean_length",
    "cut_share": "completions/clipped_ratio",
    "even_share": "frac_reward_zero_std",
}


@dataclass(frozen=True)
class Point:
    kind: str  # "train" or "eval"
    step: int
    t: float  # Unix seconds
    values: dict  # name in transformers' logs -> finite number

    @property
    def key(self):
        return self.kind, self.step

    def row(self) -> dict:
        """Returns the values as transformers' callbacks of W&B, trackio and TensorBoard name them."""
        return {shown(name): value for name, value in self.values.items()}


def shown(name: str) -> str:
    """Returns the name with transformers' prefix: loss -> train/loss, eval_loss -> eval/loss."""
    if name.startswith(OWN):
        return name
    return "eval/" + name[5:] if name.startswith("eval_") else "train/" + name


def key_of_row(row: dict):
    """Returns the key of the point from which a tracker's row was made; None for a row that another
    program wrote."""
    step = number(row.get(STEP_KEY))
    if step is None:
        return None
    return ("eval" if any(name.startswith("eval/") for name in row) else "train"), int(step)


def number(value):
    """Returns a finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        value = float(value)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def point_of(event) -> Point | None:
    """Returns the point of an event of rank 0; None for any other event, and for one with a wrong step."""
    if not isinstance(event, dict) or event.get("type") not in ("step", "eval"):
        return None
    step, t = event.get("step"), number(event.get("t"))
    if isinstance(step, bool) or not isinstance(step, int) or not 0 <= step <= MOST_STEPS:
        return None
    if t is None or not 0 <= t <= 1e11:
        return None
    if event["type"] == "eval":
        return Point("eval", step, t, _known({"eval_loss": number(event.get("loss"))}))
    values = {name: number(event.get(field)) for field, name in STEP_NAMES.items()}
    values[OWN + "overhead"] = _overhead(event)
    functions = event.get("reward_functions")
    for name, mean in functions.items() if isinstance(functions, dict) else ():
        values[f"rewards/{name}/mean"] = number(mean)
    return Point("train", step, t, _known(values))


def _overhead(event):
    waited, whole = number(event.get("exposed_comm_s")), number(event.get("step_s"))
    return waited / whole if waited is not None and whole and whole > 0 else None


def _known(values: dict) -> dict:
    return {name: value for name, value in values.items() if value is not None}
