"""Times functions side by side on one GPU: medians of CUDA events, interleaved; writes GPU, versions and date."""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

import torch

ROUNDS, WARMUP_CALLS = 30, 5
FLUSH_BYTES = 256 * 2**20
SWEEP_SECONDS = 200.0  # seconds
Choice = TypeVar("Choice")


class WrongResultError(Exception):
    """A result is wrong or did not come from the kernel, so nothing is timed."""


def gpu() -> torch.device:
    """The current GPU; exits if there is none."""
    if not torch.cuda.is_available():
        sys.exit("torch finds no GPU; nothing was timed")
    return torch.device("cuda", torch.cuda.current_device())


def check_close(name: str, result: torch.Tensor, expected: torch.Tensor, rtol: float, atol: float) -> float:
    """The largest absolute difference. Raises if a difference exceeds the tolerance."""
    result, expected = result.detach().double(), expected.detach().double()
    worst = float((result - expected).abs().max())
    if not torch.allclose(result, expected, rtol=rtol, atol=atol, equal_nan=True):
        raise WrongResultError(f"{name}: off by {worst:.3g}; the tolerance is {atol} + {rtol} * value")
    return worst


def median_milliseconds(functions: Mapping[str, Callable[[], Any]], rounds: int = ROUNDS) -> dict[str, float]:
    """Milliseconds of each function. Calls are interleaved, and each starts with a cold cache."""
    flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")
    for call in functions.values():
        for _ in range(WARMUP_CALLS):
            call()
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, call in functions.items():
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            flush.zero_()
            begin.record()
            call()
            end.record()
            torch.cuda.synchronize()
            times[name].append(begin.elapsed_time(end))
    return {name: statistics.median(values) for name, values in times.items()}


def within_seconds(seconds: float, choices: Iterable[Choice]) -> Iterator[Choice]:
    """Yields choices until the time is over."""
    end = time.monotonic() + seconds
    for choice in choices:
        if time.monotonic() > end:
            sys.stderr.write(f"time limit reached before {choice}\n")
            return
        yield choice


def machine() -> dict[str, str]:
    """GPU, versions and date."""
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    facts = {"gpu": properties.name, "python": platform.python_version(), "torch": str(torch.__version__)}
    facts |= {"hip": str(torch.version.hip or ""), "cuda": str(torch.version.cuda or "")}
    facts["gfx"] = str(getattr(properties, "gcnArchName", "")).partition(":")[0] if torch.version.hip else ""
    for name in ("triton", "rocm3d-kernels"):
        try:
            facts[name] = version(name)
        except PackageNotFoundError:
            facts[name] = str(getattr(__import__(name.replace("-", "_")), "__version__", ""))
    return facts | {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")}


def run(
    op: str, description: str | None, rows: Callable[[argparse.Namespace], list[dict[str, Any]]], *flags: str
) -> int:
    """Parses the command line, runs a benchmark and writes its document. 0 if the results were correct and timed."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--output", default="-")
    for flag in flags:
        parser.add_argument(flag, action="store_true")
    options = parser.parse_args()
    try:
        results = rows(options)
    except WrongResultError as error:
        sys.stderr.write(f"wrong result, nothing was timed: {error}\n")
        return 1
    write(op, results, options.output)
    return 0


def write(op: str, rows: list[dict[str, Any]], path: str) -> None:
    """Writes one JSON document to a file, or to stdout for `-`."""
    text = json.dumps({"op": op, "machine": machine(), "rounds": ROUNDS, "rows": rows}, indent=1) + "\n"
    if path == "-":
        sys.stdout.write(text)
    else:
        Path(path).write_text(text, encoding="utf-8")
