"""Runs the attention text that apply inserts (stdin) against float64 loops. Started with an interpreter that has torch.

python attention_reference.py cpu|cuda < inserted.py
"""

from __future__ import annotations

import itertools
import math
import sys

import torch

TOLERANCE = {torch.float64: 1e-12, torch.float32: 2e-5, torch.bfloat16: 3e-2}


def reference(q, k, v, scale=None, causal=False, bias=None):
    """One query, one head at a time, in float64; a query that sees no key gives zeros, as in flash_attn."""
    q, k, v = q.double().cpu(), k.double().cpu(), v.double().cpu()
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    out = torch.zeros(*q.shape[:3], v.shape[-1], dtype=torch.float64)
    for b, h, i in itertools.product(range(q.shape[0]), range(q.shape[2]), range(q.shape[1])):
        head = h * k.shape[2] // q.shape[2]
        last = i + k.shape[1] - q.shape[1] if causal else k.shape[1] - 1
        if last < 0:
            continue
        scores = k[b, : last + 1, head] @ q[b, i, h] * scale
        if bias is not None:
            scores = scores + bias[b, h, i, : last + 1].double().cpu()
        out[b, i, h] = scores.softmax(0) @ v[b, : last + 1, head]
    return out


def check(name, got, expected, dtype):
    assert got.dtype == dtype, f"{name}: {got.dtype}"
    assert got.shape == expected.shape, f"{name}: {tuple(got.shape)}"
    assert got.is_contiguous(), f"{name}: flash_attn gives contiguous results, which programs view"
    far = (got.double().cpu() - expected).abs().max().item() if got.numel() else 0.0
    assert far <= TOLERANCE[dtype], f"{name}: off by {far}"  # NaN fails, too


def dense(names, device):
    shapes = [(5, 5), (3, 7), (7, 3), (1, 9), (6, 1), (0, 4), (4, 0)]
    heads, dims = [(2, 2), (4, 2), (6, 1)], [(8, 8), (24, 24), (40, 40), (8, 16)]
    done = 0
    for (sq, sk), (hq, hk), (d, dv), causal, dtype in itertools.product(shapes, heads, dims, (False, True), TOLERANCE):
        # Not contiguous: heads before sequence in memory.
        q, k, v = (
            torch.randn(2, h, s, width, dtype=dtype, device=device).transpose(1, 2)
            for h, s, width in ((hq, sq, d), (hk, sk, d), (hk, sk, dv))
        )
        scale = 0.3 if done % 2 else None
        label = f"{(sq, sk, hq, hk, d, dv, causal, dtype)}"
        expected = reference(q, k, v, scale, causal)
        got = names["flash_attn_func"](q, k, v, 0.0, scale, causal, window_size=(-1, -1), deterministic=True)
        check(f"func {label}", got, expected, dtype)
        if d == dv:
            packed = torch.stack([k, v], 2)
            got = names["flash_attn_kvpacked_func"](q, packed, softmax_scale=scale, causal=causal)
            check(f"kvpacked {label}", got, expected, dtype)
        if d == dv and sq == sk and hq == hk:
            got = names["flash_attn_qkvpacked_func"](torch.stack([q, k, v], 2), softmax_scale=scale, causal=causal)
            check(f"qkvpacked {label}", got, expected, dtype)
        done += 1
    return done


def varlen(names, device):
    sets = [([3, 5, 2], [4, 1, 6]), ([4, 4], [4, 4]), ([4, 4], [3, 3]), ([0, 3, 0], [2, 0, 5]), ([7], [9]), ([], [])]
    done = 0
    for (qs, ks), (hq, hk), causal, dtype in itertools.product(sets, [(2, 2), (4, 2)], (False, True), TOLERANCE):
        q = torch.randn(sum(qs), hq, 16, dtype=dtype, device=device)
        k, v = (torch.randn(sum(ks), hk, 16, dtype=dtype, device=device) for _ in range(2))
        cu_q, cu_k = (torch.tensor([0, *itertools.accumulate(n)], dtype=torch.int32, device=device) for n in (qs, ks))
        parts = [
            reference(q[None, a:b], k[None, c:d], v[None, c:d], 0.2, causal)[0]
            for a, b, c, d in zip(cu_q[:-1], cu_q[1:], cu_k[:-1], cu_k[1:], strict=True)
        ]
        expected = torch.cat(parts) if parts else torch.zeros(0, hq, 16, dtype=torch.float64)
        longest = max([0, *qs]), max([0, *ks])
        label = f"{(qs, ks, hq, hk, causal, dtype)}"
        options = {"softmax_scale": 0.2, "causal": causal}
        check(label, names["flash_attn_varlen_func"](q, k, v, cu_q, cu_k, *longest, **options), expected, dtype)
        kv = torch.stack([k, v], 1)
        check(label, names["flash_attn_varlen_kvpacked_func"](q, kv, cu_q, cu_k, *longest, **options), expected, dtype)
        if qs == ks and hq == hk:
            qkv = torch.stack([q, k, v], 1)
            got = names["flash_attn_varlen_qkvpacked_func"](qkv, cu_q, longest[0], **options)
            check(label, got, expected, dtype)
        done += 1
    return done


def xformers(names, device):
    done = 0
    for (sq, sk), dtype in itertools.product([(5, 5), (3, 7), (0, 4), (4, 0)], TOLERANCE):
        q, k, v = (torch.randn(2, s, 3, 16, dtype=dtype, device=device) for s in (sq, sk, sk))
        call = names["memory_efficient_attention"]
        check("xformers", call(q, k, v, scale=0.2), reference(q, k, v, 0.2), dtype)
        bias = torch.randn(2, 3, sq, sk, dtype=dtype, device=device)
        check("xformers bias", call(q, k, v, attn_bias=bias), reference(q, k, v, bias=bias), dtype)
        flat = [x[:, :, 0] for x in (q, k, v)]
        expected = reference(*(x[:, :, None] for x in flat))[:, :, 0]
        check("xformers without heads", call(*flat).contiguous(), expected, dtype)
        done += 1
    return done


def gradients(names, device):
    """The fallback trains: its gradients are those of the reference."""
    q, k, v = (torch.randn(1, s, 2, 8, dtype=torch.float64, device=device, requires_grad=True) for s in (5, 3, 3))
    cu_q, cu_k = (torch.tensor(n, dtype=torch.int32, device=device) for n in ([0, 2, 5], [0, 2, 3]))

    def run(q, k, v):
        return names["flash_attn_varlen_func"](q[0], k[0], v[0], cu_q, cu_k, 3, 2, causal=True)

    assert torch.autograd.gradcheck(run, (q, k, v))


def dropout(names, device):
    """Dropped weights are scaled up, so that the mean stays what it was."""
    q, k, v = (torch.randn(1, 4, 1, 8, dtype=torch.float64, device=device).expand(20000, -1, -1, -1) for _ in range(3))
    got = names["flash_attn_func"](q, k, v, dropout_p=0.5)
    assert (got[0] - got[1]).abs().max() > 0, "nothing is dropped"
    assert (got.mean(0).cpu() - reference(q[:1], k[:1], v[:1])[0]).abs().max() < 0.1


def refusals(names, device):
    q = torch.randn(1, 4, 1, 8, device=device)
    requested = [
        {"window_size": (4, 0)}, {"alibi_slopes": torch.zeros(1)}, {"return_attn_probs": True}, {"softcap": 30.0},
        {"block_table": torch.zeros(1)},
    ]  # fmt: skip
    for options in requested:
        try:
            names["flash_attn_func"](q, q, q, **options)
        except NotImplementedError:
            continue
        raise AssertionError(f"{options} is passed over")
    for flat, bias in ((q, object()), (q[:, :, 0], torch.zeros(4, 4))):
        try:
            names["memory_efficient_attention"](flat, flat, flat, attn_bias=bias)
        except NotImplementedError:
            continue
        raise AssertionError("a bias is passed over")


def main():
    names = {"torch": torch}
    exec(sys.stdin.read(), names)
    device = sys.argv[1]
    torch.manual_seed(0)
    torch.set_num_threads(1)
    counts = [dense(names, device), varlen(names, device), xformers(names, device)]
    gradients(names, device)
    dropout(names, device)
    refusals(names, device)
    print("cases", *counts)  # noqa: T201  (read by the test)


main()
