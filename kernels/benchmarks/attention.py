"""Times attention of 32 packed sequences of mixed length against PyTorch's packed flash kernel, on the same tensors.

`python benchmarks/attention.py [--output FILE] [--sweep]`. `ours` is `attention` with the tier that it selects,
`kernel` always our Triton kernels, `pytorch` torch.nn.attention.varlen, which needs no padding; --sweep times launch
parameters of the forward kernel instead, for the tuning table.
"""

from __future__ import annotations

import itertools
import os
import random
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Any

import torch

from rocm3d_kernels import last_dispatch, tuning
from rocm3d_kernels.attention import attention, reference, spans_from_cu_seqlens
from rocm3d_kernels.attention.problem import AttentionProblem, Spans
from rocm3d_kernels.attention.tiers import TIER_VARIABLE
from side_by_side import SWEEP_SECONDS, check_close, gpu, median_milliseconds, run, within_seconds

SEQUENCES, SHORTEST, LONGEST, HEADS = 32, 64, 4096, 16
CASES = tuple(itertools.product((64, 128), (False, True)))
# float16-attention and float16-attention-gradient of knowledge/tolerances.toml
FORWARD, BACKWARD = {"rtol": 1e-2, "atol": 1e-2}, {"rtol": 2e-2, "atol": 2e-2}
AttentionFunction = Callable[[Sequence[torch.Tensor]], torch.Tensor]


def sequences(device: torch.device, size: int) -> tuple[list[torch.Tensor], Spans, int]:
    """Packed float16 tensors, their spans, and the number of query-key pairs."""
    generator = random.Random(1)  # noqa: S311  (lengths, the same in every run)
    lengths = [generator.randint(SHORTEST, LONGEST) for _ in range(SEQUENCES)]
    cu = torch.tensor([0, *itertools.accumulate(lengths)], dtype=torch.int32, device=device)
    torch.manual_seed(1)
    shape = (sum(lengths), HEADS, size)
    tensors = [torch.randn(shape, device=device, dtype=torch.float16).requires_grad_() for _ in range(3)]
    return (
        tensors,
        spans_from_cu_seqlens(cu, cu, max(lengths), max(lengths)),
        sum(length * length for length in lengths),
    )


def implementations(spans: Spans, *, causal: bool) -> dict[str, AttentionFunction]:
    """The three implementations by name."""
    from torch.nn.attention.varlen import varlen_attn

    def kernel(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
        os.environ[TIER_VARIABLE] = "triton"
        output = attention(*tensors, spans, causal=causal)
        del os.environ[TIER_VARIABLE]
        return output

    cumulative = spans.cumulative or (spans.q_starts, spans.k_starts)

    def pytorch(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
        limits = (-1, 0) if causal else (-1, -1)
        output: torch.Tensor = varlen_attn(*tensors, *cumulative, spans.max_q, spans.max_k, window_size=limits)
        return output

    return {"ours": lambda tensors: attention(*tensors, spans, causal=causal), "kernel": kernel, "pytorch": pytorch}


def output_and_gradients(
    function: AttentionFunction, tensors: Sequence[torch.Tensor], do: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """The output and the gradients."""
    output = function(tensors)
    return output, *torch.autograd.grad(output, tensors, do)


def row(size: int, causal: bool, device: torch.device) -> dict[str, Any]:
    """Checks the results, then times them."""
    tensors, spans, products = sequences(device, size)
    do = torch.randn_like(tensors[0])
    exact = AttentionProblem(*(one.detach().double() for one in tensors), size**-0.5, spans, right=0 if causal else -1)
    out, lse = reference.forward(exact)
    expected = (out, *reference.backward(exact, out, lse, do.double()))
    errors: dict[str, list[float]] = {}
    tier = ""
    for name, function in implementations(spans, causal=causal).items():
        results = output_and_gradients(function, tensors, do)
        limits = (FORWARD, BACKWARD, BACKWARD, BACKWARD)
        errors[name] = [
            check_close(name, *pair, **limit) for *pair, limit in zip(results, expected, limits, strict=True)
        ]
        dispatch = last_dispatch()
        tier = dispatch.implementation if dispatch and name == "ours" else tier
    del exact, out, lse, expected
    plain = [one.detach() for one in tensors]
    forward = median_milliseconds(
        {
            name: lambda function=function: function(plain)
            for name, function in implementations(spans, causal=causal).items()
        }
    )
    training = median_milliseconds(
        {
            name: lambda function=function: output_and_gradients(function, tensors, do)
            for name, function in implementations(spans, causal=causal).items()
        }
    )
    work = 4 * size * HEADS * products / (2 if causal else 1)
    return {
        "size": size, "causal": causal, "tokens": tensors[0].shape[0], "facade": tier, "errors": errors,
        "forward_ms": forward, "forward_backward_ms": training,
        "forward_tflops": {name: work / time / 1e9 for name, time in forward.items()},
    }  # fmt: skip


def timed(function: AttentionFunction, tensors: Sequence[torch.Tensor]) -> float:
    """Milliseconds of one implementation."""
    return median_milliseconds({"x": lambda: function(tensors)}, 10)["x"]


def sweep(device: torch.device) -> list[dict[str, Any]]:
    """Times of launch parameters of the forward kernel, the best first."""
    results = []
    shapes = ((128, 64), (64, 64), (128, 128), (64, 32))
    choices = within_seconds(SWEEP_SECONDS, itertools.product((128, 64), shapes, ((4, 3), (8, 3), (4, 2))))
    for size, (rows, columns), (warps, stages) in choices:
        tensors, spans, _ = sequences(device, size)
        parameters = {f"ROWS_{size}": rows, f"COLUMNS_{size}": columns, "num_warps": warps, "num_stages": stages}
        tuning.override_parameters("attention", {"attention_forward_kernel": parameters})
        plain = [one.detach() for one in tensors]
        try:
            times = {
                str(causal): timed(implementations(spans, causal=causal)["kernel"], plain) for causal in (False, True)
            }
        except Exception as error:  # noqa: BLE001  (tiles that do not fit are skipped)
            sys.stderr.write(f"{size}, {parameters}: {type(error).__name__}\n")
            continue
        sys.stderr.write(f"{size}, {parameters}: {times}\n")
        results.append({"size": size, **parameters, "forward_ms": times})
    return sorted(results, key=lambda item: (item["size"], sum(item["forward_ms"].values())))


def rows(options: Namespace) -> list[dict[str, Any]]:
    """Rows for all cases, or with --sweep for launch parameters."""
    device = gpu()
    return sweep(device) if options.sweep else [row(*case, device) for case in CASES]


if __name__ == "__main__":
    sys.exit(run("attention", __doc__, rows, "--sweep"))
