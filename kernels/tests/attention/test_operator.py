from __future__ import annotations

import pytest

import rocm3d_kernels
from rocm3d_kernels import tuning
from rocm3d_kernels.attention import attention, launch, spans_from_cu_seqlens
from rocm3d_kernels.attention.operator import packed_attention
from rocm3d_kernels.attention.problem import AttentionProblem
from tests.device import torch

from .sequences import packed, textbook

pytestmark = pytest.mark.usefixtures("poisoned")
QUERIES, KEYS = (5, 18, 0, 1), (9, 3, 4, 20)
MASKS_AND_SCORES = [
    {},
    {"right": 0},
    {"left": 4, "right": 0},
    {"right": 2, "top": True},
    {"softcap": 2.0, "slopes": torch.tensor([[0.5, 0.1], [0.2, 0.3], [0.1, 0.9], [0.4, 0.4]])},
]


def assert_agrees_with_textbook(tensors, spans, queries, keys, kind, forward, backward):
    """Asserts that the kernels' output and gradients agree with the textbook in float64."""
    exact = [one.detach().double().requires_grad_() for one in tensors]
    expected = textbook(*exact, queries, keys, **kind)
    do = torch.randn(expected.shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    out = packed_attention(AttentionProblem(*tensors, tensors[0].shape[-1] ** -0.5, spans, **kind))
    torch.testing.assert_close(out.double(), expected, **forward)
    assert out.is_contiguous()  # as the fake kernel promises
    gradients = torch.autograd.grad(out, tensors, do.to(out.dtype))
    assert rocm3d_kernels.last_dispatch().implementation == "triton"
    assert all(one.is_contiguous() for one in gradients)
    for gradient, exact_gradient in zip(gradients, torch.autograd.grad(expected, exact, do), strict=True):
        torch.testing.assert_close(gradient.double(), exact_gradient, **backward)


@pytest.mark.parametrize("kind", MASKS_AND_SCORES, ids=lambda kind: "-".join(kind) or "plain")
def test_the_kernels_agree_with_the_textbook(kind, tolerance):
    tensors, spans = packed(QUERIES, KEYS)

    assert_agrees_with_textbook(
        tensors, spans, QUERIES, KEYS, kind, tolerance["float32-attention"], tolerance["float32-operator"]
    )


@pytest.mark.parametrize("kind", [{}, {"right": 0}], ids=["plain", "causal"])
def test_single_masked_loop_gives_the_same_result(kind, monkeypatch, tolerance):
    """The setting of targets with few registers."""
    kernels = {f"attention_{name}_kernel": {"SPLIT": False} for name in ("forward", "keys", "queries")}
    monkeypatch.setattr(tuning, "_OVERRIDES", {"attention": kernels})
    tuning._parameters.cache_clear()
    tensors, spans = packed((18,), (20,), heads=1)

    assert_agrees_with_textbook(
        tensors, spans, (18,), (20,), kind, tolerance["float32-attention"], tolerance["float32-operator"]
    )
    tuning._parameters.cache_clear()


def test_float16_with_grouped_heads_and_odd_sizes(tolerance):
    tensors, spans = packed((17,), (6,), heads=4, shared=2, size=24, width=5, dtype=torch.float16)
    names = ("float16-attention", "float16-attention-gradient")

    assert_agrees_with_textbook(tensors, spans, (17,), (6,), {"right": 0}, *(tolerance[name] for name in names))


def test_one_element_and_any_strides(tolerance):
    queries = torch.randn(1, 16, 3, generator=torch.Generator().manual_seed(1)).permute(2, 0, 1)
    lengths = torch.tensor([0, 1, 3], dtype=torch.int32)
    spans = spans_from_cu_seqlens(lengths, lengths, 2, 2)
    tensors = [queries.requires_grad_(), queries.detach().clone().requires_grad_(), queries.detach()[..., :1].clone()]

    assert_agrees_with_textbook(
        [*tensors[:2], tensors[2].requires_grad_()], spans, (1, 2), (1, 2), {}, *[tolerance["float32-operator"]] * 2
    )


def test_tokens_outside_all_sequences_are_zeros():
    tensors, _ = packed((4,), (3,))
    lengths = torch.tensor([0, 2], dtype=torch.int32)
    out = packed_attention(AttentionProblem(*tensors, 1.0, spans_from_cu_seqlens(lengths, lengths, 2, 2)))
    dq, dk, dv = torch.autograd.grad(out.sum(), tensors)
    no_lengths = torch.tensor([0, 0], dtype=torch.int32)
    empty = packed_attention(
        AttentionProblem(*(one[:0] for one in tensors), 1.0, spans_from_cu_seqlens(no_lengths, no_lengths, 0, 0))
    )

    assert out[:2].all()
    assert not out[2:].any()
    assert not dq[2:].any()
    assert not dk[2:].any()
    assert not dv[2:].any()
    assert empty.shape == (0, 2, 16)


def test_gaps_between_keys_get_no_gradient():
    (q, k, v), _ = packed((3,), (10,))
    spans = spans_from_cu_seqlens(torch.tensor([0, 3]), torch.tensor([0, 3]), 3, 3)
    spans_with_gap = spans._replace(k_starts=torch.tensor([4]).int(), k_ends=torch.tensor([7]).int(), cumulative=None)
    output = packed_attention(AttentionProblem(q, k, v, 1.0, spans_with_gap))
    expected = packed_attention(AttentionProblem(q, k[4:7], v[4:7], 1.0, spans))
    dv = torch.autograd.grad(output.sum(), v)[0]

    torch.testing.assert_close(output, expected)
    assert not dv[:4].any()
    assert not dv[7:].any()


def test_kernels_are_cached_by_dtype(monkeypatch):
    """Compiled kernels are cached by their constants, so the constants must include the dtype."""
    dtypes = []
    monkeypatch.setattr(launch, "launch", lambda *_, **constants: dtypes.append(constants["KIND"]))
    for dtype in (torch.float16, torch.float32):
        (q, k, v), spans = packed((3,), (2,), dtype=dtype)
        problem = AttentionProblem(q.detach(), k.detach(), v.detach(), 1.0, spans)
        launch.backward(problem, spans, *launch.forward(problem, spans), q.detach())

    assert dtypes == ["float16"] * 4 + ["float32"] * 4


@pytest.mark.usefixtures("reference_on_cpu")
def test_operator_passes_opcheck():
    tensors, spans = packed((3, 2), (2, 4), size=4)
    settings = (spans.max_q, spans.max_k, 0.5, -1, 0, 0.0, False, False)

    operator = torch.ops.rocm3d_kernels.attention.default
    torch.library.opcheck(operator, (*tensors, *(one.clone() for one in spans[:4]), None, *settings))


@pytest.mark.usefixtures("reference_on_cpu")
def test_torch_compile_captures_one_operator():
    tensors, spans = packed((3, 2), (2, 4), size=4)
    compiled = torch.compile(
        lambda *inputs: attention(*inputs, spans, causal=True), fullgraph=True, backend="aot_eager"
    )
    plain = torch.autograd.grad(attention(*tensors, spans, causal=True).sum(), tensors)

    for one, two in zip(torch.autograd.grad(compiled(*tensors).sum(), tensors), plain, strict=True):
        torch.testing.assert_close(one, two)
