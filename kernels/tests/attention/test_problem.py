from __future__ import annotations

import pytest
import torch

from rocm3d_kernels.attention import attention, spans_from_cu_seqlens
from rocm3d_kernels.attention.problem import MAX_TOKENS, AttentionProblem, validate


def row(*numbers, dtype=torch.int32):
    return torch.tensor(numbers, dtype=dtype)


@pytest.mark.parametrize(
    ("first", "second", "max_length", "text"),
    [
        (row(0, 2, 5), row(0, 5), 3, "cu_seqlens_q has 2 sequences, cu_seqlens_k has 1"),
        (row(0.0, 5.0, dtype=torch.float32), row(0, 5), 5, "must be int32"),
        (row(1, 5), row(1, 5), 5, "start with 0"),
        (row(0, 5, 3), row(0, 5, 3), 5, "never decrease"),
        (row(0, 5), row(0, 5), 4, "max_seqlen_q is 4, but a sequence has 5"),
    ],
)
def test_invalid_lengths_are_rejected(first, second, max_length, text):
    with pytest.raises(ValueError, match=text):
        spans_from_cu_seqlens(first, second, max_length, max_length)


@pytest.mark.parametrize(
    ("q", "k", "v", "text"),
    [
        ((2, 4, 16), (2, 4, 16), (2, 4, 16), r"\[B, S, H, D\]"),
        ((1, 2, 4, 16), (1, 2, 4, 8), (1, 2, 4, 16), "have shapes"),
        ((1, 2, 4, 16), (2, 2, 4, 16), (2, 2, 4, 16), "have shapes"),
        ((1, 2, 4, 16), (1, 2, 3, 16), (1, 2, 3, 16), "4 query heads are no multiple of 3 key heads"),
    ],
)
def test_mismatched_shapes_are_rejected(q, k, v, text):
    with pytest.raises(ValueError, match=text):
        attention(torch.zeros(q), torch.zeros(k), torch.zeros(v))


def test_mixed_dtypes_and_devices_are_rejected():
    one = torch.zeros(1, 2, 4, 16)

    with pytest.raises(TypeError, match="one floating dtype"):
        attention(one, one.half(), one)
    with pytest.raises(TypeError, match="fp8"):
        attention(*[one.to(torch.float8_e4m3fn)] * 3)
    with pytest.raises(ValueError, match="different devices"):
        attention(one, one.to("meta"), one.to("meta"))


def test_too_many_tokens_are_rejected():
    large = torch.empty(1, 1, 1, 16).expand(1, MAX_TOKENS, 1, 16)

    with pytest.raises(ValueError, match="tokens or more, the limit"):
        attention(large, large, large)


@pytest.mark.parametrize("settings", [{"dropout": 1.0}, {"slopes": torch.ones(3)}], ids=str)
def test_invalid_settings_are_rejected(settings):
    one = torch.zeros(1, 2, 4, 16)

    with pytest.raises(ValueError, match=r"dropout is 1\.0|slopes"):
        attention(one, one, one, **settings)


def test_limits_that_exclude_no_key_are_removed():
    q, k = torch.zeros(1, 1, 1, 16), torch.zeros(1, 9, 1, 16)
    problem = validate(AttentionProblem(q, k, k, 1.0, left=8, right=0))

    assert (problem.left, problem.right) == (-1, -1)
    assert validate(AttentionProblem(k, k, k, 1.0, right=0, top=True)).top is False
    assert validate(AttentionProblem(q, k, k, 1.0, right=0, top=True)).top is True


def test_dense_tensors_become_packed_tensors():
    q, k = torch.zeros(2, 3, 4, 16), torch.zeros(2, 5, 2, 16)
    problem = validate(AttentionProblem(q, k, k, 1.0)).packed()

    assert problem.q.shape == (6, 4, 16)
    assert problem.spans.k_ends.tolist() == [5, 10]
    assert problem.group == 2
