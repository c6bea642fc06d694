from __future__ import annotations

import pytest
from tests.device import torch

from rocm3d_kernels.dropin.packages.sageattention.package import sageattn


@pytest.fixture(autouse=True)
def _no_interpreter(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "0")


def random(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(shape[2]))


def test_unsupported_arguments_are_named():
    one = random(1, 2, 4, 8)

    with pytest.raises(ValueError, match="choose HND or NHD"):
        sageattn(one, one, one, "BSH")
    with pytest.raises(NotImplementedError, match="return_lse is not covered"):
        sageattn(one, one, one, return_lse=True)
    with pytest.raises(TypeError, match="unexpected keyword argument 'window'"):
        sageattn(one, one, one, window=3)


@pytest.mark.parametrize("causal", [False, True])
def test_both_layouts_equal_pytorch(causal):
    q, k, v = random(2, 4, 5, 8), random(2, 2, 7, 8), random(2, 2, 7, 8)
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=0.3, enable_gqa=True)
    tokens_first = sageattn(*(one.transpose(1, 2) for one in (q, k, v)), "NHD", causal, 0.3, smooth_k=True)

    torch.testing.assert_close(sageattn(q, k, v, is_causal=causal, scale=0.3), expected)
    torch.testing.assert_close(tokens_first.transpose(1, 2), expected)


def test_mask_is_applied():
    q, mask = random(1, 2, 5, 8), torch.ones(5, 5).tril().bool()

    torch.testing.assert_close(sageattn(q, q, q, attn_mask=mask), sageattn(q, q, q, is_causal=True))
