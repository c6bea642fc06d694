"""Which tier runs a problem; tensors are on the CPU on every machine."""

from __future__ import annotations

import errno
import functools
import sys
from types import ModuleType

import pytest
import torch

import rocm3d_kernels
from rocm3d_kernels.attention import attention, reference, spans_from_cu_seqlens, trial
from rocm3d_kernels.attention.problem import AttentionProblem, validate
from rocm3d_kernels.attention.tiers import eager, library, sdpa

from . import sequences

packed = functools.partial(sequences.packed, device="cpu")


def dense(queries=5, keys=5, heads=2, shared=2, size=8, batch=2):
    generator = torch.Generator().manual_seed(1)
    shapes = ((batch, queries, heads, size), (batch, keys, shared, size), (batch, keys, shared, size))
    return [torch.randn(shape, generator=generator) for shape in shapes]


def used_tier():
    return rocm3d_kernels.last_dispatch().implementation


@pytest.fixture(autouse=True)
def _no_interpreter(monkeypatch):
    """As on a machine without a GPU; the kernels have their own tests."""
    monkeypatch.setenv("TRITON_INTERPRET", "0")


@pytest.mark.parametrize(("variable", "value"), [("ROCM3D_ATTENTION", "cudnn"), ("ROCM3D_KERNELS", "cuda")])
def test_unknown_tier_is_rejected(monkeypatch, variable, value):
    monkeypatch.setenv(variable, value)

    with pytest.raises(ValueError, match=f"{variable} is '{value}'; choose"):
        attention(*dense())


def test_unsupported_inputs_raise_with_the_reason_of_every_tier():
    tensors, spans = packed((3, 2), (2, 4))

    with pytest.raises(NotImplementedError, match=r"aiter: .*; sdpa: packed sequences on cpu; .*eager: dropout"):
        attention(*tensors, spans, dropout=0.5)
    with pytest.raises(NotImplementedError, match="softcap and alibi_slopes"):
        attention(*dense(), dropout=0.5, softcap=1.0, slopes=torch.ones(2))


def test_forced_tier_must_support_the_inputs(monkeypatch):
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
def test_first_supported_tier_runs_and_reports_why(shape, settings, tier):
    tensors = dense(**shape)
    output = attention(*tensors, **settings)

    assert used_tier() == tier
    assert f"{tier} is next" in rocm3d_kernels.last_dispatch().reason
    causal, window = settings.pop("causal", False), settings.pop("window", (-1, -1))
    limits = {"left": window[0], "right": 0 if causal else window[1], "top": settings.pop("top_left", False)}
    exact = AttentionProblem(*(one.double() for one in tensors), 8**-0.5, **limits, **settings).packed()
    torch.testing.assert_close(output.flatten(0, 1).double(), reference.forward(exact)[0], rtol=1e-5, atol=1e-5)


def test_bias_and_window_are_combined_into_one_mask():
    tensors, bias = dense(3, 5), torch.randn(2, 2, 3, 5, generator=torch.Generator().manual_seed(4))
    hidden = torch.tensor([[0, 0, 0, 1, 1], [1, 0, 0, 0, 1], [1, 1, 0, 0, 0]]).bool()
    expected = attention(*tensors, bias=bias.masked_fill(hidden, -torch.inf))

    torch.testing.assert_close(attention(*tensors, bias=bias, window=(2, 0)), expected)
    torch.testing.assert_close(attention(*tensors, bias=~hidden), attention(*tensors, window=(2, 0)))
    assert attention(*tensors, dropout=0.5, causal=True).isfinite().all()


def test_pytorch_does_not_promise_deterministic_gradients():
    tensors = [one.requires_grad_() for one in dense()]
    attention(*tensors, deterministic=True)

    assert used_tier() == "eager"
    assert "sdpa: deterministic gradients" in rocm3d_kernels.last_dispatch().reason


def test_global_override_applies(monkeypatch):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    attention(*dense())

    assert rocm3d_kernels.last_dispatch().reason == "ROCM3D_KERNELS=reference"
    assert used_tier() == "eager"


def install_fake_package(monkeypatch, function, name="flash_attn"):
    """Installs a fake package whose one function serves dense and packed tensors on the CPU."""
    module = ModuleType(name)
    module.flash_attn_func = module.flash_attn_varlen_func = function
    monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(library, "GPU", ("cpu",))
    monkeypatch.setattr(library, "HALVES", (torch.float32,))
    clear_trial_caches()
    return module


def clear_trial_caches():
    library._import_problem.cache_clear()
    for cache in (library._BACKOFFS, trial._RESULTS, trial._BACKOFFS):
        cache.clear()


@pytest.fixture(autouse=True)
def _clear_trial_caches():
    yield
    clear_trial_caches()


def plain_flash_attn(q, k, v, *lengths, causal, softmax_scale, window_size, dropout_p, deterministic, top=False):
    """flash_attn_func and flash_attn_varlen_func in plain PyTorch."""
    spans = spans_from_cu_seqlens(*lengths) if lengths else None
    return eager.run(AttentionProblem(q, k, v, softmax_scale, spans, *((-1, 0) if causal else window_size), top=top))


def top_left_flash_attn(*arguments, **settings):
    """Aligns causal masks to the wrong corner."""
    return plain_flash_attn(*arguments, **settings, top=True)


def test_working_library_is_used_after_its_trial(monkeypatch):
    calls = []

    def counted(*arguments, **settings):
        calls.append(arguments[0].shape)
        return plain_flash_attn(*arguments, **settings)

    install_fake_package(monkeypatch, counted)
    tensors, spans = packed((3, 2), (2, 4))
    detached = [one.detach() for one in tensors]
    with torch.no_grad():
        attention(*detached, spans)
        attention(*detached, spans)

    assert used_tier() == "flash_attn"
    assert len(calls) == 3  # the first is the trial


@pytest.mark.parametrize("needs_grad", [False, True])
def test_library_with_wrong_mask_alignment_is_skipped(monkeypatch, needs_grad):
    install_fake_package(monkeypatch, top_left_flash_attn)
    tensors, spans = packed((3, 2), (2, 4))
    with torch.set_grad_enabled(needs_grad):
        attention(*tensors, spans, causal=True)
    reason = rocm3d_kernels.last_dispatch().reason
    attention(*dense(), causal=True)

    assert "flash_attn: trial was wrong by" in reason
    assert used_tier() == "flash_attn"  # with equal lengths both alignments are the same


def test_failing_or_replaced_library_is_named_in_the_reason(monkeypatch):
    def fails(*arguments, **settings):
        raise RuntimeError("no kernel image\nis available")

    install_fake_package(monkeypatch, fails)
    attention(*dense())
    assert "flash_attn: trial failed: RuntimeError: no kernel image;" in rocm3d_kernels.last_dispatch().reason
    install_fake_package(monkeypatch, fails).__rocm3d__ = "ours"
    attention(*dense())
    assert "replaced by rocm3d-kernels" in rocm3d_kernels.last_dispatch().reason


def test_trial_without_free_memory_is_repeated(monkeypatch):
    calls = []

    def out_of_memory_twice(*arguments, **settings):
        calls.append(arguments)
        if len(calls) <= 2:
            raise torch.OutOfMemoryError("HIP out of memory. Tried to allocate 2.00 MiB")
        return plain_flash_attn(*arguments, **settings)

    install_fake_package(monkeypatch, out_of_memory_twice)
    used, reasons = [], []
    with torch.no_grad():
        for _ in range(4):
            attention(*dense())
            used.append(used_tier())
            reasons.append(rocm3d_kernels.last_dispatch().reason)

    # After the second failure one call goes by without a trial.
    assert [name == "flash_attn" for name in used] == [False, False, False, True]
    assert "trial failed for the moment: OutOfMemoryError: HIP out of memory" in reasons[0]
    assert "not tried again yet" in reasons[2]


def test_import_without_free_memory_is_repeated(monkeypatch):
    module = install_fake_package(monkeypatch, plain_flash_attn)
    results = iter([OSError(errno.ENOSPC, "No space left on device"), module])

    def import_once(name):
        result = next(results)
        if result is module:
            return result
        raise ImportError("the extension could not be compiled") from result

    monkeypatch.setattr(library, "import_module", import_once)

    assert library.import_problem("flash_attn") == (
        "import failed for the moment: ImportError: the extension could not be compiled"
    )
    assert library.import_problem("flash_attn") == ""


def test_aiter_comes_before_flash_attn(monkeypatch):
    def returns_lse(*arguments, return_lse, **settings):
        return plain_flash_attn(*arguments, **settings), return_lse

    install_fake_package(monkeypatch, returns_lse, "aiter")
    attention(*dense())

    assert (used_tier(), rocm3d_kernels.last_dispatch().reason) == ("aiter", "aiter is the first tier")


def test_packed_sequences_use_pytorch_if_supported(monkeypatch):
    received = {}

    def varlen(q, k, v, cu_q, cu_k, max_q, max_k, *, scale, window_size):
        received.update(window=window_size, lengths=cu_k.tolist())
        return eager.run(
            validate(AttentionProblem(q, k, v, scale, spans_from_cu_seqlens(cu_q, cu_k, max_q, max_k), *window_size))
        )

    monkeypatch.setattr(sdpa, "GPU", ("cpu",))
    monkeypatch.setattr(sdpa, "HALVES", (torch.float32,))
    monkeypatch.setattr(sdpa, "varlen", lambda: (varlen, frozenset(("scale", "window_size"))))
    tensors, spans = packed((3, 2), (2, 4), heads=1)
    attention(*tensors, spans, causal=True)
    grouped_tensors, grouped_spans = packed((3, 2), (2, 4), heads=2, shared=1)
    attention(*grouped_tensors, grouped_spans)

    assert received == {"window": (-1, 0), "lengths": [0, 2, 6]}
    assert used_tier() == "eager"  # this fake release has no enable_gqa
