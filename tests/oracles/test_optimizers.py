"""Compares optimizers with the libraries that define them, given the same gradients: codes, scales and
weights after 20 updates."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from ringmaster_runs import make_model

APPLY = pathlib.Path(os.environ["RINGMASTER_BIN"]).parent / "tests/apply_optimizer"
STEPS = 20
SETTINGS = dict(learning_rate=1e-3, weight_decay=0.1, adam_beta1=0.9, adam_beta2=0.95, adam_epsilon=1e-8, steps=STEPS)
SHAPE = dict(hidden_size=96, intermediate_size=100, num_attention_heads=4, num_key_value_heads=2, head_dim=24, vocab_size=500)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Saves a model, and gradients of several magnitudes, some of them zero."""
    import torch
    from safetensors.torch import load_file, save_file

    where = tmp_path_factory.mktemp("optimizers")
    make_model(where, "llama", **SHAPE)
    weights = load_file(where / "model.safetensors")
    torch.manual_seed(7)
    for step in range(1, STEPS + 1):
        gradients = {}
        for name, weight in weights.items():
            scale = torch.exp(torch.randn(weight.shape) * 2 - 6)
            gradients[name] = torch.where(torch.rand(weight.shape) < 0.05, 0.0, torch.randn(weight.shape) * scale).contiguous()
        save_file(gradients, where / f"gradients-{step}.safetensors")
    return where


def ours(folder, **settings):
    from safetensors.torch import load_file

    file = folder / "settings.json"
    file.write_text(json.dumps({**SETTINGS, **settings}))
    subprocess.run([APPLY, file, folder], check=True)
    return load_file(folder / "states.safetensors"), load_file(folder / "updated/model.safetensors")


def parameters_of(folder, bf16):
    """Returns the model's weights as torch parameters, and each step's gradients."""
    import torch
    from safetensors.torch import load_file

    dtype = torch.bfloat16 if bf16 else torch.float32
    named = {name: torch.nn.Parameter(weight.to(dtype)) for name, weight in load_file(folder / "model.safetensors").items()}
    steps = [{name: gradient.to(dtype) for name, gradient in load_file(folder / f"gradients-{step}.safetensors").items()}
             for step in range(1, STEPS + 1)]
    return named, steps


def trained(folder, make, bf16):
    """Trains with an optimizer that `make` builds from groups of named parameters, decayed or not."""
    named, steps = parameters_of(folder, bf16)
    groups = [{"params": [p for p in named.values() if p.dim() > 1], "weight_decay": SETTINGS["weight_decay"]},
              {"params": [p for p in named.values() if p.dim() == 1], "weight_decay": 0.0}]
    optimizer = make(groups, named)
    for gradients in steps:
        for name, parameter in named.items():
            parameter.grad = gradients[name].clone()
        optimizer.step()
    return named, optimizer


def unpacked(codes):
    import torch

    return torch.stack([codes >> 4, codes & 15], 1).reshape(-1)


def other_codes(mine, theirs):
    """Returns how many codes differ, and expects that none differs by more than two steps. Near zero, steps are finer than the float32
    rounding error of a moment whose terms cancel."""
    apart = (mine.to(int) - theirs.to(int)).abs()
    assert apart.max() <= 2
    return int((apart > 0).sum())


def bitsandbytes_adamw(bits, paged=False):
    import torch
    import bitsandbytes

    def make(groups, named):
        optimizer = bitsandbytes.optim.AdamW(groups, lr=SETTINGS["learning_rate"], betas=(0.9, 0.95), eps=1e-8, optim_bits=bits, is_paged=paged)
        embedding = torch.nn.Module()  # the override that transformers registers
        embedding.weight = named["model.embed_tokens.weight"]
        bitsandbytes.optim.GlobalOptimManager.get_instance().register_module_override(embedding, "weight", {"optim_bits": 32})
        return optimizer

    return make


@pytest.mark.parametrize("bf16", [False, True], ids=["fp32", "bf16"])
@pytest.mark.parametrize("name", ["adamw_bnb_8bit", "adamw_8bit", "paged_adamw_8bit"])
def test_8_bit_adamw_has_the_codes_of_bitsandbytes(folder, name, bf16):
    import torch

    states, weights = ours(folder, optimizer=name, bf16=bf16)
    named, optimizer = trained(folder, bitsandbytes_adamw(8), bf16)
    in_codes = 0
    for parameter_name, parameter in named.items():
        state = optimizer.state[parameter]
        for mine, theirs in (("exp_avg", "state1"), ("exp_avg_sq", "state2")):
            stored = states[f"{mine}.{parameter_name}"]
            assert stored.dtype == state[theirs].dtype, parameter_name
            if stored.dtype == torch.uint8:
                in_codes += 1
                assert torch.equal(stored, state[theirs]), parameter_name
                assert torch.equal(states[f"{mine}_absmax.{parameter_name}"], state[theirs.replace("state", "absmax")]), parameter_name
            else:
                assert torch.allclose(stored, state[theirs], rtol=1e-6, atol=0), parameter_name
        close(weights[parameter_name], parameter, bf16, parameter_name)
    assert in_codes >= 20
    assert states["exp_avg.model.embed_tokens.weight"].dtype == torch.float32, "embeddings are not quantised"


@pytest.mark.parametrize("bf16", [False, True], ids=["fp32", "bf16"])
def test_paged_32_bit_adamw_is_that_of_bitsandbytes(folder, bf16):
    import torch

    states, weights = ours(folder, optimizer="paged_adamw_32bit", bf16=bf16)
    named, optimizer = trained(folder, bitsandbytes_adamw(32), bf16)
    for name, parameter in named.items():
        assert states[f"exp_avg.{name}"].dtype == torch.float32
        theirs = optimizer.state[parameter]["state1"]
        assert torch.allclose(states[f"exp_avg.{name}"], theirs, rtol=1e-5, atol=1e-6 * theirs.abs().max().item()), name
        close(weights[name], parameter, bf16, name)


def torchao_adamw(bits):
    from torchao.optim import AdamW4bit, AdamW8bit

    kind = {4: AdamW4bit, 8: AdamW8bit}[bits]
    return lambda groups, named: kind(groups, lr=SETTINGS["learning_rate"], betas=(0.9, 0.95), eps=1e-8, block_size=256)  # as transformers


@pytest.mark.parametrize("bf16", [False, True], ids=["fp32", "bf16"])
@pytest.mark.parametrize("bits", [8, 4])
def test_block_wise_adamw_has_the_codes_of_torchao(folder, bits, bf16, monkeypatch):
    """Runs torchao's operations without torch.compile, which would take minutes."""
    import torch

    monkeypatch.setattr(torch, "compile", lambda function, **options: function)
    states, weights = ours(folder, optimizer=f"adamw_torch_{bits}bit", bf16=bf16)
    named, optimizer = trained(folder, torchao_adamw(bits), bf16)
    codes, other = 0, 0
    for name, parameter in named.items():
        for mine in ("exp_avg", "exp_avg_sq"):
            theirs, stored = optimizer.state[parameter][mine], states[f"{mine}.{name}"]
            if stored.dtype != torch.uint8:
                assert not hasattr(theirs, "codes") and stored.dtype == theirs.dtype, name
                most = theirs.float().abs().max().item()
                assert torch.allclose(stored.float(), theirs.float(), rtol=2e-2 if bf16 else 1e-5, atol=(2e-3 if bf16 else 1e-6) * most), name
                continue
            codes += parameter.numel()
            other += other_codes(*((unpacked(c) if bits == 4 else c.reshape(-1)) for c in (stored, theirs.codes)))
            assert torch.allclose(states[f"{mine}_absmax.{name}"], theirs.scale, rtol=1e-3, atol=0), name
        close(weights[name], parameter, bf16, name, ties=4)
    print(f"{other} of {codes} codes differ")
    assert codes > 100_000 and other <= codes // 10_000, f"{other} of {codes} codes differ"


@pytest.mark.parametrize("bits, is_signed", [(8, True), (8, False), (4, True), (4, False)])
def test_code_books_are_those_of_the_libraries(bits, is_signed):
    """Compares the code books that apply_optimizer prints. bitsandbytes has only maps of 8 bits."""
    import torch
    import bitsandbytes.functional
    from torchao.optim import subclass_4bit, subclass_8bit

    library = subclass_8bit if bits == 8 else subclass_4bit
    expected = torch.tensor(library.get_qmap_signed() if is_signed else library.get_qmap_unsigned())
    if bits == 8:
        assert torch.equal(expected, bitsandbytes.functional.create_dynamic_map(is_signed))
    said = subprocess.run([APPLY, "book", str(bits), str(int(is_signed))], check=True, capture_output=True, text=True).stdout
    assert torch.equal(torch.tensor([float.fromhex(word) for word in said.split()]), expected)


def close(mine, theirs, bf16, name, ties=1):
    """Expects weights that are equal within the rounding of their dtype, except for an occasional tie. With `ties` above 1, two elements
    may differ: if the second moment's code is 0, the denominator is epsilon alone, and the first moment's last bit counts."""
    import torch

    apart = (mine.float() - theirs.detach().float()).abs()
    allowed = theirs.detach().float().abs() * (ties * 2 ** -8 if bf16 else 1e-6) + ties * 1e-7
    assert (apart > allowed).sum() <= (2 if ties > 1 else 0), f"{name}: {apart.max().item()}"
    if bf16:
        assert (apart > 0).float().mean() < 0.01, name
