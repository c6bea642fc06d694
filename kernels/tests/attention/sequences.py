"""Packed test sequences, and textbook attention in float64, one sequence and head at a time."""

from __future__ import annotations

from itertools import accumulate

from rocm3d_kernels.attention import spans_from_cu_seqlens
from tests.device import DEVICE, torch


def cumulative(lengths):
    return torch.tensor([0, *accumulate(lengths)], dtype=torch.int32)


def packed(queries, keys, heads=2, shared=1, size=16, width=None, dtype=torch.float32, device=DEVICE):
    generator = torch.Generator().manual_seed(3)
    shapes = ((sum(queries), heads, size), (sum(keys), shared, size), (sum(keys), shared, width or size))
    tensors = [torch.randn(shape, generator=generator).to(device, dtype).requires_grad_() for shape in shapes]
    cu_seqlens = [cumulative(lengths).to(device) for lengths in (queries, keys)]
    return tensors, spans_from_cu_seqlens(*cu_seqlens, max(queries), max(keys))


def textbook(q, k, v, queries, keys, *, left=-1, right=-1, top=False, softcap=0.0, slopes=None):
    """The output [T, H, D]; rows without keys are zeros."""
    outputs, group = [], q.shape[1] // k.shape[1]
    for number, (rows, columns) in enumerate(zip(queries, keys, strict=True)):
        begin, first = sum(queries[:number]), sum(keys[:number])
        for head in range(q.shape[1]):
            q_rows, k_rows = q[begin : begin + rows, head], k[first : first + columns, head // group]
            scores = q_rows @ k_rows.T / q.shape[-1] ** 0.5
            scores = softcap * (scores / softcap).tanh() if softcap else scores
            position = torch.arange(rows)[:, None] + (0 if top else columns - rows)
            distance = torch.arange(columns) - position
            if slopes is not None:
                scores = scores - slopes.expand(len(queries), -1)[number, head].double() * distance.abs()
            hidden = (distance < -left) & (left >= 0) | (distance > right) & (right >= 0)
            p = scores.masked_fill(hidden, -torch.inf).softmax(-1).nan_to_num(0.0)
            outputs.append(p @ v[first : first + columns, head // group])
    rows = [torch.stack(outputs[start : start + q.shape[1]], dim=1) for start in range(0, len(outputs), q.shape[1])]
    return torch.cat(rows)
