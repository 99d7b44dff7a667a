"""Compares optimizers other than AdamW, and learning rates for some parameters, with the libraries that
define them, given the same gradients."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

from test_optimizers import SETTINGS, close, folder, other_codes, ours, parameters_of  # noqa: F401 (a fixture among them)

LR = SETTINGS["learning_rate"]
DECAY = SETTINGS["weight_decay"]


def default_groups(named):
    """Groups parameters as transformers does: norms and biases are not decayed."""
    return [{"params": [p for p in named.values() if p.dim() > 1], "weight_decay": DECAY},
            {"params": [p for p in named.values() if p.dim() == 1], "weight_decay": 0.0}]


def is_table(name):
    return "embed_tokens" in name or "lm_head" in name


def axolotls_groups(named, rate_of=lambda name: LR):
    """Groups parameters as axolotl's create_optimizer_grouped_parameters does: embedding and head are not
    decayed either."""
    return [{"params": [p], "weight_decay": DECAY if p.dim() > 1 and not is_table(name) else 0.0, "lr": rate_of(name)}
            for name, p in named.items()]


def theirs(folder, make, groups=default_groups, bf16=False, start=lambda optimizer: None):
    named, steps = parameters_of(folder, bf16)
    optimizer = make(groups(named))
    start(optimizer)
    for gradients in steps:
        for name, parameter in named.items():
            parameter.grad = gradients[name].clone()
        optimizer.step()
    return named, optimizer


def same_weights(weights, named, bf16, rtol=2e-6):
    import torch

    for name, parameter in named.items():
        mine, expected = weights[name].float(), parameter.detach().float()
        if bf16:  # in bfloat16, a few intermediate results round differently
            apart = (mine - expected).abs()
            assert (apart <= expected.abs() * 2 ** -7 + 2 ** -11).all(), f"{name}: {apart.max().item()}"
            assert (apart > 0).float().mean() < 0.02, name
        else:
            assert torch.allclose(mine, expected, rtol=rtol, atol=1e-6), f"{name}: {(mine - expected).abs().max().item()}"


@pytest.fixture(scope="module")
def transformers_4():
    """Returns optimization.py of transformers 4, which version 5 lacks. The file is kept in the cache folder."""
    lock = pathlib.Path(__file__).parent / "transformers-4.txt"
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "ringmaster/transformers-4"
    file = cache / "transformers/optimization.py"
    if not file.exists():
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes", "-r", lock, "-d", cache], check=True)
        zipfile.ZipFile(next(cache.glob("*.whl"))).extract("transformers/optimization.py", cache)
    spec = importlib.util.spec_from_file_location("transformers.optimization_of_version_4", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("bf16", [False, True], ids=["fp32", "bf16"])
def test_adamw_hf_is_that_of_transformers_4(folder, transformers_4, bf16):
    _, weights = ours(folder, optimizer="adamw_hf", bf16=bf16)

    def make(groups):
        return transformers_4.AdamW(groups, lr=LR, betas=(SETTINGS["adam_beta1"], SETTINGS["adam_beta2"]), eps=SETTINGS["adam_epsilon"],
                                    no_deprecation_warning=True)

    named, _ = theirs(folder, make, bf16=bf16)
    same_weights(weights, named, bf16)


@pytest.mark.parametrize("bf16", [False, True], ids=["fp32", "bf16"])
@pytest.mark.parametrize("arguments", [{}, {"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.3}, {"momentum": 0.8, "nesterov": True}], ids=str)
def test_sgd_is_torchs(folder, arguments, bf16):
    import torch

    _, weights = ours(folder, optimizer="sgd", bf16=bf16, optim_args={k: float(v) for k, v in arguments.items()})
    named, _ = theirs(folder, lambda groups: torch.optim.SGD(groups, lr=LR, **arguments), bf16=bf16)
    same_weights(weights, named, bf16)


@pytest.mark.parametrize("bf16", [False, True], ids=["fp32", "bf16"])
@pytest.mark.parametrize("arguments", [{}, {"momentum": 0.9, "alpha": 0.9}, {"centered": True, "eps": 1e-3}], ids=str)
def test_rmsprop_is_torchs(folder, arguments, bf16):
    import torch

    states, weights = ours(folder, optimizer="rmsprop", bf16=bf16, optim_args={k: float(v) for k, v in arguments.items()})
    named, optimizer = theirs(folder, lambda groups: torch.optim.RMSprop(groups, lr=LR, **arguments), bf16=bf16)
    same_weights(weights, named, bf16)
    for name, parameter in named.items():
        assert states[f"square_avg.{name}"].dtype == parameter.dtype


def bitsandbytes_32_bits_for_the_embedding(named):
    import bitsandbytes
    import torch

    embedding = torch.nn.Module()  # the override that transformers registers
    embedding.weight = named["model.embed_tokens.weight"]
    bitsandbytes.optim.GlobalOptimManager.get_instance().register_module_override(embedding, "weight", {"optim_bits": 32})


def beside_bitsandbytes(folder, name, kind, pairs, bf16, **arguments):
    """Compares weights and states with bitsandbytes. `pairs` maps each of our states to a function that returns the
    library's state."""
    import torch

    states, weights = ours(folder, optimizer=name, bf16=bf16, optim_args={k: v for k, v in arguments.items() if k in ("alpha", "beta3", "t_alpha", "t_beta3")})
    registered = []

    def groups(named):
        registered.append(named)
        return default_groups(named)

    def make(grouped):
        optimizer = kind(grouped, lr=LR, optim_bits=8 if "8bit" in name else 32, **arguments.pop("library", {}))
        bitsandbytes_32_bits_for_the_embedding(registered[0])
        return optimizer

    named, optimizer = theirs(folder, make, groups, bf16)
    in_codes = other = count = 0
    for parameter_name, parameter in named.items():
        state = optimizer.state[parameter]
        for mine, of_theirs in pairs.items():
            stored, expected = states[f"{mine}.{parameter_name}"], of_theirs(state)
            assert stored.dtype == expected.dtype, parameter_name
            if stored.dtype == torch.uint8:
                in_codes += 1
                count += stored.numel()
                other += other_codes(stored, expected)
            else:
                assert torch.allclose(stored, expected, rtol=2e-6, atol=1e-6 * expected.abs().max().item()), parameter_name
        if "lion" not in name:
            close(weights[parameter_name], parameter, bf16, parameter_name, ties=4)
            continue
        apart = (weights[parameter_name].float() - parameter.detach().float()).abs()
        assert (apart > 1e-6 + parameter.detach().float().abs() * (2 ** -8 if bf16 else 1e-6)).sum() <= 2, parameter_name
    assert in_codes >= 10 if "8bit" in name else in_codes == 0
    assert other <= count // 10_000, f"{other} of {count} codes differ"


@pytest.mark.parametrize("bf16", [False, True], ids=["fp32", "bf16"])
@pytest.mark.parametrize("name", ["lion_32bit", "lion_8bit", "paged_lion_8bit"])
def test_lion_is_that_of_bitsandbytes(folder, name, bf16):
    import bitsandbytes

    beside_bitsandbytes(folder, name, bitsandbytes.optim.Lion, {"exp_avg": lambda s: s["state1"]}, bf16, library={"betas": (0.9, 0.95)})


@pytest.mark.parametrize("name", ["rmsprop_bnb", "rmsprop_bnb_8bit"])
def test_rmsprop_is_that_of_bitsandbytes(folder, name):
    import bitsandbytes

    beside_bitsandbytes(folder, name, bitsandbytes.optim.RMSprop, {"square_avg": lambda s: s["state1"]}, False)


@pytest.mark.parametrize("arguments", [{}, {"alpha": 3.0, "beta3": 0.999, "t_alpha": 12, "t_beta3": 15}], ids=["plain", "warming"])
@pytest.mark.parametrize("name", ["ademamix", "ademamix_8bit"])
def test_ademamix_is_that_of_bitsandbytes(folder, name, arguments):
    import bitsandbytes

    library = {"betas": (0.9, 0.95, arguments.get("beta3", 0.9999)), "alpha": arguments.get("alpha", 5.0),
               "t_alpha": arguments.get("t_alpha"), "t_beta3": arguments.get("t_beta3")}
    pairs = {"exp_avg": lambda s: s["state1"][0], "exp_avg_slow": lambda s: s["state1"][1], "exp_avg_sq": lambda s: s["state2"]}
    beside_bitsandbytes(folder, name, bitsandbytes.optim.AdEMAMix, pairs, False, library=library, **arguments)


@pytest.mark.parametrize("bf16", [False, True], ids=["fp32", "bf16"])
def test_adafactor_is_that_of_transformers(folder, bf16):
    import torch
    from transformers.optimization import Adafactor

    states, weights = ours(folder, optimizer="adafactor", bf16=bf16)
    named, optimizer = theirs(folder, lambda groups: Adafactor(groups, lr=LR, scale_parameter=False, relative_step=False), bf16=bf16)
    same_weights(weights, named, bf16)
    for name, parameter in named.items():
        for state in ["exp_avg_sq_row", "exp_avg_sq_col"] if parameter.dim() > 1 else ["exp_avg_sq"]:
            assert torch.allclose(states[f"{state}.{name}"], optimizer.state[parameter][state], rtol=1e-5, atol=0), name


@pytest.mark.parametrize("bf16", [False, True], ids=["fp32", "bf16"])
def test_came_is_that_of_came_pytorch(folder, bf16):
    from came_pytorch import CAME

    _, weights = ours(folder, optimizer="came_pytorch", bf16=bf16, adam_epsilon=1e-30)
    named, _ = theirs(folder, lambda groups: CAME(groups, lr=LR, betas=(0.9, 0.95, 0.9999), eps=(1e-30, 1e-16)), axolotls_groups, bf16)
    same_weights(weights, named, bf16, rtol=1e-5)


@pytest.mark.parametrize("warmup", [0, 6])
def test_schedule_free_adamw_is_that_of_schedulefree(folder, warmup):
    from schedulefree import AdamWScheduleFree

    make = lambda groups: AdamWScheduleFree(groups, lr=LR, betas=(0.9, 0.95), eps=1e-8, warmup_steps=warmup)
    for averaged in (False, True):
        _, weights = ours(folder, optimizer="schedule_free_adamw", warmup_steps=warmup, averaged=averaged)
        named, optimizer = theirs(folder, make, start=lambda optimizer: optimizer.train())
        if averaged:
            optimizer.eval()
        same_weights(weights, named, False)


def torchs_muon(folder, louder=1.0):
    """Returns torch's Muon for matrices and its AdamW for embedding and head. Its epsilon is added after bias
    correction, so it has to be tiny here."""
    import torch

    named, steps = parameters_of(folder, False)
    matrices = [p for name, p in named.items() if p.dim() == 2 and not is_table(name)]
    tables = [p for name, p in named.items() if is_table(name)]
    both = [torch.optim.Muon(matrices, lr=LR, weight_decay=DECAY, momentum=0.95, nesterov=True, adjust_lr_fn="match_rms_adamw"),
            torch.optim.AdamW(tables, lr=LR, betas=(0.9, 0.95), eps=1e-30, weight_decay=DECAY)]
    for gradients in steps:
        for name, parameter in named.items():
            parameter.grad = gradients[name] * louder
        for optimizer in both:
            optimizer.step()
    return {name: parameter.detach() for name, parameter in named.items()}


def test_muon_is_that_of_torch_for_matrices_and_adamw_for_embedding_and_head(folder):
    """No wheel contains axolotl's Muon, so this compares with torch's; ours equals axolotl's bit for bit if
    torch.compile is off. axolotl's Muon sums gradients and torch's averages them, which is the same after Newton-Schulz
    except for bfloat16's rounding. The bound is three times the distance by which torch's matrices move if its gradients
    are tripled, which without rounding would be 0. Norms are not trained."""
    import torch

    _, weights = ours(folder, optimizer="muon", adam_epsilon=1e-30)
    expected, louder = torchs_muon(folder), torchs_muon(folder, louder=3.0)
    before, _ = parameters_of(folder, False)
    for name, parameter in expected.items():
        apart = (weights[name] - parameter).norm()
        if parameter.dim() == 1:
            assert torch.equal(weights[name], before[name]), name
        elif is_table(name):
            assert torch.allclose(weights[name], parameter, rtol=2e-6, atol=1e-6), name
        else:
            rounding = (louder[name] - parameter).norm()
            assert 0 < rounding < 0.03 * (parameter - before[name]).norm(), name
            assert apart < 3 * rounding, f"{name}: {apart / rounding}"


# ------------------------------------------------------------------------------------------ learning rates


def beside_adamw(folder, groups, **settings):
    import torch

    _, weights = ours(folder, optimizer="adamw_torch", **settings)
    named, _ = theirs(folder, lambda grouped: torch.optim.AdamW(grouped, lr=LR, betas=(0.9, 0.95), eps=1e-8), groups)
    same_weights(weights, named, False)


@pytest.mark.parametrize("settings, rate", [({"embedding_lr": 3e-4}, 3e-4), ({"embedding_lr_scale": 0.25}, 0.25 * LR),
                                            ({"embedding_lr_scale": 0.5, "embedding_lr": 3e-4}, 0.5 * LR)], ids=str)
def test_embedding_and_head_have_a_rate_of_their_own_as_in_axolotl(folder, settings, rate):
    beside_adamw(folder, lambda named: axolotls_groups(named, lambda name: rate if is_table(name) else LR), **settings)


def test_lr_groups_are_axolotls(folder):
    listed = [{"name": "attention", "modules": ["q_proj", "k_proj"], "lr": 2e-4}, {"name": "mlp", "modules": ["layers.0.mlp", "k_proj"], "lr": 5e-4}]

    def rate_of(name):
        if "norm" in name or is_table(name):
            return LR
        lookup = {"q_proj": 2e-4, "k_proj": 5e-4, "layers.0.mlp": 5e-4}  # k_proj has the rate of the later group, at the position of the first
        return next((rate for module, rate in lookup.items() if module in name), LR)

    beside_adamw(folder, lambda named: axolotls_groups(named, rate_of), lr_groups=listed)


def test_loraplus_is_pefts(folder):
    """Uses a model without an adapter, for which PEFT applies the ratio to vectors. The tests of adapters cover how PEFT
    recognizes B by its name."""
    import peft.optimizers
    import torch
    from transformers import AutoModelForCausalLM

    _, weights = ours(folder, optimizer="adamw_torch", loraplus_lr_ratio=8.0)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    optimizer = peft.optimizers.create_loraplus_optimizer(model, torch.optim.AdamW, lr=LR, loraplus_lr_ratio=8.0, betas=(0.9, 0.95), eps=1e-8)
    _, steps = parameters_of(folder, False)
    named = dict(model.named_parameters())
    for gradients in steps:
        for name, parameter in named.items():
            parameter.grad = gradients[name].clone()
        optimizer.step()
    same_weights(weights, named, False)
