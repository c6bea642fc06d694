"""Compares two arrays element by element within a tolerance. NaN in only one of them is a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rocm3d.model.backend_check import ComparedTensor, WorstElement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocm3d.model.tolerance import Tolerance

    Array = NDArray[Any]


def tolerance_dtype(array: Array, dtype: str = "") -> str | None:
    """The dtype name that tolerances use; None if not numeric. `dtype` is the original type, if it was converted."""
    name = dtype or array.dtype.name
    if name.startswith("float8"):
        return "float8"
    if name in ("float64", "float32", "float16", "bfloat16"):
        return name
    if name in ("complex128", "complex64"):
        return "float64" if name == "complex128" else "float32"
    return "int" if array.dtype.kind in "iub" else None


def compare(name: str, reference: Array, candidate: Array, dtype: str, tolerance: Tolerance) -> ComparedTensor:
    """Passes if |candidate - reference| <= atol + rtol * |reference| for every element."""
    import numpy

    if reference.shape != candidate.shape:
        reason = f"shape is {list(candidate.shape)}, expected {list(reference.shape)}"
        return ComparedTensor(name=name, agrees=False, reason=reason, dtype=dtype, tolerance=tolerance.id)
    if not reference.size:
        return ComparedTensor(
            name=name, agrees=True, dtype=dtype, tolerance=tolerance.id, shape=reference.shape, reason="is empty"
        )
    wide = numpy.complex128 if numpy.iscomplexobj(reference) else numpy.float64
    exact = reference.dtype.kind in "iub" and candidate.dtype.kind in "iub"
    a, b = (reference, candidate) if exact else (reference.astype(wide), candidate.astype(wide))
    with numpy.errstate(invalid="ignore", over="ignore"):
        error = _integer_distance(a, b) if exact else _float_distance(a, b)
        allowed = tolerance.atol + tolerance.rtol * numpy.where(numpy.isfinite(a), numpy.abs(a), 0)
        # The worst element is the one with the largest share of its allowance. Avoids 0 / 0 at zero tolerance.
        share = numpy.where(error == 0, 0.0, error / numpy.where(allowed == 0, numpy.finfo(float).tiny, allowed))
    outside = int((error > allowed).sum())
    position = numpy.unravel_index(int(share.argmax()), share.shape)
    worst = WorstElement(
        index=tuple(int(part) for part in position), got=str(candidate[position]), wanted=str(reference[position])
    )
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


def _float_distance(a: Array, b: Array) -> Array:
    """0 where both are the same infinity or both NaN; infinity where only one is finite."""
    import numpy

    same = (a == b) | (numpy.isnan(a) & numpy.isnan(b))
    nonfinite = ~(numpy.isfinite(a) & numpy.isfinite(b))
    distance: Array = numpy.where(same, 0.0, numpy.where(nonfinite, numpy.inf, numpy.abs(b - a)))
    return distance


def _integer_distance(a: Array, b: Array) -> Array:
    """At least 1 where they differ: large integers can round to the same float."""
    import numpy

    distance: Array = numpy.where(a != b, numpy.maximum(1.0, numpy.abs(b.astype(float) - a.astype(float))), 0.0)
    return distance


def _reason(reference: Array, candidate: Array, outside: int, worst: WorstElement) -> str:
    import numpy

    new_nans = int((numpy.isnan(candidate) & ~numpy.isnan(reference)).sum())
    if new_nans:
        return f"{new_nans} of {reference.size} elements are NaN where the reference is not"
    if not candidate.any():
        return "all elements are zero, and the reference is not"
    at_index = f" at {list(worst.index)}" if worst.index else ""
    return f"{outside} of {reference.size} elements differ; worst{at_index}: {worst.got}, expected {worst.wanted}"
