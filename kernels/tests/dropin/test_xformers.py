from __future__ import annotations

import pytest
from tests.device import DEVICE, torch

from rocm3d_kernels.dropin.packages.xformers import attn_bias, ops
from rocm3d_kernels.dropin.packages.xformers.fmha import memory_efficient_attention

AUTO = "import rocm3d_kernels.dropin.auto\n"
QUERIES, KEYS, HEADS, SIZE = (3, 1, 4), (5, 2, 4), 2, 8
Block = attn_bias.BlockDiagonalMask


@pytest.fixture(autouse=True)
def _no_interpreter(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "0")


def random(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape) + shape[1]))


def attention_by_matrix(q, k, v, matrix):
    """Plain attention with the matrix of a bias; rows without keys are zeros."""
    scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5 + matrix
    return torch.einsum("bhqk,bkhd->bqhd", scores.softmax(-1).nan_to_num(0.0), v)


def test_unsupported_arguments_are_rejected():
    one = random(2, 4, HEADS, SIZE)

    with pytest.raises(NotImplementedError, match="attn_bias of str"):
        memory_efficient_attention(one, one, one, attn_bias="causal")
    with pytest.raises(ValueError, match="same number of dimensions, 3 to 5"):
        memory_efficient_attention(one, one, one[0])
    with pytest.raises(ValueError, match=r"needs tensors \[1, T, H, K\]"):
        memory_efficient_attention(one, one, one, Block.from_seqlens([4]))
    with pytest.raises(ValueError, match="for 3 queries and 3 keys, the tensors have 4 and 4"):
        memory_efficient_attention(one[:1], one[:1], one[:1], Block.from_seqlens([3]))
    with pytest.raises(NotImplementedError, match="dropout"):
        memory_efficient_attention(one[:1], one[:1], one[:1], Block.from_seqlens([4]), p=0.5)


@pytest.mark.parametrize(
    "make",
    [lambda: Block.from_seqlens([1, 2], [3]), lambda: Block.from_seqlens([2]).make_local_attention(0),
     lambda: attn_bias.LocalAttentionFromBottomRightMask(-1, 2),
     lambda: attn_bias.BlockDiagonalPaddedKeysMask.from_seqlens([1], 4, [5]),
     lambda: attn_bias.BlockDiagonalGappyKeysMask.from_seqlens([1], [0], [1]),
     lambda: Block.from_seqlens([2], [3]).split(torch.zeros(1, 2, 1))],
)  # fmt: skip
def test_invalid_biases_are_rejected(make):
    with pytest.raises(ValueError, match=r"sequences|window|fit|starts|differ"):
        make()


BIASES = [
    attn_bias.LowerTriangularMask(),
    attn_bias.LowerTriangularFromBottomRightMask(),
    attn_bias.LowerTriangularFromBottomRightMask().make_local_attention(2),
    attn_bias.LocalAttentionFromBottomRightMask(2, 1),
    attn_bias.LowerTriangularMask().add_bias(random(8, 11)),
]
PACKED = [
    Block.from_seqlens(QUERIES, KEYS),
    Block.from_seqlens(QUERIES, KEYS).make_causal(),
    Block.from_seqlens(QUERIES, KEYS).make_causal_from_bottomright(),
    Block.from_seqlens(QUERIES, KEYS).make_local_attention(2),
    Block.from_seqlens(QUERIES, KEYS).make_local_attention_from_bottomright(2),
    attn_bias.BlockDiagonalPaddedKeysMask.from_seqlens([3, 5], 5, [4, 2]),
    attn_bias.BlockDiagonalCausalWithOffsetPaddedKeysMask.from_seqlens([3, 5], 5, [4, 5]),
    attn_bias.BlockDiagonalLocalAttentionPaddedKeysMask.from_seqlens_local([3, 5], 5, [4, 5], 1, 1),
    attn_bias.BlockDiagonalCausalLocalAttentionPaddedKeysMask.from_seqlens_local([3, 5], 5, [4, 5], 2),
    attn_bias.BlockDiagonalGappyKeysMask.from_seqlens([3, 5], [1, 6, 11], [4, 3]),
    attn_bias.BlockDiagonalCausalWithOffsetGappyKeysMask.from_seqlens([3, 5], [1, 6, 11], [4, 5]),
]


@pytest.mark.parametrize("bias", [*BIASES, *PACKED], ids=lambda bias: type(bias).__name__)
def test_each_bias_equals_its_matrix(bias):
    q, k, v = random(1, 8, HEADS, SIZE), random(1, 11, HEADS, SIZE), random(1, 11, HEADS, SIZE) + 1
    matrix = bias.materialize((1, HEADS, 8, 11), device=DEVICE)

    torch.testing.assert_close(memory_efficient_attention(q, k, v, bias), attention_by_matrix(q, k, v, matrix))
    assert type(bias.to("cpu")) is type(bias)


def test_matrices_equal_those_of_the_original():
    """Expected values are from the public documentation of the masks."""
    local = attn_bias.LocalAttentionFromBottomRightMask(window_left=1, window_right=2)

    assert local.materialize((4, 5)).exp().tolist() == [
        [1, 1, 1, 1, 0], [0, 1, 1, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1],
    ]  # fmt: skip
    assert Block.from_seqlens([1, 2]).materialize((3, 3)).exp().tolist() == [[1, 0, 0], [0, 1, 1], [0, 1, 1]]


def test_lists_of_tensors_are_packed_and_split():
    tensors = [random(2, 3, HEADS, SIZE), random(1, 5, HEADS, SIZE)]
    mask, packed = Block.from_tensor_list(tensors)
    outputs = mask.split(memory_efficient_attention(packed, packed, packed, mask))
    other, q, k, v = Block.from_tensor_lists_qkv(tensors, tensors, tensors)

    for one, whole in zip(outputs, tensors, strict=True):
        torch.testing.assert_close(one, memory_efficient_attention(whole, whole, whole))
    torch.testing.assert_close(torch.cat([q, k, v]), packed.expand(3, -1, -1, -1))
    assert other.q_seqinfo.seqstart_py == [0, 3, 6, 11]


def test_one_head_grouped_heads_and_a_bias():
    q, k = random(2, 4, SIZE), random(2, 6, SIZE)
    bias = random(2, 4, 6)
    plain = memory_efficient_attention(q, k, k, bias, scale=0.5)
    expected = torch.softmax(q @ k.mT * 0.5 + bias, -1) @ k
    groups, keys = random(2, 4, 2, 3, SIZE), random(2, 6, 2, 1, SIZE).expand(-1, -1, -1, 3, -1)
    shared = memory_efficient_attention(groups, keys, keys, output_dtype=torch.float64)

    torch.testing.assert_close(plain, expected)
    assert (shared.shape, shared.dtype) == (groups.shape, torch.float64)
    # Grouped heads may use another kernel, whose sums round differently: compared as float32.
    torch.testing.assert_close(shared.float(), memory_efficient_attention(groups, keys.clone(), keys.clone()))


def test_swiglu_weights_and_formula():
    torch.manual_seed(1)
    module, unpacked = ops.SwiGLU(6, 10, 4).to(DEVICE), ops.SwiGLU(6, 10, bias=False, _pack_weights=False).to(DEVICE)
    x = random(3, 6)
    w1, w2 = module.w12.weight.chunk(2)
    b1, b2 = module.w12.bias.chunk(2)

    torch.testing.assert_close(module(x), ops.swiglu(x, w1, b1, w2, b2, module.w3.weight, module.w3.bias))
    assert set(module.state_dict()) == {"w12.weight", "w12.bias", "w3.weight", "w3.bias"}
    assert set(unpacked.state_dict()) == {"w1.weight", "w2.weight", "w3.weight"}
    assert unpacked(x).shape == (3, 6)


def test_small_operations():
    x, index = torch.zeros(4, 2, 3), torch.tensor([3, 1])
    result = ops.scaled_index_add(x, index, torch.ones(2, 2, 3), scaling=torch.full((3,), 2.0), alpha=0.5)

    assert result is x
    assert x[:, 0, 0].tolist() == [0, 1, 0, 1]
    assert [one.shape for one in ops.unbind(x, 1)] == [(4, 3)] * 2
    selected = ops.index_select_cat([torch.arange(6.0).view(3, 2), torch.arange(4.0).view(4, 1)], [index[1:], index])
    assert selected.tolist() == [2, 3, 3, 1]


@pytest.mark.stand_ins
def test_detection_by_diffusers_succeeds(python):
    """The checks of diffusers, and both import paths of the masks."""
    program = (
        f"{AUTO}import importlib.metadata as m, xformers, xformers.ops as xops\n"
        "from xformers.ops import fmha, memory_efficient_attention\n"
        "from xformers.ops.fmha.attn_bias import BlockDiagonalMask\n"
        "print(m.version('xformers'), xformers.__version__, xops.fmha.BlockDiagonalMask is BlockDiagonalMask)\n"
        "print(fmha.attn_bias.BlockDiagonalMask is BlockDiagonalMask)\n"
        "try: m.version('sageattention')\nexcept m.PackageNotFoundError: print('none')\n"
        "try: xops.sparsify24\nexcept AttributeError as error: print(error)"
    )
    lines = python(program).splitlines()

    assert lines[:3] == ["0.0.35 0.0.35 True", "True", "none"]
    assert "xformers.ops.sparsify24 is not covered" in lines[3]
