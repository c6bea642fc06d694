"""Differences between the arrays of two files, without a verdict; `rocm3d golden` applies tolerances."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.artifact.arrays import arrays
from rocm3d.artifact.check import check_all
from rocm3d.model.bundle import DiffRow
from rocm3d.model.failure import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.artifact.arrays import Array

_MOST = 1 << 26


def array_rows(name: str, a: Path, b: Path) -> Iterator[DiffRow]:
    """One row per array of either file, or a single row with the reason why they were not compared."""
    for looked in check_all([a, b]):
        if "elements" not in looked.metrics or looked.metrics["elements"] > _MOST:
            why = looked.reason or "too many elements"
            yield DiffRow(section="numerics", name=name, a="", b="", change=f"not compared: {why}")
            return
    try:
        mine, yours = dict(arrays(a)), dict(arrays(b))
    except UserError as error:
        yield DiffRow(section="numerics", name=name, a="", b="", change=f"not compared: {error.message}")
        return
    for key in sorted({*mine, *yours}):
        left, right = mine.get(key), yours.get(key)
        told = "" if left is None or right is None else _apart(left, right)
        yield DiffRow(
            section="numerics", name=f"{name}:{key}".rstrip(":"), a=_shape(left), b=_shape(right), change=told
        )


def _shape(array: Array | None) -> str:
    return "" if array is None else f"{array.dtype} {list(array.shape)}"


def _apart(a: Array, b: Array) -> str:
    """Empty if they are equal."""
    import numpy

    if a.shape != b.shape or a.dtype.kind not in "fciub" or b.dtype.kind not in "fciub":
        return "not comparable"
    if numpy.array_equal(a, b, equal_nan=a.dtype.kind in "fc" and b.dtype.kind in "fc"):
        return ""
    wide = numpy.complex128 if "c" in (a.dtype.kind, b.dtype.kind) else numpy.float64
    with numpy.errstate(invalid="ignore", over="ignore"):
        far = numpy.abs(b.astype(wide) - a.astype(wide))
        size = float(numpy.nanmax(numpy.abs(a.astype(wide)), initial=0.0))
    odd = int((numpy.isfinite(a) != numpy.isfinite(b)).sum())
    known = far[numpy.isfinite(far)]
    broken = f"; {odd} finite in only one of them" if odd else ""
    greatest = float(known.max()) if known.size else 0.0
    return f"largest difference {greatest:.3g} (largest value {size:.3g}){broken}"
