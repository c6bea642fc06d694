"""Two arrays compared element by element within a named tolerance. NaN where the other is finite has failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rocm3d.model.golden import ComparedTensor
from rocm3d.model.look import Worst

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocm3d.model.tolerance import Tolerance

    Array = NDArray[Any]


def kind(array: Array, dtype: str = "") -> str | None:
    """The type of its numbers as tolerances call it; None where it holds no numbers. `dtype` is what it was before."""
    name = dtype or array.dtype.name
    if name.startswith("float8"):
        return "float8"
    if name in ("float64", "float32", "float16", "bfloat16"):
        return name
    if name in ("complex128", "complex64"):
        return "float64" if name == "complex128" else "float32"
    return "int" if array.dtype.kind in "iub" else None


def compare(name: str, reference: Array, candidate: Array, dtype: str, tolerance: Tolerance) -> ComparedTensor:
    """|candidate - reference| <= atol + rtol * |reference|, for every element."""
    import numpy

    if reference.shape != candidate.shape:
        reason = f"has the shape {list(candidate.shape)}, not {list(reference.shape)}"
        return ComparedTensor(name=name, agrees=False, reason=reason, dtype=dtype, tolerance=tolerance.id)
    if not reference.size:
        return ComparedTensor(
            name=name, agrees=True, dtype=dtype, tolerance=tolerance.id, shape=reference.shape, reason="is empty"
        )
    wide = numpy.complex128 if numpy.iscomplexobj(reference) else numpy.float64
    exact = reference.dtype.kind in "iub" and candidate.dtype.kind in "iub"
    a, b = (reference, candidate) if exact else (reference.astype(wide), candidate.astype(wide))
    with numpy.errstate(invalid="ignore", over="ignore"):
        error = _whole_distance(a, b) if exact else _distance(a, b)
        allowed = tolerance.atol + tolerance.rtol * numpy.where(numpy.isfinite(a), numpy.abs(a), 0)
        # By share of what is allowed, not by size: nothing is allowed where nothing must differ.
        share = numpy.where(error == 0, 0.0, error / numpy.where(allowed == 0, numpy.finfo(float).tiny, allowed))
    outside = int((error > allowed).sum())
    at = numpy.unravel_index(int(share.argmax()), share.shape)
    worst = Worst(index=tuple(int(part) for part in at), got=str(candidate[at]), wanted=str(reference[at]))
    finite = error[numpy.isfinite(error)]
    return ComparedTensor(
        name=name,
        agrees=outside == 0,
        reason=_reason(a, b, outside, worst) if outside else "",
        dtype=dtype,
        tolerance=tolerance.id,
        shape=reference.shape,
        elements=reference.size,
        outside=outside,
        max_error=float(finite.max()) if finite.size else None,
        worst=worst,
    )


def _distance(a: Array, b: Array) -> Array:
    """Nothing where both are the same infinity or both NaN; without end where only one is not finite."""
    import numpy

    same = (a == b) | (numpy.isnan(a) & numpy.isnan(b))
    odd = ~(numpy.isfinite(a) & numpy.isfinite(b))
    far: Array = numpy.where(same, 0.0, numpy.where(odd, numpy.inf, numpy.abs(b - a)))
    return far


def _whole_distance(a: Array, b: Array) -> Array:
    """At least 1 where they differ: large whole numbers are no longer told apart as floats."""
    import numpy

    far: Array = numpy.where(a != b, numpy.maximum(1.0, numpy.abs(b.astype(float) - a.astype(float))), 0.0)
    return far


def _reason(reference: Array, candidate: Array, outside: int, worst: Worst) -> str:
    import numpy

    poisoned = int((numpy.isnan(candidate) & ~numpy.isnan(reference)).sum())
    if poisoned:
        return f"{poisoned} of {reference.size} elements are NaN where the reference is not"
    if not candidate.any():
        return "is all zero, and the reference is not"
    place = f" at {list(worst.index)}" if worst.index else ""
    return f"{outside} of {reference.size} elements differ, the worst{place}: {worst.got}, not {worst.wanted}"
