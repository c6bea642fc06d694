"""Reads all arrays of a .npy, .npz, .ply or .json file, by name. Needs the extra `numerics`."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rocm3d.model.errors import MachineError, UserError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Array = NDArray[Any]


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
