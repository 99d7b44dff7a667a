"""Computes advantages from given rewards with TRL's GRPOTrainer, on the CPU. Run as a program, it writes trl_advantages.json;
this needs trl 1.16.0, which the tests' environment lacks."""

import json
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from trl_reference import make_tokenizer

GROUP, PROMPTS = 4, 3
NONE = None


def rewards_of(name, source):
    """Returns a list of rewards for each of two functions; every prompt has one group of GROUP completions."""
    count = GROUP * PROMPTS
    first = [round(source.gauss(0, 1), 3) for _ in range(count)]
    second = [round(source.uniform(-5, 5), 3) for _ in range(count)]
    if name == "even":
        first[:GROUP], second[:GROUP] = [0.5] * GROUP, [2.0] * GROUP
    if name == "gaps":
        second[1] = second[7] = first[6] = NONE
        first[4] = second[4] = NONE  # neither function returns a reward for these
    if name == "lonely":
        for index in range(1, GROUP):
            first[index] = second[index] = NONE
        for index in range(GROUP, 2 * GROUP):
            first[index] = second[index] = NONE
    return [first, second]


def advantages(rewards, weights, scale):
    import datasets
    import torch
    import transformers
    import trl

    torch.manual_seed(1)
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=256, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=1, num_key_value_heads=1))
    functions = []
    for index, values in enumerate(rewards):
        def function(prompts, completions, values=values, **kwargs):
            return values
        function.__name__ = f"function_{index}"
        functions.append(function)
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = make_tokenizer()
        rows = datasets.Dataset.from_list([{"prompt": tokenizer.decode([20 + i])} for i in range(PROMPTS)])
        trainer = trl.GRPOTrainer(model, functions, trl.GRPOConfig(
            folder, per_device_train_batch_size=GROUP * PROMPTS, num_generations=GROUP, max_completion_length=2, use_cpu=True,
            reward_weights=weights, report_to=[], **({"scale_rewards": scale} if scale != "by_function" else {"multi_objective_aggregation": "normalize_then_sum"}), bf16=False), train_dataset=rows, processing_class=tokenizer)
        batch = trainer._generate_and_score_completions([row for row in rows for _ in range(GROUP)])
    metrics = trainer._metrics["train"]
    return {"advantages": batch["advantages"].tolist(), "reward": metrics["reward"][0], "reward_std": metrics["reward_std"][0],
            "even_share": metrics["frac_reward_zero_std"][0],
            "means": [metrics[f"rewards/function_{i}/mean"][0] for i in range(2)],
            "stds": [metrics[f"rewards/function_{i}/std"][0] for i in range(2)]}


def main():
    source, cases = random.Random(3), []
    for name in ("plain", "even", "gaps", "lonely"):
        for scale in ("group", "batch", "none", "by_function"):
            for weights in ([1.0, 1.0], [0.5, -2.0]):
                rewards = rewards_of(name, source)
                cases.append({"name": name, "scale": scale, "weights": weights, "rewards": rewards,
                              **advantages(rewards, weights, scale)})
    lines = ",\n".join(json.dumps(case).replace("NaN", "null") for case in cases)
    pathlib.Path(__file__).with_name("trl_advantages.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
