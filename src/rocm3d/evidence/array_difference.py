"""Arrays of two files beside each other: how far they are apart, without a judgement. `rocm3d golden` judges."""

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
    """One row for each array of either file, or one that says why there is none."""
    for looked in check_all([a, b]):
        if "elements" not in looked.metrics or looked.metrics["elements"] > _MOST:
            why = looked.reason or "more numbers than are compared"
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
    """Empty where they are equal."""
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
    broken = f"; {odd} finite on one side only" if odd else ""
    greatest = float(known.max()) if known.size else 0.0
    return f"greatest difference {greatest:.3g}, where the greatest number is {size:.3g}{broken}"
