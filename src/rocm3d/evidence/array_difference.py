"""Differences between the arrays of two files, without a verdict; `rocm3d golden` applies tolerances."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.artifact.arrays import read_arrays
from rocm3d.artifact.check import check_all
from rocm3d.model.bundle import DiffRow
from rocm3d.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.artifact.artifact_report import Array

_MOST = 1 << 26


def array_rows(name: str, a: Path, b: Path) -> Iterator[DiffRow]:
    """One row per array of either file, or a single row with the reason why they were not compared."""
    for artifact in check_all([a, b]):
        if "elements" not in artifact.metrics or artifact.metrics["elements"] > _MOST:
            reason = artifact.reason or "too many elements"
            yield DiffRow(section="numerics", name=name, a="", b="", change=f"not compared: {reason}")
            return
    try:
        arrays_a, arrays_b = dict(read_arrays(a)), dict(read_arrays(b))
    except UserError as error:
        yield DiffRow(section="numerics", name=name, a="", b="", change=f"not compared: {error.message}")
        return
    for key in sorted({*arrays_a, *arrays_b}):
        left, right = arrays_a.get(key), arrays_b.get(key)
        change = "" if left is None or right is None else _describe_difference(left, right)
        yield DiffRow(
            section="numerics",
            name=f"{name}:{key}".rstrip(":"),
            a=_describe_array(left),
            b=_describe_array(right),
            change=change,
        )


def _describe_array(array: Array | None) -> str:
    return "" if array is None else f"{array.dtype} {list(array.shape)}"


def _describe_difference(a: Array, b: Array) -> str:
    """Empty if they are equal."""
    import numpy

    if a.shape != b.shape or a.dtype.kind not in "fciub" or b.dtype.kind not in "fciub":
        return "not comparable"
    if numpy.array_equal(a, b, equal_nan=a.dtype.kind in "fc" and b.dtype.kind in "fc"):
        return ""
    dtype = numpy.complex128 if "c" in (a.dtype.kind, b.dtype.kind) else numpy.float64
    with numpy.errstate(invalid="ignore", over="ignore"):
        difference = numpy.abs(b.astype(dtype) - a.astype(dtype))
        size = float(numpy.nanmax(numpy.abs(a.astype(dtype)), initial=0.0))
    only_one_finite = int((numpy.isfinite(a) != numpy.isfinite(b)).sum())
    finite = difference[numpy.isfinite(difference)]
    broken = f"; {only_one_finite} finite in only one of them" if only_one_finite else ""
    greatest = float(finite.max()) if finite.size else 0.0
    return f"largest difference {greatest:.3g} (largest value {size:.3g}){broken}"
