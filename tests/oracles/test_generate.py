"""Compares tokens and log-probabilities of our sampler with transformers' `generate`, for prompts of ragged
lengths in one batch."""

import json
import math
import pathlib
import random
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from ringmaster_runs import BIN, VOCABULARY, make_config, make_model, make_rows, ringmaster

FAMILIES = {
    "llama": {},
    "qwen3": {},
    "gpt_oss": dict(head_dim=16, sliding_window=8, num_local_experts=4, num_experts_per_tok=2),
    "gemma3_text": dict(head_dim=32, sliding_window=8, layer_types=["sliding_attention", "full_attention", "sliding_attention"]),
}
PHI3 = dict(original_max_position_embeddings=64,
            rope_parameters={"rope_type": "longrope", "rope_theta": 10000.0, "original_max_position_embeddings": 64,
                             "short_factor": [1.0] * 8, "long_factor": [2.0] * 8})
LATENT = dict(num_key_value_heads=4, q_lora_rank=32, kv_lora_rank=24, qk_rope_head_dim=8, qk_nope_head_dim=24, v_head_dim=20)
GROUPED = dict(n_routed_experts=8, num_experts_per_tok=3, n_group=4, topk_group=2, moe_intermediate_size=40, first_k_dense_replace=1)
MIXTURES = {"glm4_moe": dict(GROUPED, head_dim=16, use_qk_norm=True), "deepseek_v3": {**GROUPED, **LATENT}}
TOKENS = 24


def prompts_of(count, seed=3, longest=40):
    source = random.Random(seed)
    return [[source.randrange(VOCABULARY) for _ in range(source.randint(1, longest))] for _ in range(count)]


@pytest.fixture(scope="session")
def config(tmp_path_factory):
    """Returns the engine's configuration of a run, as JSON."""
    folder = tmp_path_factory.mktemp("run")
    make_rows(folder / "rows.jsonl", 4)
    model = make_model(folder / "model", "llama")
    file = make_config(folder, model, folder / "rows.jsonl")
    done = ringmaster("prepare", file, "--ranks", 1, "--runs-dir", folder / "runs", "--json")
    return json.loads((pathlib.Path(json.loads(done.stdout)["dir"]) / "plan.json").read_text())["config"]


def start(folder, config, model, prompts, **request):
    changes = request.pop("changes", {})
    request = {"models": [{"name": "model", "config": {**config, "model_dir": str(model), **changes}}], "prompts": prompts, **request}
    file = folder / "request.json"
    file.write_text(json.dumps(request))
    return subprocess.run([str(BIN / "ringmaster-engine"), "--generate", str(file)], capture_output=True, text=True, timeout=900)


def completions(*arguments, **request):
    """Runs the engine; returns the completions in the prompts' order."""
    done = start(*arguments, **request)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return sorted((line for line in lines if line["type"] == "completion"), key=lambda line: line["prompt"])


def greedy_of_transformers(folder, prompts, tokens):
    """Returns, for each prompt, the tokens that transformers generates and their log-probabilities. The prompts are computed in
    batches of 20, padded on the left."""
    import torch
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    found = []
    for begin in range(0, len(prompts), 20):
        some = prompts[begin : begin + 20]
        longest = max(map(len, some))
        ids = torch.tensor([[0] * (longest - len(ids)) + ids for ids in some])
        mask = torch.tensor([[0] * (longest - len(ids)) + [1] * len(ids) for ids in some])
        with torch.no_grad():
            made = model.generate(ids, attention_mask=mask, max_new_tokens=tokens, do_sample=False, pad_token_id=0, eos_token_id=None,
                                  output_logits=True, return_dict_in_generate=True)
        log_probabilities = torch.stack(made.logits, 1).double().log_softmax(-1)
        for row, new in enumerate(made.sequences[:, longest:]):
            found.append((new.tolist(), log_probabilities[row].gather(1, new.unsqueeze(1)).squeeze(1).tolist()))
    return found


def check_greedy(folder, config, family, count, tokens=TOKENS):
    model = make_model(folder / "model", family, **{**FAMILIES, **MIXTURES}[family])
    prompts = prompts_of(count)
    ours = completions(folder, config, model, prompts, max_new_tokens=tokens, at_once=16)
    theirs = greedy_of_transformers(model, prompts, tokens)
    assert [made["ids"] for made in ours] == [ids for ids, _ in theirs]
    worst = max(abs(a - b) for made, (_, expected) in zip(ours, theirs) for a, b in zip(made["log_probabilities"], expected))
    assert worst < 2e-5, worst
    return worst


@pytest.mark.parametrize("family", FAMILIES)
def test_quick_greedy(tmp_path, config, family):
    print(family, check_greedy(tmp_path, config, family, 24))


@pytest.mark.parametrize("family", [*FAMILIES, *MIXTURES])
def test_greedy(tmp_path, config, family):
    print(family, check_greedy(tmp_path, config, family, 220))


def test_quick_tokens_do_not_depend_on_the_batch(tmp_path, config):
    """Tests that the same seed gives a prompt the same tokens and log-probabilities, alone, in any batch and in any
    order."""
    model = make_model(tmp_path / "model", "gemma3_text", **FAMILIES["gemma3_text"])
    prompts = prompts_of(9)
    asked = dict(max_new_tokens=12, temperature=0.8, top_p=0.9, seed=5)

    def made(some, **changes):
        return [(one["ids"], one["log_probabilities"]) for one in completions(tmp_path, config, model, some, **asked, **changes)]

    together = made(prompts, at_once=16)
    assert made(prompts[::-1], at_once=2)[::-1] == together
    assert made(prompts[3:4]) == together[3:4]
    assert len({tuple(ids) for ids, _ in made(prompts[:1] * 4)}) > 1  # equal prompts get different completions
    asked["seed"] = 6
    assert made(prompts, at_once=16) != together


def filtered(scores, temperature, top_k, top_p):
    """Returns the log-probabilities after temperature, and those from which transformers samples, after its top-k and top-p
    filters."""
    from transformers.generation import logits_process

    scores = scores / temperature
    kept = scores
    if top_k:
        kept = logits_process.TopKLogitsWarper(top_k)(None, kept)
    if top_p < 1:
        kept = logits_process.TopPLogitsWarper(top_p)(None, kept)
    return scores.double().log_softmax(-1), kept.double().softmax(-1)


CHOICES = [dict(temperature=0.7), dict(temperature=1.3, top_k=7), dict(temperature=1.5, top_p=0.6), dict(temperature=2, top_k=40, top_p=0.8)]


@pytest.mark.parametrize("choice", [pytest.param(choice, id=str(choice) + ", quick" * ("top_k" in choice and "top_p" in choice)) for choice in CHOICES])
def test_samples_are_of_transformers_distribution(tmp_path, config, choice):
    """Samples for 1,000 identical prompts. Tokens that transformers filters out must never occur. The others must occur as often as
    their probabilities say (chi-squared test, p = 1e-6 with this seed) and have transformers' log-probabilities."""
    import torch
    import transformers

    folder = make_model(tmp_path / "model", "llama")
    prompt, count = prompts_of(1, seed=8)[0], 1000
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.no_grad():
        logits = model(torch.tensor([prompt])).logits[:, -1] * 1.0
    log_probabilities, drawn_from = (values[0] for values in filtered(logits, choice["temperature"], choice.get("top_k", 0), choice.get("top_p", 1)))
    seen = [0] * VOCABULARY
    for made in completions(tmp_path, config, folder, [prompt] * count, max_new_tokens=1, seed=11, at_once=200, **choice):
        seen[made["ids"][0]] += 1
        assert made["log_probabilities"][0] == pytest.approx(float(log_probabilities[made["ids"][0]]), abs=2e-5)
    expected = (drawn_from * count).tolist()
    assert not any(times for times, of in zip(seen, expected) if of == 0)
    spread = sum((times - of) ** 2 / of for times, of in zip(seen, expected) if of > 0)
    freedom = sum(of > 0 for of in expected) - 1
    assert spread < freedom + 7 * math.sqrt(2 * freedom), (spread, freedom)


def test_quick_ends(tmp_path, config):
    """A completion ends with a stop token, after the tokens that were asked for, or at the last position."""
    model = make_model(tmp_path / "model", "qwen3", max_position_embeddings=48)
    prompts = [*prompts_of(6), [1] * 40]
    free = completions(tmp_path, config, model, prompts, max_new_tokens=20)
    assert [len(made["ids"]) for made in free] == [*[min(20, 48 - len(ids)) for ids in prompts[:-1]], 8]
    stop = free[2]["ids"][5]
    for made, before in zip(completions(tmp_path, config, model, prompts, max_new_tokens=20, stop_ids=[stop]), free):
        end = before["ids"].index(stop) + 1 if stop in before["ids"] else len(before["ids"])
        assert made["ids"] == before["ids"][:end] and made["stopped"] == (stop in before["ids"])
    for prompt, words in ([], "has no tokens"), ([1] * 48, "48 positions"), ([3, VOCABULARY], "does not know"):
        done = start(tmp_path, config, model, [[1, 2], prompt], max_new_tokens=4)
        error = json.loads(done.stdout.splitlines()[-1])
        assert done.returncode == 1 and (error["type"], error["code"], error["where"]) == ("error", "GENERATE-PROMPT", "prompt 2")
        assert words in error["message"], error


@pytest.mark.parametrize("kind, changes", [
    ("phi", dict(partial_rotary_factor=0.5)),
    ("phi3", PHI3),
    ("gemma2", dict(head_dim=16, sliding_window=8, query_pre_attn_scalar=16)),
    ("qwen2", dict(rope_scaling={"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32})),
    ("qwen3_moe", dict(num_experts=8, num_experts_per_tok=2, moe_intermediate_size=48, head_dim=16)),
    ("gemma4_text", dict(head_dim=16, global_head_dim=32, sliding_window=8, attention_k_eq_v=True, num_global_key_value_heads=1,
                         hidden_size_per_layer_input=0, enable_moe_block=True, num_experts=6, top_k_experts=2, moe_intermediate_size=24,
                         layer_types=["sliding_attention", "full_attention", "full_attention"])),
    ("gemma4_text", dict(head_dim=16, global_head_dim=32, sliding_window=8, num_hidden_layers=5, num_kv_shared_layers=2, use_double_wide_mlp=True,
                         hidden_size_per_layer_input=16, vocab_size_per_layer_input=256,
                         layer_types=["sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "full_attention"])),
    ("olmo2", {}), ("cohere", {}), ("glm4", dict(head_dim=16)), ("granite", {}),
    ("granitemoehybrid", dict(layer_types=3 * ["attention"], position_embedding_type="rope", num_local_experts=4, intermediate_size=48,
                              shared_intermediate_size=48, attention_multiplier=0.25)),
    ("nemotron_h", dict(hybrid_override_pattern="*-*E", head_dim=16, n_routed_experts=4, moe_intermediate_size=48,
                        moe_shared_expert_intermediate_size=48)),
])
def test_families(tmp_path, config, kind, changes):
    """Tests other kinds of layers with 20 prompts each. A few prompts are enough, because generating uses the same blocks as
    training."""
    FAMILIES[kind] = changes
    check_greedy(tmp_path, config, kind, 20, tokens=16)
