"""Which tier runs a problem; tensors are on the CPU on every machine."""

from __future__ import annotations

import functools
import sys
from types import ModuleType

import pytest
import torch

import rocm3d_kernels
from rocm3d_kernels.attention import attention, proof, reference, spans_of
from rocm3d_kernels.attention.problem import Problem, checked
from rocm3d_kernels.attention.tiers import eager, library, sdpa

from . import sequences

packed = functools.partial(sequences.packed, device="cpu")


def dense(queries=5, keys=5, heads=2, shared=2, size=8, batch=2):
    numbers = torch.Generator().manual_seed(1)
    shapes = ((batch, queries, heads, size), (batch, keys, shared, size), (batch, keys, shared, size))
    return [torch.randn(shape, generator=numbers) for shape in shapes]


def taken():
    return rocm3d_kernels.last_dispatch().implementation


@pytest.fixture(autouse=True)
def _no_interpreter(monkeypatch):
    """As on a machine without a GPU; the kernels have their own tests."""
    monkeypatch.setenv("TRITON_INTERPRET", "0")


@pytest.mark.parametrize(("variable", "value"), [("ROCM3D_ATTENTION", "cudnn"), ("ROCM3D_KERNELS", "cuda")])
def test_an_unknown_tier_is_refused(monkeypatch, variable, value):
    monkeypatch.setenv(variable, value)

    with pytest.raises(ValueError, match=f"{variable} is '{value}'; choose"):
        attention(*dense())


def test_what_no_tier_takes_is_refused_with_every_reason():
    tensors, spans = packed((3, 2), (2, 4))

    with pytest.raises(NotImplementedError, match=r"aiter: .*; sdpa: packed sequences on cpu; .*eager: dropout"):
        attention(*tensors, spans, dropout=0.5)
    with pytest.raises(NotImplementedError, match="softcap and alibi_slopes"):
        attention(*dense(), dropout=0.5, softcap=1.0, slopes=torch.ones(2))


def test_a_tier_that_is_insisted_on_must_take_it(monkeypatch):
    monkeypatch.setenv("ROCM3D_ATTENTION", "sdpa")

    with pytest.raises(NotImplementedError, match="sdpa: softcap"):
        attention(*dense(), softcap=1.0)


@pytest.mark.parametrize(
    ("shape", "settings", "tier"),
    [
        ({}, {}, "sdpa"),
        ({}, {"causal": True}, "sdpa"),
        ({"queries": 1}, {"causal": True}, "sdpa"),
        ({"shared": 1}, {"window": (-1, -1)}, "sdpa"),
        ({"queries": 3}, {"causal": True, "top_left": True}, "sdpa"),
        ({"queries": 3}, {"causal": True}, "eager"),
        ({"queries": 7}, {"causal": True}, "eager"),
        ({}, {"window": (1, 2)}, "eager"),
        ({}, {"softcap": 2.0, "causal": True}, "eager"),
        ({}, {"slopes": torch.tensor([0.5, 0.1])}, "eager"),
        ({"keys": 0}, {}, "eager"),
    ],
    ids=str,
)
def test_the_first_tier_that_can_takes_it_and_says_why(shape, settings, tier):
    tensors = dense(**shape)
    found = attention(*tensors, **settings)

    assert taken() == tier
    assert f"{tier} is next" in rocm3d_kernels.last_dispatch().reason
    causal, window = settings.pop("causal", False), settings.pop("window", (-1, -1))
    limits = {"left": window[0], "right": 0 if causal else window[1], "top": settings.pop("top_left", False)}
    exact = Problem(*(one.double() for one in tensors), 8**-0.5, **limits, **settings).packed()
    torch.testing.assert_close(found.flatten(0, 1).double(), reference.forward(exact)[0], rtol=1e-5, atol=1e-5)


def test_a_bias_and_a_window_are_one_mask():
    tensors, bias = dense(3, 5), torch.randn(2, 2, 3, 5, generator=torch.Generator().manual_seed(4))
    hidden = torch.tensor([[0, 0, 0, 1, 1], [1, 0, 0, 0, 1], [1, 1, 0, 0, 0]]).bool()
    wanted = attention(*tensors, bias=bias.masked_fill(hidden, -torch.inf))

    torch.testing.assert_close(attention(*tensors, bias=bias, window=(2, 0)), wanted)
    torch.testing.assert_close(attention(*tensors, bias=~hidden), attention(*tensors, window=(2, 0)))
    assert attention(*tensors, dropout=0.5, causal=True).isfinite().all()


def test_equal_gradients_to_the_bit_are_not_promised_by_pytorch():
    tensors = [one.requires_grad_() for one in dense()]
    attention(*tensors, deterministic=True)

    assert taken() == "eager"
    assert "sdpa: deterministic gradients" in rocm3d_kernels.last_dispatch().reason


def test_the_override_of_all_operations_holds(monkeypatch):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    attention(*dense())

    assert rocm3d_kernels.last_dispatch().reason == "ROCM3D_KERNELS=reference"
    assert taken() == "eager"


def installed(monkeypatch, function, name="flash_attn"):
    """Installs a fake package whose one function serves dense and packed tensors on the CPU."""
    module = ModuleType(name)
    module.flash_attn_func = module.flash_attn_varlen_func = function
    monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(library, "GPU", ("cpu",))
    monkeypatch.setattr(library, "HALVES", (torch.float32,))
    library.missing.cache_clear()
    proof._KNOWN.clear()
    return module


@pytest.fixture(autouse=True)
def _forgotten():
    yield
    library.missing.cache_clear()
    proof._KNOWN.clear()


def right(q, k, v, *lengths, causal, softmax_scale, window_size, dropout_p, deterministic, top=False):
    """flash_attn_func and flash_attn_varlen_func in plain PyTorch."""
    spans = spans_of(*lengths) if lengths else None
    return eager.run(Problem(q, k, v, softmax_scale, spans, *((-1, 0) if causal else window_size), top=top))


def from_the_top(*given, **settings):
    """Aligns causal masks to the wrong corner."""
    return right(*given, **settings, top=True)


def test_a_library_that_works_is_taken_after_it_was_tried(monkeypatch):
    calls = []

    def counted(*given, **settings):
        calls.append(given[0].shape)
        return right(*given, **settings)

    installed(monkeypatch, counted)
    tensors, spans = packed((3, 2), (2, 4))
    detached = [one.detach() for one in tensors]
    with torch.no_grad():
        attention(*detached, spans)
        attention(*detached, spans)

    assert taken() == "flash_attn"
    assert len(calls) == 3  # the first is the trial


@pytest.mark.parametrize("trains", [False, True])
def test_a_library_with_another_corner_is_left_out_where_that_matters(monkeypatch, trains):
    installed(monkeypatch, from_the_top)
    tensors, spans = packed((3, 2), (2, 4))
    with torch.set_grad_enabled(trains):
        attention(*tensors, spans, causal=True)
    reason = rocm3d_kernels.last_dispatch().reason
    attention(*dense(), causal=True)

    assert "flash_attn: trial was wrong by" in reason
    assert taken() == "flash_attn"  # with equal lengths both alignments are the same


def test_a_library_that_fails_or_does_not_load_is_named(monkeypatch):
    def fails(*given, **settings):
        raise RuntimeError("no kernel image\nis available")

    installed(monkeypatch, fails)
    attention(*dense())
    assert "flash_attn: trial failed: RuntimeError: no kernel image;" in rocm3d_kernels.last_dispatch().reason
    installed(monkeypatch, fails).__rocm3d__ = "ours"
    attention(*dense())
    assert "replaced by rocm3d-kernels" in rocm3d_kernels.last_dispatch().reason


def test_aiter_comes_before_flash_attn(monkeypatch):
    def with_sums(*given, return_lse, **settings):
        return right(*given, **settings), return_lse

    installed(monkeypatch, with_sums, "aiter")
    attention(*dense())

    assert (taken(), rocm3d_kernels.last_dispatch().reason) == ("aiter", "aiter is the first tier")


def test_packed_sequences_go_to_pytorch_where_it_takes_them(monkeypatch):
    asked = {}

    def varlen(q, k, v, cu_q, cu_k, max_q, max_k, *, scale, window_size):
        asked.update(window=window_size, lengths=cu_k.tolist())
        return eager.run(checked(Problem(q, k, v, scale, spans_of(cu_q, cu_k, max_q, max_k), *window_size)))

    monkeypatch.setattr(sdpa, "GPU", ("cpu",))
    monkeypatch.setattr(sdpa, "HALVES", (torch.float32,))
    monkeypatch.setattr(sdpa, "varlen", lambda: (varlen, frozenset(("scale", "window_size"))))
    tensors, spans = packed((3, 2), (2, 4), heads=1)
    attention(*tensors, spans, causal=True)
    shared, other = packed((3, 2), (2, 4), heads=2, shared=1)
    attention(*shared, other)

    assert asked == {"window": (-1, 0), "lengths": [0, 2, 6]}
    assert taken() == "eager"  # this fake release has no enable_gqa
