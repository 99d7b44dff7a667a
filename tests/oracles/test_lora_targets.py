"""Tests that lora_target_modules follows PEFT's rules: how many parameters are trained, and which targets are
refused."""

import json
import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from ringmaster_runs import make_config, make_model, make_rows, ringmaster

ATTENTION = r"model.layers.[\d]+.(mlp|cross_attn|self_attn).(up|down|gate|q|k|v|o)_proj"
TARGETS = {
    "names": dict(target_modules=["q_proj", "down_proj"]),
    "ends of paths": dict(target_modules=["self_attn.k_proj", "mlp.up_proj", "v_proj"]),
    "a whole path": dict(target_modules=["model.layers.1.self_attn.o_proj"]),
    "names that no module has": dict(target_modules=["q_proj", "in_proj", "shared_expert.gate_proj", "vision_adapter.mlp.fc1"]),
    "the end of a name": dict(target_modules=["k_proj", "proj"]),
    "some layers": dict(target_modules=["q_proj", "v_proj"], layers_to_transform=[0, 2]),
    "one layer": dict(target_modules=["q_proj", "mlp.up_proj"], layers_to_transform=1),
    "a whole path in another layer": dict(target_modules=["model.layers.1.self_attn.q_proj"], layers_to_transform=[0]),
    "pattern": dict(target_modules=ATTENTION),
    "pattern of an end": dict(target_modules=r".*\.(q|v)_proj"),
    "pattern of some layers": dict(target_modules=r".*layers\.(0|2)\.self_attn\.(q|k)_proj"),
    "pattern that needs the whole path": dict(target_modules=r".*\.gate_proj|.*nowhere"),
    "all linear": dict(target_modules="all-linear"),
    "embedding and head trained whole": dict(target_modules=["q_proj"], modules_to_save=["embed_tokens", "lm_head"]),
    "head alone trained whole": dict(target_modules=["q_proj"], modules_to_save=["lm_head"]),
    "embedding both adapted and trained whole": dict(target_modules=["q_proj", "embed_tokens"], modules_to_save=["embed_tokens"]),
    "embedding by its path": dict(target_modules=["q_proj"], modules_to_save=["model.embed_tokens"]),
}
REFUSED = {
    "nothing matches": dict(target_modules=["query", "value"]),
    "a part of a path": dict(target_modules=r"layers\.0\.self_attn\.q_proj"),
    "a pattern of another model": dict(target_modules=r"model.language_model.layers.[\d]+.(mlp|self_attn).(up|q)_proj"),
    "a block": dict(target_modules=["mlp"]),
    "a norm": dict(target_modules=["input_layernorm", "q_proj"]),
    "only what is trained whole": dict(target_modules=["embed_tokens"], modules_to_save=["embed_tokens"]),
    "a pattern with blocks": dict(target_modules=r".*self_attn.*"),
}
KEYS = {"target_modules": "lora_target_modules", "layers_to_transform": "peft_layers_to_transform", "modules_to_save": "lora_modules_to_save"}


MIXTURES = {"mixtral": dict(num_local_experts=4), "gpt_oss": dict(head_dim=16, num_local_experts=4, num_experts_per_tok=2, sliding_window=64)}
DENSE = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
# OF_MODULES lists targets that name modules. OF_EXPERTS lists targets that PEFT applies to the parameters of experts
# and routers.
OF_MODULES = [("mixtral", DENSE), ("gpt_oss", DENSE), ("gpt_oss", r".*self_attn\.(q|v)_proj"), ("gpt_oss", "all-linear")]
OF_EXPERTS = [("mixtral", ["q_proj", "gate"]), ("mixtral", ["q_proj", "w1", "w2", "w3"]), ("mixtral", "all-linear")]


@pytest.fixture(scope="module", params=[False, True], ids=["untied", "tied"])
def model(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("targets")
    make_rows(folder / "rows.jsonl", 4)
    return make_model(folder / "model", "llama", tie_word_embeddings=request.param), folder / "rows.jsonl"


def planned(model, tmp_path, settings):
    keys = {KEYS[name]: value for name, value in settings.items()}
    config = make_config(tmp_path, *model, adapter="lora", lora_r=4, lora_alpha=8, **keys)
    done = ringmaster("plan", config, "--ranks", 1, "--device", "cpu", "--json", check=False)
    return json.loads(done.stdout)


def peft_count(model, settings):
    import peft
    import transformers

    base = transformers.AutoModelForCausalLM.from_pretrained(model[0])
    adapted = peft.get_peft_model(base, peft.LoraConfig(task_type="CAUSAL_LM", r=4, lora_alpha=8, **settings))
    return sum(parameter.numel() for parameter in adapted.parameters() if parameter.requires_grad)


@pytest.mark.parametrize("case", TARGETS)
def test_as_many_parameters_are_trained_as_by_peft_quick(case, model, tmp_path):
    plan = planned(model, tmp_path, TARGETS[case])
    assert plan["ok"], plan["diagnostics"]
    size = next(one["message"] for one in plan["diagnostics"] if one["code"] == "LORA-SIZE")
    assert int(re.search(r"of ([\d,]+) parameters", size)[1].replace(",", "")) == peft_count(model, TARGETS[case])


@pytest.mark.parametrize("case", REFUSED)
def test_what_peft_refuses_is_refused_quick(case, model, tmp_path):
    with pytest.raises(ValueError):
        peft_count(model, REFUSED[case])
    plan = planned(model, tmp_path, REFUSED[case])
    wrong = [one for one in plan["diagnostics"] if one["severity"] == "error"]
    assert [(one["code"], one["key"]) for one in wrong] == [("CFG-VALUE", "lora_target_modules")]
    assert wrong[0]["fixes"] and wrong[0]["line"] > 0


@pytest.fixture(scope="module", params=MIXTURES)
def mixture(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mixtures")
    make_rows(folder / "rows.jsonl", 4)
    return request.param, (make_model(folder / "model", request.param, **MIXTURES[request.param]), folder / "rows.jsonl")


def test_names_of_dense_models_are_idle_in_a_mixture_if_peft_knows_none_of_them_quick(mixture, tmp_path):
    kind, model = mixture
    for i, targets in enumerate(targets for name, targets in OF_MODULES if name == kind):
        (tmp_path / str(i)).mkdir()
        plan = planned(model, tmp_path / str(i), dict(target_modules=targets))
        assert plan["ok"], (targets, plan["diagnostics"])
        size = next(one["parameters"]["parameters"] for one in plan["diagnostics"] if one["code"] == "LORA-SIZE")
        assert size == peft_count(model, dict(target_modules=targets)), targets


def test_names_that_peft_moves_to_experts_are_refused_quick(mixture, tmp_path):
    kind, model = mixture
    attention = peft_count(model, dict(target_modules=["q_proj"]))
    for i, targets in enumerate(targets for name, targets in OF_EXPERTS if name == kind):
        (tmp_path / str(i)).mkdir()
        assert peft_count(model, dict(target_modules=targets)) > attention
        plan = planned(model, tmp_path / str(i), dict(target_modules=targets))
        wrong = [(one["code"], one["key"]) for one in plan["diagnostics"] if one["severity"] == "error"]
        assert wrong == [("KEY-UNSUPPORTED", "lora_target_modules")], targets


HYBRIDS = {"falcon_h1": dict(mamba_d_ssm=64, mamba_n_heads=4, mamba_d_head=16, mamba_n_groups=1, mamba_d_state=16),
           "nemotron_h": dict(hybrid_override_pattern="M-*", mamba_num_heads=4, mamba_head_dim=16, n_groups=2, ssm_state_size=16, head_dim=16)}


def errors_of(plan):
    return [one for one in plan["diagnostics"] if one["severity"] == "error"]


def edits_of(finding):
    return {edit["key"]: edit.get("value") for edit in finding["fixes"][0]["edits"]}


@pytest.mark.parametrize("kind", HYBRIDS)
def test_a_module_that_peft_refuses_in_a_hybrid_is_refused_quick(kind, tmp_path):
    make_rows(tmp_path / "rows.jsonl", 4)
    model = make_model(tmp_path / "model", kind, **HYBRIDS[kind]), tmp_path / "rows.jsonl"
    loadable = dict(target_modules=["q_proj", "in_proj", "down_proj"])
    plan = planned(model, tmp_path, loadable)
    assert plan["ok"], plan["diagnostics"]
    assert next(one["parameters"]["parameters"] for one in plan["diagnostics"] if one["code"] == "LORA-SIZE") == peft_count(model, loadable)
    for targets in (["q_proj", "out_proj"], ".*(q_proj|out_proj)", "all-linear"):
        with pytest.raises(ValueError, match="incompatible"):
            peft_count(model, dict(target_modules=targets))
        error, = errors_of(planned(model, tmp_path, dict(target_modules=targets)))
        assert (error["code"], error["key"], error["parameters"]["module"]) == ("CFG-VALUE", "lora_target_modules", "out_proj")
        fixed = edits_of(error)["lora_target_modules"]
        assert "out_proj" not in fixed and "q_proj" in fixed
        assert peft_count(model, dict(target_modules=fixed)) > 0


def test_an_adapter_that_a_class_bypasses_is_left_out_or_refused_quick(tmp_path):
    """Jamba's class uses the weight of dt_proj directly, so PEFT's adapter of dt_proj gets no gradient."""
    import peft
    import torch
    import transformers

    make_rows(tmp_path / "rows.jsonl", 4)
    folder = make_model(tmp_path / "model", "jamba", num_experts=1, attn_layer_period=2, attn_layer_offset=1)
    model = folder, tmp_path / "rows.jsonl"
    wrapped = peft.get_peft_model(transformers.AutoModelForCausalLM.from_pretrained(folder), peft.LoraConfig(
        task_type="CAUSAL_LM", r=4, target_modules="all-linear", init_lora_weights=False))
    wrapped(input_ids=torch.arange(8).unsqueeze(0)).logits.sum().backward()
    idle = {name.split(".")[-4] for name, weight in wrapped.named_parameters() if weight.requires_grad and weight.grad is None}
    assert idle == {"dt_proj"}
    others = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj", "in_proj", "x_proj", "out_proj"]
    plan = planned(model, tmp_path, dict(target_modules="all-linear"))
    assert plan["ok"], plan["diagnostics"]
    size = next(one["parameters"]["parameters"] for one in plan["diagnostics"] if one["code"] == "LORA-SIZE")
    assert size == peft_count(model, dict(target_modules=others))
    error, = errors_of(planned(model, tmp_path, dict(target_modules=["q_proj", "dt_proj"])))
    assert (error["code"], error["parameters"]["module"]) == ("CFG-VALUE", "dt_proj")
    assert edits_of(error)["lora_target_modules"] == ["q_proj"]
    eight = make_config(tmp_path, *model, adapter="lora", load_in_8bit=True, lora_r=4, lora_alpha=8, lora_target_modules=["q_proj"])
    error, = errors_of(json.loads(ringmaster("plan", eight, "--ranks", 1, "--device", "cpu", "--json", check=False).stdout))
    assert (error["code"], error["key"]) == ("KEY-UNSUPPORTED", "load_in_8bit")


@pytest.mark.parametrize("kind, changes", [("nemotron_h", HYBRIDS["nemotron_h"]), ("gemma4_text", dict(
    head_dim=16, global_head_dim=32, hidden_size_per_layer_input=16, vocab_size_per_layer_input=256))])
def test_the_fix_for_all_linear_modules_names_those_that_can_be_adapted_quick(kind, changes, tmp_path):
    make_rows(tmp_path / "rows.jsonl", 4)
    model = make_model(tmp_path / "model", kind, **changes), tmp_path / "rows.jsonl"
    config = make_config(tmp_path, *model, adapter="lora", lora_r=4, lora_alpha=8, lora_target_linear=True)
    error, = errors_of(json.loads(ringmaster("plan", config, "--ranks", 1, "--device", "cpu", "--json", check=False).stdout))
    assert error["key"] == "lora_target_linear"
    edits = edits_of(error)
    assert set(edits) == {"lora_target_modules", "lora_target_linear"} and edits["lora_target_linear"] is None
    plan = planned(model, tmp_path, dict(target_modules=edits["lora_target_modules"]))
    assert plan["ok"], plan["diagnostics"]
    size = next(one["parameters"]["parameters"] for one in plan["diagnostics"] if one["code"] == "LORA-SIZE")
    assert size == peft_count(model, dict(target_modules=edits["lora_target_modules"]))
