"""Reads all arrays of a .npy, .npz, .ply or .json file by name, and compares arrays. Needs the extra `numerics`."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rocm3d.model.backend_check import ComparedTensor, WorstElement
from rocm3d.model.errors import MachineError, UserError

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.artifact.artifact_report import Array
    from rocm3d.model.tolerance import Tolerance


def require_numpy() -> None:
    """Raise if the extra `numerics` is not installed."""
    try:
        import numpy  # noqa: F401
        import plyfile  # noqa: F401
    except ImportError as error:
        message = f"{error.name} is not installed; rocm3d needs it to read arrays"
        raise MachineError(message, hint="pip install 'rocm3d[numerics]'") from error


def read_arrays(path: Path) -> Iterator[tuple[str, Array]]:
    """Name and content of each array. The name is empty if the file is a single array. Pickles are refused."""
    try:
        yield from _READERS[path.suffix.lower()](path)
    except (OSError, ValueError, EOFError, KeyError, RecursionError, zipfile.BadZipFile) as error:
        raise UserError(f"{path} cannot be read: {error}") from error


def _read_npy(path: Path) -> Iterator[tuple[str, Array]]:
    from numpy.lib import format as npy

    with path.open("rb") as file:
        yield "", npy.read_array(file, allow_pickle=False)


def _read_npz(path: Path) -> Iterator[tuple[str, Array]]:
    import numpy

    # Checked first: numpy leaves the file open if it is not an archive.
    if not zipfile.is_zipfile(path):
        raise ValueError("not a zip archive")
    with numpy.load(path, allow_pickle=False) as archive:
        for name in sorted(archive.files):
            yield name, archive[name]


def _read_ply(path: Path) -> Iterator[tuple[str, Array]]:
    """One array per property. A list property (faces) becomes two: its values concatenated, and their lengths."""
    import numpy
    import plyfile

    try:
        ply_data = plyfile.PlyData.read(str(path), mmap=False)
    except plyfile.PlyParseError as error:
        raise ValueError(str(error)) from error
    for element in ply_data.elements:
        for name in element.data.dtype.names or ():
            column = element.data[name]
            if column.dtype != object:
                yield f"{element.name}.{name}", column
                continue
            yield f"{element.name}.{name}.lengths", numpy.array([len(item) for item in column], dtype=numpy.int64)
            flattened: Array = numpy.concatenate([numpy.atleast_1d(item) for item in column]) if len(column) else column
            yield f"{element.name}.{name}", flattened


def _read_json(path: Path) -> Iterator[tuple[str, Array]]:
    yield from _numeric_arrays(json.loads(path.read_text(encoding="utf-8")), "")


def _numeric_arrays(value: object, name: str) -> Iterator[tuple[str, Array]]:
    """Floats become float32, which is what programs print; integers stay integers; strings are skipped."""
    import numpy

    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _numeric_arrays(inner, f"{name}.{key}".lstrip("."))
        return
    if isinstance(value, list):
        kinds = {type(item) for item in value}
        if not kinds or not kinds <= {int, float}:
            for number, inner in enumerate(value):
                yield from _numeric_arrays(inner, f"{name}.{number}".lstrip("."))
            return
    elif isinstance(value, bool) or not isinstance(value, (int, float)):
        return
    array: Array = numpy.asarray(value)
    # Integers that fit no numpy type arrive as objects.
    yield name, array if array.dtype.kind in "iu" else array.astype(numpy.float32)


_READERS = {".npy": _read_npy, ".npz": _read_npz, ".ply": _read_ply, ".json": _read_json}


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
