from __future__ import annotations

import pytest
from tests.device import torch

import rocm3d_kernels
from rocm3d_kernels.dropin.packages.flash_attn import bert_padding, interface

AUTO = "import rocm3d_kernels.dropin.auto\n"
HEADS, KV_HEADS, SIZE = 4, 2, 16


@pytest.fixture(autouse=True)
def _no_interpreter(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "0")


def random(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape) + shape[0]))


def cu_seqlens(lengths):
    return torch.tensor([0, *torch.tensor(lengths).cumsum(0).tolist()], dtype=torch.int32)


@pytest.mark.parametrize("name", ["return_attn_probs", "block_table"])
def test_unsupported_arguments_are_named(name):
    one, lengths = random(5, HEADS, SIZE), cu_seqlens([5])
    value = True if name == "return_attn_probs" else torch.zeros(1, 1)

    with pytest.raises(NotImplementedError, match=f"{name} is not covered"):
        interface.flash_attn_varlen_func(one, one, one, lengths, lengths, 5, 5, **{name: value})


def test_dropout_of_packed_sequences_raises_with_reasons():
    one, lengths = random(5, HEADS, SIZE), cu_seqlens([5])

    with pytest.raises(NotImplementedError, match="eager: dropout"):
        interface.flash_attn_varlen_func(one, one, one, lengths, lengths, 5, 5, dropout_p=0.1)


def test_packed_tensor_of_wrong_shape_is_rejected():
    with pytest.raises(ValueError, match="size 3 in dimension -3"):
        interface.flash_attn_qkvpacked_func(random(2, 5, 2, HEADS, SIZE))


@pytest.mark.parametrize("name", ["rotary_cos", "block_table", "return_softmax_lse"])
def test_paged_or_rotary_cache_is_rejected(name):
    one = random(2, 5, HEADS, SIZE)

    with pytest.raises(NotImplementedError, match=f"{name} is not covered"):
        interface.flash_attn_with_kvcache(one, one, one, **{name: torch.ones(1)})


def test_causal_mask_is_aligned_to_the_last_query_and_key():
    """Two queries and five keys: the first query does not see the last key, the second sees all."""
    q, k, v = random(1, 2, 1, SIZE), random(1, 5, 1, SIZE), torch.eye(5)[None, :, None]
    few_queries = interface.flash_attn_func(q, k, v, causal=True)[0, :, 0]
    many_queries = interface.flash_attn_func(random(1, 5, 1, SIZE), q, torch.eye(2)[None, :, None], causal=True)[
        0, :, 0
    ]

    assert (few_queries > 0).int().tolist() == [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    assert (many_queries > 0).int().tolist() == [[0, 0], [0, 0], [0, 0], [1, 0], [1, 1]]


@pytest.mark.parametrize(
    "settings",
    [{}, {"causal": True}, {"window_size": (2, 1)}, {"softcap": 1.5}, {"alibi_slopes": torch.rand(HEADS)},
     {"softmax_scale": 0.5, "deterministic": True}],
    ids=lambda settings: "-".join(settings) or "plain",
)  # fmt: skip
def test_dense_and_packed_forms_agree(settings):
    q, kv = random(2, 6, HEADS, SIZE), random(2, 6, 2, KV_HEADS, SIZE)
    expected = interface.flash_attn_func(q, *kv.unbind(2), **settings)
    lengths = cu_seqlens([6, 6])
    flat_q, flat_kv = q.flatten(0, 1), kv.flatten(0, 1)
    varlen = interface.flash_attn_varlen_func(flat_q, *flat_kv.unbind(1), lengths, lengths, 6, 6, **settings)
    packed = interface.flash_attn_varlen_kvpacked_func(flat_q, flat_kv, lengths, lengths, 6, 6, **settings)

    torch.testing.assert_close(interface.flash_attn_kvpacked_func(q, kv, **settings), expected)
    torch.testing.assert_close(varlen.unflatten(0, (2, 6)), expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(packed, varlen)


def test_qkv_packed_gets_gradients_and_positional_settings():
    qkv = random(2, 5, 3, HEADS, SIZE).requires_grad_()
    lengths = cu_seqlens([5, 5])
    output = interface.flash_attn_qkvpacked_func(qkv, 0.0, None, True)
    packed = interface.flash_attn_varlen_qkvpacked_func(qkv.flatten(0, 1), lengths, 5, 0.0, None, True)
    gradient = torch.autograd.grad(output.sum(), qkv)[0]

    torch.testing.assert_close(packed.unflatten(0, (2, 5)), output, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(torch.autograd.grad(packed.sum(), qkv)[0], gradient, rtol=1e-4, atol=1e-5)


def test_cache_is_extended_and_read_up_to_its_used_length():
    q, new = random(2, 1, HEADS, SIZE), random(2, 1, KV_HEADS, SIZE)
    k_cache, v_cache = random(3, 8, KV_HEADS, SIZE), random(3, 8, KV_HEADS, SIZE) + 1
    slot, used = torch.tensor([2, 0]), torch.tensor([3, 5], dtype=torch.int32)
    output = interface.flash_attn_with_kvcache(
        q, k_cache, v_cache, new, new, cache_seqlens=used, cache_batch_idx=slot, causal=True
    )
    expected = [
        interface.flash_attn_func(
            q[row : row + 1], *(one[slot[row], : used[row] + 1][None] for one in (k_cache, v_cache))
        )
        for row in range(2)
    ]

    torch.testing.assert_close(k_cache[2, 3], new[0, 0])
    torch.testing.assert_close(v_cache[0, 5], new[1, 0])
    torch.testing.assert_close(output, torch.cat(expected), rtol=1e-5, atol=1e-5)


def test_padding_is_removed_and_restored():
    states, mask = random(3, 4, 2, SIZE).requires_grad_(), torch.tensor([[1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1]])
    rows, indices, cumulative, max_length, used = bert_padding.unpad_input(states, mask)
    restored = bert_padding.pad_input(rows, indices, 3, 4)
    restored.sum().backward()

    assert (cumulative.tolist(), cumulative.dtype, max_length, used.tolist()) == (
        [0, 2, 2, 6],
        torch.int32,
        4,
        [2, 0, 4],
    )
    torch.testing.assert_close(restored, states * mask[..., None, None])
    torch.testing.assert_close(states.grad, mask[..., None, None].expand(states.shape).float())
    torch.testing.assert_close(bert_padding.index_first_axis(states.flatten(0, 1), indices), rows)


def test_unused_rows_are_included_but_not_counted():
    states, mask = random(1, 4, SIZE), torch.tensor([[1, 0, 0, 0]])
    rows, _, cumulative, _, used = bert_padding.unpad_input(states, mask, torch.tensor([[0, 1, 0, 0]]))

    assert (len(rows), cumulative.tolist(), used.tolist()) == (2, [0, 2], [1])


def test_several_sequences_in_a_row():
    states, lengths = random(2, 6, SIZE), torch.tensor([[2, 3, 0, 0, 0, 0], [6, 0, 0, 0, 0, 0]])
    rows, indices, cumulative, max_length = bert_padding.unpad_input_for_concatenated_sequences(states, lengths)

    assert (len(rows), cumulative.tolist(), max_length) == (11, [0, 2, 5, 11], 6)
    assert indices.tolist() == [0, 1, 2, 3, 4, *range(6, 12)]


@pytest.mark.stand_ins
def test_detection_by_transformers_succeeds(python):
    """The checks of transformers: the spec, the version, and the distribution of the import name."""
    program = (
        f"{AUTO}import sys, importlib.metadata as m, importlib.util as u\n"
        "print(u.find_spec('flash_attn') is not None, m.version('flash_attn'), m.version('flash-attn'))\n"
        "print(m.packages_distributions().get('flash_attn'), 'torch' in sys.modules)\n"
        "import flash_attn, flash_attn.bert_padding\nfrom flash_attn.flash_attn_interface import flash_attn_func\n"
        "print(flash_attn.__version__, flash_attn_func is flash_attn.flash_attn_func)\n"
        "try: from flash_attn.flash_attn_interface import _wrapped_flash_attn_forward\n"
        "except ImportError as error: print('not covered' in str(error))\n"
        "try: import flash_attn.layers.rotary\nexcept ModuleNotFoundError as error: print('not covered' in str(error))"
    )

    assert python(program).splitlines() == [
        "True 2.8.3 2.8.3", "['flash-attn'] False", "2.8.3 True", "True", "True",
    ]  # fmt: skip


def test_dispatch_is_recorded():
    interface.flash_attn_func(*[random(1, 4, 1, SIZE)] * 3)

    assert rocm3d_kernels.last_dispatch().op == "attention"
